// People, their roles and open invitations.
import {
  ActionIcon,
  Alert,
  Button,
  Group,
  Modal,
  Paper,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { IssuedInvitation, Team } from '../../../../src/manage/team/schema.ts'
import { patch, post, type Reply, remove } from '../lib/api.ts'
import { isOperator, useMe } from '../lib/me.ts'
import { useChange, useGet } from '../lib/queries.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { Copyable } from './copy.tsx'
import { FormFault } from './form-fault.tsx'
import { Empty, Loaded, Page } from './page.tsx'
import { Time } from './time.tsx'

export type RoleChoice = { value: string; label: string }
type PeopleProps = { base: string; about: string; roles: RoleChoice[]; mayChange: boolean }
type TeamData = Reply<typeof Team>

const MAILS_MS = 5_000 // what became of the mail of an invitation shows while one looks

export function People({ base, about, roles, mayChange }: PeopleProps) {
  const team = useGet<TeamData>(`${base}/people`, { everyMs: MAILS_MS })
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <Page title="People" about={about} actions={mayChange && <Button onClick={open}>Invite somebody</Button>}>
      <Modal opened={isOpen} onClose={close} title="Invite somebody">
        <Invite base={base} roles={roles} />
      </Modal>
      <Loaded query={team}>
        {({ people, invitations }) => (
          <Stack gap="lg">
            {people.length === 0 ? (
              <Empty title="Nobody is here yet">Invite somebody: whoever opens the link makes an account.</Empty>
            ) : (
              <PeopleTable base={base} people={people} roles={roles} mayChange={mayChange} />
            )}
            {invitations.length > 0 && <Invitations base={base} {...{ invitations, roles, mayChange }} />}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

const labelOf = (roles: RoleChoice[], role: string) => roles.find(({ value }) => value === role)?.label ?? role

type TableProps = { base: string; people: TeamData['people']; roles: RoleChoice[]; mayChange: boolean }

function PeopleTable({ base, people, roles, mayChange }: TableProps) {
  const me = useMe()
  const change = useChange(
    ({ id, ...body }: { id: string; role?: string; disabled?: boolean }) => patch(`${base}/people/${id}`, body),
    { refresh: [base], done: 'Saved.' },
  )
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>E-mail address</Table.Th>
              <Table.Th>May</Table.Th>
              <Table.Th>Second factor</Table.Th>
              <Table.Th>Since</Table.Th>
              {mayChange && <Table.Th>Access</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {people.map((person) => (
              <Table.Tr key={person.id}>
                <Table.Td>{person.name}</Table.Td>
                <Table.Td>{person.email}</Table.Td>
                <Table.Td>
                  {mayChange && person.id !== me.id ? (
                    <Select
                      aria-label={`What ${person.name} may do`}
                      size="xs"
                      w={170}
                      allowDeselect={false}
                      data={roles}
                      value={person.role}
                      onChange={(role) => role !== null && change.mutate({ id: person.id, role })}
                    />
                  ) : (
                    labelOf(roles, person.role)
                  )}
                </Table.Td>
                <Table.Td>{person.two_factor_enabled ? 'on' : 'off'}</Table.Td>
                <Table.Td>
                  <Time at={person.created_at} ago />
                </Table.Td>
                {mayChange && (
                  <Table.Td>
                    {person.id === me.id ? (
                      <Text size="sm">you</Text>
                    ) : person.disabled_by_operator && !isOperator(me) ? (
                      <Text size="sm">disabled by the operator</Text>
                    ) : (
                      <Button
                        size="xs"
                        variant="default"
                        onClick={() => change.mutate({ id: person.id, disabled: person.disabled_at === null })}
                      >
                        {person.disabled_at === null ? 'Keep out' : 'Let in again'}
                      </Button>
                    )}
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

type InvitationsProps = {
  base: string
  invitations: TeamData['invitations']
  roles: RoleChoice[]
  mayChange: boolean
}

/** What somebody who invited should know of the mail. */
const MAIL_PROBLEMS: Partial<Record<TeamData['invitations'][number]['mail'], string>> = {
  queued: 'Sending the invitation…',
  retrying: 'The e-mail could not be sent yet. We keep trying.',
  refused: 'The mail server refuses this address. Check it and invite again.',
}

function Invitations({ base, invitations, roles, mayChange }: InvitationsProps) {
  const revoke = useChange((id: number) => remove(`${base}/invitations/${id}`), {
    refresh: [base],
    done: 'The invitation no longer works.',
  })
  const resend = useChange(
    ({ email, role }: { email: string | null; role: string }) => post(`${base}/invitations`, { email, role }),
    { refresh: [base], done: 'Invitation sent again. The link sent before no longer works.' },
  )
  const ask = (id: number, email: string | null) =>
    modals.openConfirmModal({
      title: 'Take this invitation back?',
      children: <Text size="sm">The link sent to {email ?? 'somebody'} will stop working.</Text>,
      labels: { confirm: 'Take it back', cancel: 'Leave it' },
      confirmProps: { color: 'red' },
      onConfirm: () => revoke.mutate(id),
    })
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Open invitations
      </Title>
      {invitations.map((invitation) => (
        <Paper key={invitation.invitation_id} py="xs">
          <Group justify="space-between">
            <div>
              <Text size="sm">
                {invitation.email ?? 'Whoever has the link'} · {labelOf(roles, invitation.role)} · until{' '}
                <Time at={invitation.expires_at} />
              </Text>
              {MAIL_PROBLEMS[invitation.mail] !== undefined && (
                <Text size="sm" c={invitation.mail === 'queued' ? 'dimmed' : 'red'} role="status">
                  {MAIL_PROBLEMS[invitation.mail]}
                </Text>
              )}
            </div>
            {mayChange && (
              <Group gap="xs">
                {invitation.mail !== 'none' && (
                  <Button
                    size="xs"
                    variant="default"
                    aria-label={`Resend the invitation of ${invitation.email}`}
                    loading={resend.isPending}
                    onClick={() => resend.mutate(invitation)}
                  >
                    Resend
                  </Button>
                )}
                <ActionIcon
                  variant="subtle"
                  color="red"
                  aria-label={`Take back the invitation of ${invitation.email ?? 'whoever has the link'}`}
                  onClick={() => ask(invitation.invitation_id, invitation.email)}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Group>
            )}
          </Group>
        </Paper>
      ))}
    </Stack>
  )
}

function aboutInvitation({ url, mailed }: Reply<typeof IssuedInvitation>): string {
  if (mailed)
    return 'The link is mailed to this address, and works once, within a week. The list below shows if that fails.'
  return url === null
    ? 'This network sends no mail. Ask its operator for the link.'
    : 'This network sends no mail, so send the link yourself. It works once, within a week.'
}

function Invite({ base, roles }: { base: string; roles: RoleChoice[] }) {
  const [issued, setIssued] = useState<Reply<typeof IssuedInvitation> | null>(null)
  const form = useForm({ initialValues: { email: '', role: roles[0]?.value ?? '' } })
  const invite = useChange(
    (values: { email: string; role: string }) => post<Reply<typeof IssuedInvitation>>(`${base}/invitations`, values),
    { refresh: [base], onFault: () => {} },
  )
  const { onSubmit, isSending, fault } = useSubmit(form, async (values) => setIssued(await invite.mutateAsync(values)))
  if (issued !== null)
    return (
      <Alert color="green" title={issued.url === null ? 'Invitation created' : 'Send this link'} role="status">
        <Stack gap="xs">
          <Text size="sm">{aboutInvitation(issued)}</Text>
          {issued.url !== null && <Copyable value={issued.url} label="Copy the link" />}
        </Stack>
      </Alert>
    )
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={fault} />
        <TextInput label="E-mail address" type="email" required data-autofocus {...form.getInputProps('email')} />
        <Select label="They may" data={roles} allowDeselect={false} {...form.getInputProps('role')} />
        <Button type="submit" loading={isSending}>
          Make the invitation
        </Button>
      </Stack>
    </form>
  )
}
