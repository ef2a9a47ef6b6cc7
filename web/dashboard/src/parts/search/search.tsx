// The search over everything: a button in the header, or Ctrl-K on any page.
import {
  ActionIcon,
  Button,
  Combobox,
  Group,
  Kbd,
  Modal,
  Stack,
  Text,
  TextInput,
  useCombobox,
  VisuallyHidden,
} from '@mantine/core'
import { useDebouncedValue, useDisclosure, useHotkeys, useMediaQuery } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { useCurrentApp } from '../../lib/current-app.ts'
import { formatNoun } from '../../lib/format.ts'
import { isOperator, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { ErrorMessage } from '../page.tsx'
import { type Entry, type EntryGroup, filterPages, listFound, listLists, listPages, type Place } from './entries.ts'

const PAUSE_MS = 150

export function Search() {
  const [isOpen, { open, close }] = useDisclosure()
  const isPhone = useMediaQuery('(max-width: 40em)') ?? false
  useHotkeys([['mod+K', open]], [])
  return (
    <>
      <ActionIcon variant="subtle" color="gray" size="lg" hiddenFrom="sm" onClick={open}>
        <IconSearch size={20} />
        <VisuallyHidden>Search</VisuallyHidden>
      </ActionIcon>
      <Button
        variant="default"
        visibleFrom="sm"
        onClick={open}
        leftSection={<IconSearch size={16} />}
        rightSection={<Kbd size="xs">{SHORTCUT}</Kbd>}
      >
        Search
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title="Search"
        size="lg"
        yOffset="10vh"
        fullScreen={isPhone}
        transitionProps={{ duration: 0 }}
      >
        <SearchField onDone={close} />
      </Modal>
    </>
  )
}

const SHORTCUT = /Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'

function SearchField({ onDone }: { onDone: () => void }) {
  const me = useMe()
  const { appId, name: appName } = useCurrentApp()
  const [, navigate] = useLocation()
  const [typed, setTyped] = useState('')
  const { groups, isWaiting, error } = useEntries({ me, appId, appName }, typed)
  const combobox = useCombobox({ opened: true, onDropdownClose: onDone }) // Escape closes all of it
  const shown = groups.flatMap(({ entries }) => entries.map(({ to }) => to)).join(' ')
  useEffect(() => void combobox.selectFirstOption(), [shown])
  const count = groups.reduce((sum, { label, entries }) => (label === LISTS ? sum : sum + entries.length), 0)
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(to) => {
        onDone()
        navigate(to)
      }}
    >
      <Stack gap="sm">
        <Combobox.EventsTarget withExpandedAttribute>
          <TextInput
            role="combobox"
            data-autofocus
            aria-label="Search"
            placeholder={
              isOperator(me)
                ? 'Page, publisher, advertiser, app, offer or conversion'
                : 'Page, app, offer or conversion'
            }
            leftSection={<IconSearch size={16} />}
            maxLength={256}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        {error !== null && <ErrorMessage error={error} />}
        <div role="status">
          {isWaiting ? (
            <Text size="sm">Searching…</Text>
          ) : count === 0 && error === null ? (
            <Nothing text={typed.trim()} isOperator={isOperator(me)} />
          ) : (
            <VisuallyHidden>{formatNoun(count, 'result')}</VisuallyHidden>
          )}
        </div>
        <Combobox.Options aria-label="Results" className="found">
          {groups.map(({ label, entries }) => (
            <Combobox.Group key={label} label={label} {...(label === LISTS ? { className: 'found-further' } : {})}>
              {entries.map((entry) => (
                <Result key={entry.to} {...entry} />
              ))}
            </Combobox.Group>
          ))}
        </Combobox.Options>
      </Stack>
    </Combobox>
  )
}

const Result = ({ to, name, about, icon: Icon }: Entry) => (
  <Combobox.Option value={to}>
    <Group gap="sm" wrap="nowrap">
      <Icon size={18} stroke={1.6} style={{ flex: 'none' }} aria-hidden />
      <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
        <Text size="sm" fw={600} c="inherit">
          {name}
        </Text>
        <Text size="xs" c="inherit">
          {about}
        </Text>
      </div>
    </Group>
  </Combobox.Option>
)

const Nothing = ({ text, isOperator }: { text: string; isOperator: boolean }) => (
  <Text size="sm">
    Nothing found for “{text}”. Search for {isOperator ? 'pages, publishers, advertisers, apps' : 'pages, apps'} and
    offers by part of their name or by ID, and for conversions by their full ID, user ID or transaction ID.
  </Text>
)

/** No results, but where to look further. */
const LISTS = 'Search a list'

/** What the server found is shown only for what is typed now: Enter opens nothing that was found for other words. */
function useEntries(place: Place, typed: string) {
  const [asked] = useDebouncedValue(typed, PAUSE_MS)
  const text = typed.trim()
  const { me, appId } = place
  const query = { q: asked, app_id: isOperator(me) ? undefined : appId }
  const { data, error, isPlaceholderData } = useGet(asked.trim() === '' ? null : '/search', { query })
  const isCurrent = asked === typed && data !== undefined && !isPlaceholderData
  const found = text !== '' && isCurrent ? data : null
  const groups = useMemo(() => {
    const pages = filterPages(listPages(place), text)
    const all: EntryGroup[] = [
      { label: 'Pages', entries: pages },
      ...(found === null ? [] : listFound(found, place)),
      { label: LISTS, entries: found === null ? [] : listLists(place, text, found) },
    ]
    return all.filter(({ entries }) => entries.length > 0)
  }, [me, appId, place.appName, text, found])
  return { groups, isWaiting: text !== '' && found === null && error === null, error: text === '' ? null : error }
}
