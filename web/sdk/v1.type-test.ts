// What the types of the SDK allow, and what must not compile.
const user = { apiKey: 'pk_live_x', userId: 'ann' }

export const right = [
  () => Offerdeck.open({ ...user, mode: 'inline', target: '#offers' }).on('credited', ({ reward }) => reward + 1),
  (page: Document) =>
    page.querySelector('offer-wall')?.addEventListener('offer-started', ({ detail }) => detail.offer_id + 1),
]

export const wrong = [
  // @ts-expect-error the user is missing
  () => Offerdeck.open({ apiKey: 'pk_live_x' }),
  // @ts-expect-error an unknown option
  () => Offerdeck.open({ ...user, colour: 'red' }),
  // @ts-expect-error a mode that there is not
  () => Offerdeck.open({ ...user, mode: 'popup' }),
  // @ts-expect-error an unknown event
  () => Offerdeck.open(user).on('paid', () => {}),
  // @ts-expect-error a detail of another event
  () => Offerdeck.open(user).on('closed', ({ reward }) => reward),
  // @ts-expect-error a new signature has both parts
  () => Offerdeck.open({ ...user, renew: async () => ({ exp: 1 }) }),
]
