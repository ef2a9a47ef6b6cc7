import { Button, Group, Modal, NumberInput, Paper, Stack, Table, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import type { BanList } from '../../../../../src/manage/bans/schema.ts'
import { post, query, type Reply, remove } from '../../lib/api.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormFault } from '../../parts/form-fault.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { Time } from '../../parts/time.tsx'

type List = Reply<typeof BanList>

export default function Bans() {
  const [filters, setFilters] = useFilters()
  const pages = usePages()
  const [isOpen, { open, close }] = useDisclosure()
  const bans = useGet<List>(`/bans${query({ user_id: filters['user'], cursor: pages.cursor })}`)
  const canWrite = mayWrite(useMe())
  return (
    <Page
      title="Banned users"
      about="They are shown no offers, their links lead nowhere, and what is reported of them is rejected."
      actions={canWrite && <Button onClick={open}>Ban a user</Button>}
    >
      <Modal opened={isOpen} onClose={close} title="Ban a user">
        <BanForm onDone={close} />
      </Modal>
      <TextInput
        label="User id"
        maw={320}
        defaultValue={filters['user'] ?? ''}
        onChange={(event) => {
          pages.reset()
          setFilters({ user: event.currentTarget.value })
        }}
      />
      <Loaded query={bans}>
        {(list) =>
          list.bans.length === 0 ? (
            <Empty title="Nobody is banned">
              {filters['user'] === undefined ? 'Ban whoever cheats, in one app or in all.' : 'No ban is of this user.'}
            </Empty>
          ) : (
            <Stack>
              <BanTable bans={list.bans} canWrite={canWrite} />
              <Pager pages={pages} nextCursor={list.next_cursor} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  )
}

function BanTable({ bans, canWrite }: { bans: List['bans']; canWrite: boolean }) {
  const lift = useChange((id: number) => remove(`/bans/${id}`), { refresh: ['/bans'], done: 'The ban is lifted.' })
  const ask = (ban: List['bans'][number]) =>
    modals.openConfirmModal({
      title: 'Lift this ban?',
      children: <Text size="sm">{ban.user_id} will see offers again, and be paid for them.</Text>,
      labels: { confirm: 'Lift it', cancel: 'Leave it' },
      onConfirm: () => lift.mutate(ban.ban_id),
    })
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>User</Table.Th>
              <Table.Th>App</Table.Th>
              <Table.Th>Why</Table.Th>
              <Table.Th>Since</Table.Th>
              {canWrite && <Table.Th aria-label="Lift" />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {bans.map((ban) => (
              <Table.Tr key={ban.ban_id}>
                <Table.Td>{ban.user_id}</Table.Td>
                <Table.Td>{ban.app === null ? 'every app' : `${ban.app} (${ban.app_id})`}</Table.Td>
                <Table.Td>{ban.reason}</Table.Td>
                <Table.Td>
                  <Time at={ban.created_at} ago />
                </Table.Td>
                {canWrite && (
                  <Table.Td>
                    <Button
                      size="xs"
                      variant="default"
                      onClick={() => ask(ban)}
                      aria-label={`Lift the ban of ${ban.user_id}`}
                    >
                      Lift
                    </Button>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

function BanForm({ onDone }: { onDone: () => void }) {
  const [isKnown, setKnown] = useState(false)
  const form = useForm<{ user_id: string; app_id: number | ''; reason: string }>({
    initialValues: { user_id: '', app_id: '', reason: '' },
  })
  const ban = useChange((body: object) => post<{ is_new: boolean }>('/bans', body), {
    refresh: ['/bans'],
    onFault: () => {},
  })
  const { onSubmit, isSending, fault } = useSubmit(form, async ({ user_id, app_id, reason }) => {
    const { is_new } = await ban.mutateAsync({ user_id, reason, ...(app_id === '' ? {} : { app_id }) })
    if (is_new) onDone()
    else setKnown(true)
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={isKnown ? 'This user is banned already.' : fault} />
        <TextInput label="User id" required maxLength={255} data-autofocus {...form.getInputProps('user_id')} />
        <NumberInput
          label="App"
          description="The number of one app. Empty: in every app."
          min={1}
          allowDecimal={false}
          hideControls
          {...form.getInputProps('app_id')}
        />
        <Textarea label="Why" required maxLength={500} autosize minRows={2} {...form.getInputProps('reason')} />
        <Group justify="flex-end">
          <Button type="submit" color="red" loading={isSending}>
            Ban
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
