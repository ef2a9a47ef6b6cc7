// The way back from a page that is inside of something, as its path says.
import { Anchor, Breadcrumbs, Text } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import { isOperator, useMe } from '../lib/me.ts'
import { useGet } from '../lib/queries.ts'
import { ADVERTISER_LINKS, APP_LINKS, NETWORK_LINKS, type NavItem, publisherLinks } from '../navigation.ts'

export function Trail() {
  const [path] = useLocation()
  const [area, first, second, third] = path.slice(1).split('/')
  if (first === undefined) return null
  if (area === 'network' && second !== undefined) return <NetworkTrail section={first} item={second} part={third} />
  if (area === 'apps') return <AppTrail appId={first} section={second} item={third} />
  if (area === 'advertisers') return <AdvertiserTrail advertiserId={first} section={second} item={third} />
  if (area === 'publishers') return <PublisherTrail publisherId={first} section={second} />
  return null
}

type Crumb = { name: string; to: string }

const ADVERTISERS = { name: 'Advertisers', to: '/network/advertisers' }
const PUBLISHERS = { name: 'Publishers', to: '/network/publishers' }
/** What stands in a path beside IDs. */
const WORDS: Record<string, string> = { new: 'New offer', import: 'Import', report: 'Report', settings: 'Settings' }

const LOCKER_WORDS: typeof WORDS = { new: 'New locker' }
const FEED_WORDS: typeof WORDS = { new: 'Add feed' }

const nameIn = (links: NavItem[], section: string) => links.find(({ to }) => to === `/${section}`)?.name ?? section
/** The end is what differs. */
const shorten = (id: string) => (id.length > 12 ? `…${id.slice(-8)}` : id)

function NetworkTrail({ section, item, part }: { section: string; item: string; part: string | undefined }) {
  const isNamed = section === 'publishers' || section === 'offers' || section === 'advertisers' || section === 'feeds'
  const named = section === 'applications' ? 'publishers' : isNamed ? section : null
  const found = useGet(named !== null && !(item in WORDS) ? `/${named}/${item}` : null)
  const to = `/network/${section}`
  const crumbs = [
    { name: nameIn(NETWORK_LINKS, section), to },
    {
      name: (section === 'feeds' ? FEED_WORDS : WORDS)[item] ?? found.data?.name ?? shorten(item),
      to: `${to}/${item}`,
    },
  ]
  if (part !== undefined) crumbs.push({ name: WORDS[part] ?? part, to: `${to}/${item}/${part}` })
  return <Crumbs crumbs={crumbs} />
}

type AppTrailProps = { appId: string; section: string | undefined; item: string | undefined }

function AppTrail({ appId, section, item }: AppTrailProps) {
  const base = `/apps/${appId}` as const
  const isOfOperator = isOperator(useMe())
  const app = useGet(base).data
  const offer = useGet(section === 'offers' && item !== undefined ? `${base}/offers/${item}` : null).data?.offer
  const isLocker = section === 'lockers' && item !== undefined && item !== 'new'
  const locker = useGet(isLocker ? `${base}/lockers/${item}` : null).data?.settings
  const crumbs = [{ name: app?.name ?? `App ${appId}`, to: base as string }]
  if (isOfOperator && app !== undefined)
    crumbs.unshift(PUBLISHERS, { name: app.publisher, to: `/network/publishers/${app.publisher_id}` })
  if (section !== undefined) crumbs.push({ name: nameIn(APP_LINKS, section), to: `${base}/${section}` })
  if (item !== undefined)
    crumbs.push({
      name: (section === 'lockers' ? LOCKER_WORDS : WORDS)[item] ?? offer?.name ?? locker?.name ?? shorten(item),
      to: `${base}/${section}/${item}`,
    })
  return <Crumbs crumbs={crumbs} />
}

/** For operators, who come from the publisher's page. Its own people have the menu. */
function PublisherTrail({ publisherId, section = '' }: { publisherId: string; section: string | undefined }) {
  const isShown = isOperator(useMe())
  const publisher = useGet(isShown ? `/publishers/${publisherId}` : null)
  if (!isShown) return null
  const name = publisher.data?.name ?? `Publisher ${publisherId}`
  const here = { name: nameIn(publisherLinks(true), section), to: `/publishers/${publisherId}/${section}` }
  return <Crumbs crumbs={[PUBLISHERS, { name, to: `/network/publishers/${publisherId}` }, here]} />
}

type AdvertiserTrailProps = { advertiserId: string; section: string | undefined; item: string | undefined }

/** The same for an advertiser's. */
function AdvertiserTrail({ advertiserId, section, item }: AdvertiserTrailProps) {
  const isOfOperator = isOperator(useMe())
  const base = `/advertisers/${advertiserId}` as const
  const advertiser = useGet(isOfOperator ? base : null)
  const offer = useGet(section === 'offers' && item !== undefined && !(item in WORDS) ? `${base}/offers/${item}` : null)
  const name = advertiser.data?.name ?? `Advertiser ${advertiserId}`
  const to = section === undefined ? base : `${base}/${section}`
  const crumbs = [{ name: section === undefined ? 'Overview' : nameIn(ADVERTISER_LINKS, section), to }]
  if (isOfOperator) crumbs.unshift(ADVERTISERS, { name, to: `/network/advertisers/${advertiserId}` })
  if (item !== undefined) crumbs.push({ name: WORDS[item] ?? offer.data?.name ?? shorten(item), to: `${to}/${item}` })
  return <Crumbs crumbs={crumbs} />
}

/** Nothing for a page that is inside of nothing. */
function Crumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  const here = crumbs.at(-1)
  if (here === undefined || crumbs.length < 2) return null
  return (
    <nav aria-label="Breadcrumb">
      <Breadcrumbs mb="sm" style={{ flexWrap: 'wrap', rowGap: 4 }}>
        {crumbs.slice(0, -1).map(({ name, to }) => (
          <Anchor key={to} component={Link} href={to} size="sm" truncate maw="16rem">
            {name}
          </Anchor>
        ))}
        <Text size="sm" truncate maw="24rem" aria-current="page">
          {here.name}
        </Text>
      </Breadcrumbs>
    </nav>
  )
}
