// What the search offers: pages by their names at once, everything else as the server finds it.
import {
  IconAffiliate,
  IconBuildingStore,
  IconCircleCheck,
  IconGift,
  IconList,
  IconSpeakerphone,
  IconUserCircle,
} from '@tabler/icons-react'
import type { Schemas } from '../../lib/api-types.ts'
import { isOperator, type Me, seesMoney } from '../../lib/me.ts'
import { ADVERTISER_LINKS, APP_LINKS, NETWORK_LINKS, type NavItem, publisherLinks } from '../../navigation.ts'

/** `about` says what it is. */
export type Entry = { to: string; name: string; about: string; icon: NavItem['icon'] }
export type EntryGroup = { label: string; entries: Entry[] }
export type Place = { me: Me; appId: string | undefined; appName: string }

export function listPages({ me, appId, appName }: Place): Entry[] {
  const under = (base: string, about: string, items: NavItem[]) =>
    items.map(({ name, to, icon }) => ({ to: base + to, name, about, icon }))
  const publisher = me.publisher
  return [
    ...(isOperator(me) ? under('/network', 'Network page', NETWORK_LINKS) : []),
    ...(appId === undefined ? [] : under(`/apps/${appId}`, `Page in ${appName}`, APP_LINKS)),
    ...(publisher === null
      ? []
      : under(`/publishers/${publisher.publisher_id}`, `Page in ${publisher.name}`, publisherLinks(seesMoney(me)))),
    ...(me.advertiser === null
      ? []
      : under(`/advertisers/${me.advertiser.advertiser_id}`, `Page in ${me.advertiser.name}`, ADVERTISER_LINKS)),
    { to: '/account', name: 'Account', about: 'Your own page', icon: IconUserCircle },
  ]
}

/** Those that have every word, in any order. */
export function filterPages(pages: Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/)
  return pages.filter(({ name, about }) => words.every((word) => `${name} ${about}`.toLowerCase().includes(word)))
}

export function listFound(found: Schemas['SearchResults'], { me }: Place): EntryGroup[] {
  const conversionPath = (appId: number) => (isOperator(me) ? '/network' : `/apps/${appId}`)
  return [
    {
      label: 'Publishers',
      entries: found.publishers.map(({ publisher_id, name }) => ({
        to: `/network/publishers/${publisher_id}`,
        name,
        about: `Publisher ${publisher_id}`,
        icon: IconBuildingStore,
      })),
    },
    {
      label: 'Advertisers',
      entries: found.advertisers.map(({ advertiser_id, name }) => ({
        to: `/network/advertisers/${advertiser_id}`,
        name,
        about: `Advertiser ${advertiser_id}`,
        icon: IconSpeakerphone,
      })),
    },
    {
      label: 'Apps',
      entries: found.apps.map(({ app_id, name, publisher }) => ({
        to: `/apps/${app_id}`,
        name,
        about: `App ${app_id} of ${publisher}`,
        icon: IconAffiliate,
      })),
    },
    {
      label: 'Offers',
      entries: found.offers.map(({ offer_id, name, app_id }) => ({
        to: `${app_id === null ? homeOf(me) : `/apps/${app_id}`}/offers/${offer_id}`,
        name,
        about: `Offer ${offer_id}`,
        icon: IconGift,
      })),
    },
    {
      label: 'Conversions',
      entries: found.conversions.map((one) => ({
        to: `${conversionPath(one.app_id)}/conversions/${one.conversion_id}?mode=${one.is_test ? 'test' : 'live'}`,
        name: `${one.offer}, user ${one.user_id}`,
        about: `${one.is_test ? 'Test conversion' : 'Conversion'} in ${one.app}, ${one.status}, found by ${MATCHES[one.matched]}`,
        icon: IconCircleCheck,
      })),
    },
  ].filter(({ entries }) => entries.length > 0)
}

const homeOf = ({ advertiser }: Me) => (advertiser === null ? '/network' : `/advertisers/${advertiser.advertiser_id}`)

const MATCHES = { id: 'ID', user: 'user ID', transaction: 'transaction ID', request: 'request ID' } as const

/** The lists know more than the few that are shown here. */
export function listLists({ me, appId }: Place, text: string, found: Schemas['SearchResults']): Entry[] {
  const base = isOperator(me) ? '/network' : appId === undefined ? null : `/apps/${appId}`
  if (base === null) return []
  const word = encodeURIComponent(text)
  // Any text could be the ID of a user; a word without a digit rarely is.
  const mayBeUser = /^\S*\d\S*$/.test(text) || found.conversions.some(({ matched }) => matched === 'user')
  const list = (to: string, name: string) => ({ to: `${base}${to}=${word}`, name, about: 'List', icon: IconList })
  return [
    list('/offers?search', `Offers with “${text}”`),
    ...(isOperator(me) ? [list('/publishers?search', `Publishers with “${text}”`)] : []),
    ...(mayBeUser ? [list('/conversions?user_id', `Conversions of user “${text}”`)] : []),
    ...(mayBeUser && !isOperator(me) ? [list('/tickets?user_id', `Tickets of user “${text}”`)] : []),
  ]
}
