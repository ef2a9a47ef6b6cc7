import { Anchor, Button, Group, List, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatNoun } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import type { Labels } from '../../lib/statuses.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonModal } from '../../parts/ledger/reason-form.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { OffsetPager } from '../../parts/system/offset-pager.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

type ReportedLink = Schemas['ReportedLinkList']['links'][number]
const REASONS: Labels<ReportedLink['examples'][number]['reason']> = {
  scam: 'Scam',
  malware: 'Malware',
  illegal: 'Illegal',
  broken: 'Broken',
  other: 'Other',
}

const LIMIT = 50

export default function ReportedLinks() {
  const [filters, change] = useFilters()
  const offset = Number(filters['offset'] ?? 0) || 0
  const links = useGet('/reported-links', { query: { limit: LIMIT, offset } })
  const canWrite = mayWrite(useMe())
  const [asked, ask] = useState<ReportedLink | null>(null)
  const takeDown = useChange(
    (reason: string) =>
      post(`/lockers/${String(asked?.locker_id)}/take-down`, { reason, seen_report_id: asked?.last_report_id ?? null }),
    { refresh: ['/reported-links'], done: 'Link taken down.', onError: () => {} }, // the dialog shows it
  )
  const restore = useChange(
    ({ locker_id, last_report_id }: ReportedLink) =>
      post(`/lockers/${String(locker_id)}/restore`, { seen_report_id: last_report_id }),
    { refresh: ['/reported-links'], done: 'The link works, and the reports shown here are closed.' },
  )
  return (
    <Page title="Reported links" about="Link lockers that visitors reported, and those that were taken down.">
      <ReasonModal
        opened={asked !== null}
        title={`Take down “${asked?.name ?? ''}”?`}
        about="Visitors lose access immediately. The publisher sees your reason."
        action="Take down"
        onClose={() => ask(null)}
        send={(reason) => takeDown.mutateAsync(reason)}
      />
      <Loaded query={links}>
        {(list) => (
          <DataTable
            rows={list.links}
            columns={[...COLUMNS, canWrite && actionColumn(ask, (link) => restore.mutate(link), restore.isPending)]}
            rowKey={({ locker_id }) => locker_id}
            label="Reported links"
            minWidth={860}
            pager={
              <OffsetPager
                {...{ offset, total: list.total }}
                limit={LIMIT}
                onChange={(next) => change({ offset: next === 0 ? null : String(next) })}
              />
            }
            empty={<Empty title="No reports">Visitors can report a link on its page.</Empty>}
          />
        )}
      </Loaded>
    </Page>
  )
}

const COLUMNS: Column<ReportedLink>[] = [
  {
    name: 'Link',
    isText: true,
    cell: ({ app_id, locker_id, name, slug }) => (
      <>
        <Anchor component={Link} size="sm" href={`/apps/${app_id}/lockers/${locker_id}`}>
          {name}
        </Anchor>
        <Text size="xs" c="dimmed">
          /l/{slug}
        </Text>
      </>
    ),
  },
  { name: 'Destination', isText: true, cell: (link) => <Destination link={link} /> },
  {
    name: 'Publisher',
    isText: true,
    cell: ({ publisher, publisher_id }) => (
      <Anchor component={Link} size="sm" href={`/network/publishers/${publisher_id}`}>
        {publisher}
      </Anchor>
    ),
  },
  { name: 'Reports', isText: true, cell: (link) => <Reports link={link} /> },
  {
    name: 'Status',
    cell: ({ taken_down_reason }) => <Status value={taken_down_reason === null ? 'active' : 'taken_down'} />,
  },
]

/** Where it leads now, and where else it led when it was reported. */
function Destination({ link: { target_url, reported_targets } }: { link: ReportedLink }) {
  return (
    <>
      {target_url}
      {reported_targets
        .filter((target) => target !== target_url)
        .map((target) => (
          <Text key={target} size="xs" c="red">
            Reported: {target}
          </Text>
        ))}
    </>
  )
}

function Reports({
  link: { target_url: leads, reports, last_reported_at, examples, taken_down_reason },
}: {
  link: ReportedLink
}) {
  if (last_reported_at === null) return <Text size="sm">{taken_down_reason}</Text>
  return (
    <>
      <Text size="sm">
        {formatNoun(reports, 'report')}, last <Time at={last_reported_at} ago />
      </Text>
      <List size="xs">
        {examples.map(({ reason, details, target_url }, i) => (
          <List.Item key={i}>
            {details === '' ? REASONS[reason] : `${REASONS[reason]}: ${details}`}
            {target_url !== null && target_url !== leads && ` (when it led to ${target_url})`}
          </List.Item>
        ))}
      </List>
    </>
  )
}

const actionColumn = (
  askToTakeDown: (link: ReportedLink) => void,
  restore: (link: ReportedLink) => void,
  isBusy: boolean,
): Column<ReportedLink> => ({
  name: 'Actions',
  cell: (link) =>
    link.taken_down_reason === null ? (
      <Group gap="xs">
        <Button
          size="xs"
          color="red"
          variant="light"
          onClick={() => askToTakeDown(link)}
          aria-label={`Take down ${link.name}`}
        >
          Take down
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={isBusy}
          onClick={() => restore(link)}
          aria-label={`Dismiss reports of ${link.name}`}
        >
          Dismiss
        </Button>
      </Group>
    ) : (
      <Button
        size="xs"
        variant="default"
        disabled={isBusy}
        onClick={() => restore(link)}
        aria-label={`Restore ${link.name}`}
      >
        Restore
      </Button>
    ),
})
