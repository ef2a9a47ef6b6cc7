import { Anchor, Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconSearch } from '@tabler/icons-react'
import { Link, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import { userPath } from '../../lib/user-path.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { User } from '../../parts/users/user.tsx'

type RecentUser = Schemas['AppUserList']['users'][number]

export default function Users() {
  const { app_id } = useParams<{ app_id: string }>()
  const [{ user }] = useFilters()
  const mode = useMode()
  return user === undefined ? (
    <RecentUsers appId={app_id} />
  ) : (
    <User key={`${app_id} ${mode} ${user}`} appId={app_id} userId={user} />
  )
}

function RecentUsers({ appId }: { appId: string }) {
  const mode = useMode()
  const users = useGet(`/apps/${appId}/users`, { query: { mode } })
  return (
    <Page title="Users" about="Find a user by your own user ID, or choose one who converted recently.">
      <Stack>
        <FindUser />
        <Loaded query={users}>
          {(list) => (
            <DataTable
              rows={list.users}
              columns={columnsOf(appId)}
              rowKey={({ user_id }) => user_id}
              label="Users who converted recently"
              empty={<Empty title="No conversions yet">Users appear here when they convert.</Empty>}
            />
          )}
        </Loaded>
      </Stack>
    </Page>
  )
}

const columnsOf = (appId: string): Column<RecentUser>[] => [
  {
    name: 'User',
    isText: true,
    cell: ({ user_id }) => (
      <Anchor component={Link} size="sm" href={userPath(appId, user_id)}>
        {user_id}
      </Anchor>
    ),
  },
  { name: 'Last conversion', cell: ({ last_conversion_at }) => <Time at={last_conversion_at} ago /> },
]

function FindUser() {
  const [, change] = useFilters()
  const form = useForm({ initialValues: { user_id: '' } })
  const { formProps } = useSubmit(
    form,
    async ({ user_id }) => {
      change({ user: user_id }, { isStep: true })
      return false
    },
    { isQuestion: true },
  )
  return (
    <form {...formProps} role="search">
      <Group align="flex-end">
        <TextInput
          label="User ID"
          required
          withAsterisk={false}
          maxLength={256}
          leftSection={<IconSearch size={16} />}
          {...form.getInputProps('user_id')}
        />
        <Button type="submit" variant="default">
          Find user
        </Button>
      </Group>
    </form>
  )
}
