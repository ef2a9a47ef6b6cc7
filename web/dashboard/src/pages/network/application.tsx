// One application: who it is, what was answered, and the decision.
import { Anchor, Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { Facts } from '../../parts/facts.tsx'
import { ReasonModal } from '../../parts/ledger/reason-form.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

type Application = NonNullable<Schemas['ApplicationReply']['application']>

export default function ApplicationPage() {
  const { publisher_id } = useParams<{ publisher_id: string }>()
  const found = useGet(`/publishers/${encodeURIComponent(publisher_id)}/application`)
  const mayChange = mayWrite(useMe())
  const application = found.data?.application ?? null
  return (
    <Page
      title={application?.publisher ?? 'Application'}
      about={`Application of publisher ${publisher_id}`}
      actions={
        <>
          {application !== null && mayChange && <Decision application={application} />}
          <Button component={Link} href={`/network/publishers/${publisher_id}`} variant="default">
            Publisher
          </Button>
        </>
      }
    >
      <Loaded query={found}>
        {(data) =>
          data.application === null ? (
            <Empty title="No application">This publisher did not sign up: an operator created it.</Empty>
          ) : (
            <Shown application={data.application} />
          )
        }
      </Loaded>
    </Page>
  )
}

function Decision({ application: { publisher_id, publisher, status } }: { application: Application }) {
  const [isOpen, { open, close }] = useDisclosure()
  const path = `/publishers/${publisher_id}` as const
  const refresh = [path, '/applications', '/publishers?', '/me']
  const approve = useChange(() => post(`${path}/application/approve`, { seen_status: status }), {
    refresh,
    done: 'Approved. The live keys work, and the applicant gets an email.',
  })
  const refuse = useChange((reason: string) => post(`${path}/application/refuse`, { reason }), {
    refresh,
    done: 'Refused. The applicant gets an email.',
    onError: () => {}, // the dialog shows it
  })
  if (status === 'approved') return null
  return (
    <>
      <Button loading={approve.isPending} onClick={() => approve.mutate(undefined)}>
        Approve
      </Button>
      {status === 'waiting' && (
        <Button color="red" variant="light" onClick={open}>
          Refuse
        </Button>
      )}
      <ReasonModal
        opened={isOpen}
        title={`Refuse ${publisher}?`}
        about="Its test keys stop working. The applicant sees your reason in an email and in the dashboard."
        action="Refuse"
        onClose={close}
        send={(reason) => refuse.mutateAsync(reason)}
      />
    </>
  )
}

function Shown({ application }: { application: Application }) {
  const { name, email, company, website, status, reason, decided_at, decided_by, terms, answers, ip } = application
  return (
    <Stack>
      <Section title="Summary">
        <Facts
          label="Summary"
          facts={[
            ['Status', <Status key="status" value={status} />],
            ...(decided_at === null
              ? []
              : ([
                  ['Decided', <Time key="decided" at={decided_at} />],
                  ['Decided by', decided_by],
                ] as const)),
            ...(reason === null ? [] : ([['Reason', reason]] as const)),
            ['Name', name],
            ['Email address', email],
            ['Company', company],
            [
              'Website',
              <Anchor key="site" href={website} target="_blank" rel="noopener noreferrer nofollow" size="sm">
                {website}
              </Anchor>,
            ],
            ['Signed up', <Time key="time" at={application.created_at} />],
            ['Verified', <Time key="verified" at={application.verified_at} />],
            ['IP address', ip ?? 'unknown'],
            ...terms.map(
              ({ version, accepted_at }) =>
                [
                  `Terms ${version}`,
                  <>
                    accepted <Time at={accepted_at} />
                  </>,
                ] as const,
            ),
          ]}
        />
      </Section>
      <Section title="Answers">
        {answers.length === 0 && <Text size="sm">No questions were asked.</Text>}
        {answers.map(({ label, answer, kind }, i) => (
          <div key={i}>
            <Text size="sm" fw={600}>
              {label}
            </Text>
            <Text size="sm" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
              {kind === 'url' ? (
                <Anchor href={answer} target="_blank" rel="noopener noreferrer nofollow" inherit>
                  {answer}
                </Anchor>
              ) : (
                answer
              )}
            </Text>
          </div>
        ))}
      </Section>
    </Stack>
  )
}
