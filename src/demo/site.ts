// The demo's site, as a customer of the network.
import type { LockerInput } from '../features/lockers/schema.ts'

/** The app of the demo's site, and its lockers. */
export type DemoSite = {
  app_id: number
  api_key: string
  api_secret: string
  signing_secret: string
  lockers: { contentId: number; linkId: number; slug: string }
}

export const DEMO_LOCKERS = {
  content: {
    name: 'Chapter two',
    title: 'Read chapter two',
    text: 'Who lit the lamp?',
    consent: 'Demo offers only: nothing is installed, bought or sent.',
    categories: ['survey', 'video'],
  },
  link: {
    name: 'Wallpapers',
    title: 'Wallpapers of Pixel Harbor',
    text: 'In this demo, the link leads to example.com.',
    consent: 'Demo offers only: nothing is installed, bought or sent.',
    categories: ['survey', 'video'],
    slug: 'harbor-wallpapers',
    // Links never lead to this server or to a private address, so the demo borrows a public page that is made for examples.
    link: { target_url: 'https://example.com/' },
  },
} satisfies Record<string, LockerInput>
