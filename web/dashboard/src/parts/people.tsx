// People, their roles and open invitations.
import { ActionIcon, Alert, Button, Group, Modal, Paper, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconTrash } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import type { Schemas } from '../lib/api-types.ts'
import { patch, post, remove } from '../lib/api.ts'
import { isOperator, useMe } from '../lib/me.ts'
import { useChange, useGet } from '../lib/queries.ts'
import { useFilters } from '../lib/use-filters.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { confirm } from './confirm.tsx'
import { Copyable } from './copy.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { Empty, Loaded, Page } from './page.tsx'
import { Pager, usePages } from './pager.tsx'
import { SearchInput } from './search-input.tsx'
import { SubmitForm } from './submit-form.tsx'
import { Time } from './time.tsx'

type Base = `/publishers/${string}` | `/advertisers/${string}` | '/operators'
export type RoleChoice = { value: string; label: string; about: string }
type PeopleProps = {
  base: Base
  about: string
  roles: RoleChoice[]
  /** The role that invites others: the first person gets it. */
  ownerRole: string
  mayChange: boolean
  /** Why no one can be invited at the moment. */
  whyNotInvite?: string | undefined
}
type TeamData = Schemas['Team']
/** A role that the page offers: those of operators and of publishers differ, and the page has those of its `base`. */
type Offered = never

const MAILS_MS = 5_000 // what became of the mail of an invitation shows while one looks

export function People({ base, about, roles, ownerRole, mayChange, whyNotInvite }: PeopleProps) {
  const [filters, change] = useFilters()
  const search = filters['search'] ?? ''
  const pages = usePages()
  useEffect(() => pages.reset(), [search])
  const team = useGet(`${base}/people`, { query: { search, cursor: pages.cursor }, everyMs: MAILS_MS })
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <Page
      title="People"
      about={about}
      actions={mayChange && whyNotInvite === undefined && <Button onClick={open}>Invite member</Button>}
    >
      {mayChange && whyNotInvite !== undefined && (
        <Alert color="gray" role="status">
          {whyNotInvite}
        </Alert>
      )}
      <Modal opened={isOpen} onClose={close} title="Invite member">
        <Loaded query={team}>
          {(data) => <Invite base={base} roles={roles} firstRole={data.has_leader ? undefined : ownerRole} />}
        </Loaded>
      </Modal>
      <SearchInput
        maw={380}
        placeholder="Name or email address"
        value={search}
        onChange={(value) => change({ search: value })}
      />
      <Loaded query={team}>
        {({ people, next_cursor, invitations }) => (
          <Stack gap="lg">
            {people.length > 0 ? (
              <PeopleTable
                base={base}
                people={people}
                roles={roles}
                mayChange={mayChange}
                pager={<Pager pages={pages} nextCursor={next_cursor} />}
              />
            ) : search === '' ? (
              <Empty title="No members yet">
                Invite the first one: the link in the invitation creates their account.
              </Empty>
            ) : (
              <Empty title={`No member matches “${search}”`}>Search for part of a name or email address.</Empty>
            )}
            {invitations.length > 0 && <Invitations base={base} {...{ invitations, roles, mayChange }} />}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

const labelOf = (roles: RoleChoice[], role: string) => roles.find(({ value }) => value === role)?.label ?? role

type TableProps = {
  base: Base
  people: TeamData['people']
  roles: RoleChoice[]
  mayChange: boolean
  pager: ReactNode
}
type Person = TeamData['people'][number]

function PeopleTable({ base, people, roles, mayChange, pager }: TableProps) {
  const me = useMe()
  const change = useChange(
    ({ id, ...body }: { id: string; role?: Offered; disabled?: boolean }) => patch(`${base}/people/${id}`, body),
    { refresh: [base], done: 'Saved.' },
  )
  const askToDisable = async ({ id, name }: Person) => {
    const text = `${name} is signed out everywhere immediately, and their API tokens are permanently revoked. You can enable the account again later.`
    if (await confirm({ title: `Disable ${name}?`, text, action: 'Disable' })) change.mutate({ id, disabled: true })
  }
  const askToChangeRole = async ({ id, name }: Person, { value, label, about }: RoleChoice) => {
    const question = {
      title: `Change ${name}’s role to ${label}?`,
      text: `${about} This takes effect immediately.`,
      action: 'Change role',
    }
    if (await confirm(question)) change.mutate({ id, role: value as Offered })
  }
  const columns: (Column<Person> | false)[] = [
    { name: 'Name', isText: true, cell: ({ name }) => name },
    { name: 'Email address', isText: true, cell: ({ email }) => email },
    {
      name: 'Role',
      cell: (person) =>
        mayChange && roles.length > 1 && person.id !== me.id ? (
          <Select
            aria-label={`Role of ${person.name}`}
            size="xs"
            w={150}
            allowDeselect={false}
            disabled={change.isPending}
            data={roles}
            value={person.role}
            onChange={(role) => {
              const chosen = roles.find(({ value }) => value === role)
              if (chosen !== undefined && role !== person.role) void askToChangeRole(person, chosen)
            }}
          />
        ) : (
          labelOf(roles, person.role)
        ),
    },
    { name: 'Two-factor', cell: ({ two_factor_enabled }) => (two_factor_enabled ? 'on' : 'off') },
    { name: 'Joined', cell: ({ created_at }) => <Time at={created_at} ago /> },
    mayChange && {
      name: 'Access',
      cell: (person) => {
        if (person.id === me.id) return 'you'
        if (person.disabled_by_operator && !isOperator(me)) return 'disabled by the operator'
        return (
          <Button
            size="xs"
            variant="default"
            disabled={change.isPending}
            aria-label={`${person.disabled_at === null ? 'Disable' : 'Enable'} ${person.name}`}
            onClick={() =>
              person.disabled_at === null
                ? void askToDisable(person)
                : change.mutate({ id: person.id, disabled: false })
            }
          >
            {person.disabled_at === null ? 'Disable' : 'Enable'}
          </Button>
        )
      },
    },
  ]
  return <DataTable rows={people} columns={columns} rowKey={({ id }) => id} minWidth={720} pager={pager} />
}

type InvitationsProps = {
  base: Base
  invitations: TeamData['invitations']
  roles: RoleChoice[]
  mayChange: boolean
}

/** What the person who sent an invitation should know of its mail. */
const MAIL_PROBLEMS: Partial<Record<TeamData['invitations'][number]['mail'], string>> = {
  queued: 'Sending the invitation…',
  retrying: 'The email could not be sent yet and is being retried.',
  refused: 'The mail server rejected this address. Check the address and invite again.',
}

function Invitations({ base, invitations, roles, mayChange }: InvitationsProps) {
  const revoke = useChange((id: number) => remove(`${base}/invitations/${id}`), {
    refresh: [base],
    done: 'Invitation revoked.',
  })
  const resend = useChange(
    ({ email, role }: { email: string; role: Offered }) => post(`${base}/invitations`, { email, role }),
    { refresh: [base], done: 'Invitation resent. The previous link no longer works.' },
  )
  const ask = async (id: number, email: string | null) => {
    const text = `The link sent to ${email ?? 'the new member'} will stop working.`
    if (await confirm({ title: 'Revoke this invitation?', text, action: 'Revoke' })) revoke.mutate(id)
  }
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Open invitations
      </Title>
      {invitations.map((invitation) => (
        <Paper key={invitation.invitation_id} py="xs">
          <Group justify="space-between">
            <div style={{ minWidth: 0 }}>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {invitation.email ?? 'Anyone with the link'} · {labelOf(roles, invitation.role)} · expires{' '}
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
                    aria-label={`Resend the invitation to ${invitation.email}`}
                    loading={resend.isPending}
                    onClick={() => resend.mutate({ email: invitation.email ?? '', role: invitation.role as Offered })}
                  >
                    Resend
                  </Button>
                )}
                <ActionIcon
                  variant="subtle"
                  color="red"
                  aria-label={`Revoke the invitation to ${invitation.email ?? 'anyone with the link'}`}
                  onClick={() => void ask(invitation.invitation_id, invitation.email)}
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

function aboutInvitation({ url, mailed }: Schemas['IssuedInvitation']): string {
  if (mailed)
    return 'We are sending the link to this address. The link works once and expires in a week. If sending fails, the list below says so.'
  return url === null
    ? 'This network does not send email. Ask the operator for the link.'
    : 'This network does not send email, so send the link yourself. The link works once and expires in a week.'
}

type InviteProps = { base: Base; roles: RoleChoice[]; firstRole: string | undefined }

function Invite({ base, roles, firstRole }: InviteProps) {
  const [issued, setIssued] = useState<Schemas['IssuedInvitation'] | null>(null)
  const form = useForm({ initialValues: { email: '', role: firstRole ?? roles[0]?.value ?? '' } })
  const invite = useChange((values: { email: string; role: Offered }) => post(`${base}/invitations`, values), {
    refresh: [base],
    onError: () => {},
  })
  const submit = useSubmit(form, async (values) =>
    setIssued(await invite.mutateAsync({ ...values, role: values.role as Offered })),
  )
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
    <SubmitForm submit={submit} action="Send invitation">
      <TextInput label="Email address" type="email" required data-autofocus {...form.getInputProps('email')} />
      {roles.length > 1 && (
        <Select
          label="Role"
          description={roles.find(({ value }) => value === form.values.role)?.about}
          data={roles}
          allowDeselect={false}
          {...form.getInputProps('role')}
        />
      )}
    </SubmitForm>
  )
}
