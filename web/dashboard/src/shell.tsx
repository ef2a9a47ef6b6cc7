// What stands around every page: the name, the menu, the account.
import {
  AppShell,
  Badge,
  Burger,
  Button,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Select,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconBuildingStore,
  IconDeviceDesktop,
  IconLogout,
  IconMoon,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react'
import { type ReactNode, useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import { patch, remove } from './lib/api.ts'
import { colorSchemeOf } from './lib/color-scheme.ts'
import { formatUpTo } from './lib/format.ts'
import { useCurrentApp } from './lib/current-app.ts'
import { isOperator, type Me, seesMoney, useMe } from './lib/me.ts'
import { useMode } from './lib/mode.ts'
import { queryClient, useChange } from './lib/queries.ts'
import { ADVERTISER_LINKS, APP_LINKS, NETWORK_LINKS, type NavItem, publisherLinks } from './navigation.ts'
import { Brand } from './parts/brand.tsx'
import { ModeSwitch } from './parts/mode.tsx'
import { PublisherBanner } from './parts/publishers/banner.tsx'
import { Search } from './parts/search/search.tsx'
import { Tag } from './parts/status.tsx'

const MOST_OPTIONS = 50 // then one types

export function Shell({ children }: { children: ReactNode }) {
  const [isOpen, { toggle, close }] = useDisclosure()
  const [path] = useLocation()
  useEffect(close, [path, close])
  useMode() // the links in the menu have it
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="lg"
    >
      <AppShell.Header px="md">
        <a href="#main" className="skip">
          Skip to content
        </a>
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <UnstyledButton component={Link} href="/">
              <Brand height={28} alt="Home" />
            </UnstyledButton>
            <DemoBadge />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ModeSwitch visibleFrom="sm" mr="xs" />
            <Search />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Pages">
        <ScrollArea>
          <ModeSwitch hiddenFrom="sm" p="sm" />
          <Navigation />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <PublisherBanner />
        {children}
      </AppShell.Main>
    </AppShell>
  )
}

function DemoBadge() {
  const { network } = useMe()
  return network.is_demo ? (
    <Tag color="orange" visibleFrom="xs">
      Demo
    </Tag>
  ) : null
}

function AccountMenu() {
  const me = useMe()
  const signOut = async () => {
    await remove('/session').catch(() => {})
    queryClient.clear()
    window.location.assign('/sign-in')
  }
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button variant="subtle" color="gray" leftSection={<IconUserCircle size={20} />}>
          <Text span visibleFrom="xs" inherit>
            {me.name}
          </Text>
          <VisuallyHidden>Your account</VisuallyHidden>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{me.email}</Menu.Label>
        <Menu.Item component={Link} href="/account" leftSection={<IconUserCircle size={16} />}>
          Account
        </Menu.Item>
        <Menu.Divider />
        <ThemeItems />
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()} leftSection={<IconLogout size={16} />}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const THEMES = [
  ['system', 'System theme', IconDeviceDesktop],
  ['light', 'Light theme', IconSun],
  ['dark', 'Dark theme', IconMoon],
] as const

function ThemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const save = useChange((theme: Me['theme']) => patch('/me', { theme }), { refresh: ['/me'] })
  const choose = (theme: Me['theme']) => {
    setColorScheme(colorSchemeOf(theme))
    save.mutate(theme)
  }
  const chosen = THEMES.find(([theme]) => colorSchemeOf(theme) === colorScheme)?.[0] ?? 'system'
  return (
    <Menu.RadioGroup value={chosen} onChange={(theme) => choose(theme as Me['theme'])}>
      {THEMES.map(([theme, name, Icon]) => (
        <Menu.RadioItem key={theme} value={theme} closeMenuOnClick rightSection={<Icon size={16} />}>
          {name}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  )
}

function Navigation() {
  const me = useMe()
  const [, navigate] = useLocation()
  const { appId, name, apps, publisherId, shown } = useCurrentApp()
  return (
    <>
      {isOperator(me) && (
        <Links
          label="Network"
          items={withCounts(NETWORK_LINKS, {
            '/applications': me.waiting_applications,
            '/proposals': me.waiting_proposals,
          })}
          base="/network"
        />
      )}
      {apps.length > 1 && (
        <Select
          label="App"
          mb="xs"
          allowDeselect={false}
          searchable={apps.length > MOST_OPTIONS}
          limit={MOST_OPTIONS}
          data={apps.map((app) => ({ value: String(app.app_id), label: app.name }))}
          value={appId ?? null}
          onChange={(value) => value !== null && navigate(`/apps/${value}`)}
        />
      )}
      {appId !== undefined && <Links label={name} items={APP_LINKS} base={`/apps/${appId}`} />}
      {shown !== undefined && (
        <Links
          label=""
          items={[{ name: 'Publisher', to: '', icon: IconBuildingStore }]}
          base={`/network/publishers/${shown.publisher_id}`}
        />
      )}
      {me.advertiser !== null && (
        <Links
          label={me.advertiser.name}
          items={ADVERTISER_LINKS}
          base={`/advertisers/${me.advertiser.advertiser_id}`}
        />
      )}
      {publisherId !== undefined && (
        <Links
          label={me.publisher?.name ?? ''}
          items={publisherLinks(seesMoney(me))}
          base={`/publishers/${publisherId}`}
        />
      )}
    </>
  )
}

const withCounts = (items: NavItem[], counts: Record<string, number>) =>
  items.map((item) => ({ ...item, count: counts[item.to] ?? 0 }))

function Links({ label, items, base }: { label: string; items: NavItem[]; base: string }) {
  const [path] = useLocation()
  return (
    <>
      <Text size="xs" fw={700} c="dimmed" px="sm" pt="sm" pb={4}>
        {label}
      </Text>
      {items.map(({ name, to, icon: Icon, count = 0 }) => {
        const href = base + to
        const isHere = to === '' ? path === base : path === href || path.startsWith(`${href}/`)
        return (
          <NavLink
            key={href}
            component={Link}
            href={href}
            label={name}
            active={isHere}
            aria-current={isHere ? 'page' : undefined}
            leftSection={<Icon size={18} stroke={1.6} />}
            rightSection={count > 0 && <Badge circle={count < 10}>{formatUpTo(count, 100)}</Badge>}
          />
        )
      })}
    </>
  )
}
