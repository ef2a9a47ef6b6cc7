// The way to every page. Pages come when they are needed.
import { useMantineColorScheme } from '@mantine/core'
import { type ComponentType, useEffect, useRef } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { ApiError } from './lib/api.ts'
import { colorSchemeOf } from './lib/color-scheme.ts'
import { setFormats } from './lib/format.ts'
import { isOperator, type Me, MeContext } from './lib/me.ts'
import { useGet } from './lib/queries.ts'
import { Boundary } from './parts/boundary.tsx'
import { lazyPage, Waiting } from './parts/lazy-page.tsx'
import { ModeSign, type Traffic } from './parts/mode.tsx'
import { ErrorMessage } from './parts/page.tsx'
import { Trail } from './parts/trail.tsx'
import { ChallengeDialog } from './parts/challenge-dialog.tsx'
import { Shell } from './shell.tsx'

const SignIn = lazyPage(() => import('./pages/sign-in.tsx'))
const SetUpTwoFactor = lazyPage(() => import('./pages/set-up-two-factor.tsx'))
const SignUp = lazyPage(() => import('./pages/sign-up.tsx'))
const VerifySignUp = lazyPage(() => import('./pages/verify-sign-up.tsx'))
const AcceptTerms = lazyPage(() => import('./pages/accept-terms.tsx'))
const Join = lazyPage(() => import('./pages/join.tsx'))
const ForgotPassword = lazyPage(() => import('./pages/forgot-password.tsx'))
const ResetPassword = lazyPage(() => import('./pages/reset-password.tsx'))
const VerifyEmail = lazyPage(() => import('./pages/verify-email.tsx'))
const Account = lazyPage(() => import('./pages/account.tsx'))
const Home = lazyPage(() => import('./pages/home.tsx'))
const NotFound = lazyPage(() => import('./pages/not-found.tsx'))
const Postbacks = lazyPage(() => import('./pages/app/postbacks.tsx'))
const PostbackSettings = lazyPage(() => import('./pages/app/postback-settings.tsx'))
const Postback = lazyPage(() => import('./pages/app/postback.tsx'))
const Team = lazyPage(() => import('./pages/publisher/team.tsx'))
const AppOverview = lazyPage(() => import('./pages/app/overview.tsx'))
const Integration = lazyPage(() => import('./pages/app/integration.tsx'))
const Reports = lazyPage(() => import('./pages/app/reports.tsx'))
const AppUsers = lazyPage(() => import('./pages/app/users.tsx'))
const AppTickets = lazyPage(() => import('./pages/app/tickets.tsx'))
const AppTicket = lazyPage(() => import('./pages/app/ticket.tsx'))
const AppRewards = lazyPage(() => import('./pages/app/rewards.tsx'))
const AdvertiserOverview = lazyPage(() => import('./pages/advertiser/overview.tsx'))
const AdvertiserOffers = lazyPage(() => import('./pages/advertiser/offers.tsx'))
const AdvertiserOffer = lazyPage(() => import('./pages/advertiser/offer.tsx'))
const Propose = lazyPage(() => import('./pages/advertiser/propose.tsx'))
const AdvertiserProposals = lazyPage(() => import('./pages/advertiser/proposals.tsx'))
const AdvertiserProposal = lazyPage(() => import('./pages/advertiser/proposal.tsx'))
const AdvertiserConversions = lazyPage(() => import('./pages/advertiser/conversions.tsx'))
const AdvertiserIntegration = lazyPage(() => import('./pages/advertiser/integration.tsx'))
const AdvertiserTester = lazyPage(() => import('./pages/advertiser/tester.tsx'))
const AdvertiserCallbacks = lazyPage(() => import('./pages/advertiser/callbacks.tsx'))
const AdvertiserTeam = lazyPage(() => import('./pages/advertiser/team.tsx'))
const Balance = lazyPage(() => import('./pages/publisher/balance.tsx'))
const NetworkOverview = lazyPage(() => import('./pages/network/overview.tsx'), '/network/overview')
const NetworkReports = lazyPage(() => import('./pages/network/reports.tsx'))
const OfferReport = lazyPage(() => import('./pages/network/offer-report.tsx'))
const AppOffers = lazyPage(() => import('./pages/app/offers.tsx'))
const AppOffer = lazyPage(() => import('./pages/app/offer.tsx'))
const AppWall = lazyPage(() => import('./pages/app/wall.tsx'))
const AppLockers = lazyPage(() => import('./pages/app/lockers.tsx'))
const AppLocker = lazyPage(() => import('./pages/app/locker.tsx'))
const AppConversions = lazyPage(() => import('./pages/app/conversions.tsx'))
const AppConversion = lazyPage(() => import('./pages/app/conversion.tsx'))
const AppRequests = lazyPage(() => import('./pages/app/requests.tsx'))
const AppConsole = lazyPage(() => import('./pages/app/console.tsx'))
const Operators = lazyPage(() => import('./pages/network/operators.tsx'))
const Ledger = lazyPage(() => import('./pages/network/ledger.tsx'))
const Audit = lazyPage(() => import('./pages/network/audit.tsx'))
const System = lazyPage(() => import('./pages/network/system.tsx'))
const PostbackHealth = lazyPage(() => import('./pages/network/postbacks.tsx'))
const NetworkOffers = lazyPage(() => import('./pages/network/offers.tsx'))
const NetworkOffer = lazyPage(() => import('./pages/network/offer.tsx'))
const OfferImport = lazyPage(() => import('./pages/network/offer-import.tsx'))
const Proposals = lazyPage(() => import('./pages/network/proposals.tsx'))
const Proposal = lazyPage(() => import('./pages/network/proposal.tsx'))
const Feeds = lazyPage(() => import('./pages/network/feeds.tsx'))
const NewFeed = lazyPage(() => import('./pages/network/new-feed.tsx'))
const Feed = lazyPage(() => import('./pages/network/feed.tsx'))
const Advertisers = lazyPage(() => import('./pages/network/advertisers.tsx'))
const Advertiser = lazyPage(() => import('./pages/network/advertiser.tsx'))
const Publishers = lazyPage(() => import('./pages/network/publishers.tsx'))
const Applications = lazyPage(() => import('./pages/network/applications.tsx'))
const Application = lazyPage(() => import('./pages/network/application.tsx'))
const SignUpSettings = lazyPage(() => import('./pages/network/sign-up-settings.tsx'))
const PublisherPage = lazyPage(() => import('./pages/network/publisher.tsx'))
const NetworkConversions = lazyPage(() => import('./pages/network/conversions.tsx'))
const NetworkConversion = lazyPage(() => import('./pages/network/conversion.tsx'))
const Bans = lazyPage(() => import('./pages/network/bans.tsx'))
const ReportedLinks = lazyPage(() => import('./pages/network/reported-links.tsx'))
const Fraud = lazyPage(() => import('./pages/network/fraud.tsx'))

type PageRoute = [path: string, page: ComponentType, traffic?: Traffic]

/** Pages for everyone who is signed in. */
const PAGES: PageRoute[] = [['/account', Account]]
const PUBLISHER_PAGES: PageRoute[] = [
  ['/', Home],
  ['/apps/:app_id', AppOverview, 'both'],
  ['/apps/:app_id/integration', Integration],
  ['/apps/:app_id/postbacks', Postbacks, 'both'],
  ['/apps/:app_id/postbacks/settings', PostbackSettings],
  ['/apps/:app_id/postbacks/:postback_id', Postback],
  ['/publishers/:publisher_id/people', Team],
  ['/apps/:app_id/offers', AppOffers, 'both'],
  ['/apps/:app_id/offers/:offer_id', AppOffer, 'live'],
  ['/apps/:app_id/wall', AppWall],
  ['/apps/:app_id/lockers', AppLockers, 'live'],
  ['/apps/:app_id/lockers/:locker_id', AppLocker, 'live'],
  ['/apps/:app_id/conversions', AppConversions, 'both'],
  ['/apps/:app_id/conversions/:conversion_id', AppConversion],
  ['/apps/:app_id/rewards', AppRewards],
  ['/apps/:app_id/users', AppUsers, 'both'],
  ['/apps/:app_id/tickets', AppTickets, 'both'],
  ['/apps/:app_id/tickets/:ticket_id', AppTicket],
  ['/apps/:app_id/requests', AppRequests, 'both'],
  ['/apps/:app_id/console', AppConsole],
  ['/publishers/:publisher_id/balance', Balance, 'live'],
  ['/apps/:app_id/reports', Reports, 'live'],
]
const ADVERTISER_PAGES: PageRoute[] = [
  ['/advertisers/:advertiser_id', AdvertiserOverview, 'live'],
  ['/advertisers/:advertiser_id/offers', AdvertiserOffers],
  ['/advertisers/:advertiser_id/offers/new', Propose],
  ['/advertisers/:advertiser_id/offers/:offer_id', AdvertiserOffer],
  ['/advertisers/:advertiser_id/offers/:offer_id/edit', Propose],
  ['/advertisers/:advertiser_id/proposals', AdvertiserProposals],
  ['/advertisers/:advertiser_id/proposals/:proposal_id', AdvertiserProposal],
  ['/advertisers/:advertiser_id/conversions', AdvertiserConversions, 'both'],
  ['/advertisers/:advertiser_id/integration', AdvertiserIntegration],
  ['/advertisers/:advertiser_id/postback-test', AdvertiserTester],
  ['/advertisers/:advertiser_id/callbacks', AdvertiserCallbacks],
  ['/advertisers/:advertiser_id/people', AdvertiserTeam],
]
const OPERATOR_PAGES: PageRoute[] = [
  ['/network', NetworkOverview, 'live'],
  ['/network/reports', NetworkReports, 'live'],
  ['/network/people', Operators],
  ['/network/ledger', Ledger, 'live'],
  ['/network/audit', Audit],
  ['/network/system', System],
  ['/network/postbacks', PostbackHealth, 'live'],
  ['/network/offers', NetworkOffers, 'live'],
  ['/network/offers/import', OfferImport],
  ['/network/offers/:offer_id', NetworkOffer],
  ['/network/offers/:offer_id/report', OfferReport, 'live'],
  ['/network/proposals', Proposals],
  ['/network/proposals/:proposal_id', Proposal],
  ['/network/feeds', Feeds],
  ['/network/feeds/new', NewFeed],
  ['/network/feeds/:feed_id', Feed],
  ['/network/advertisers', Advertisers],
  ['/network/advertisers/:advertiser_id', Advertiser],
  ['/network/publishers', Publishers],
  ['/network/publishers/:publisher_id', PublisherPage, 'live'],
  ['/network/applications', Applications],
  ['/network/applications/settings', SignUpSettings],
  ['/network/applications/:publisher_id', Application],
  ['/network/conversions', NetworkConversions, 'both'],
  ['/network/conversions/:conversion_id', NetworkConversion],
  ['/network/fraud', Fraud, 'live'],
  ['/network/bans', Bans],
  ['/network/reported-links', ReportedLinks],
]

export function Dashboard() {
  return (
    <Boundary>
      <Switch>
        <Route path="/sign-in" component={SignIn} />
        <Route path="/sign-up" component={SignUp} />
        <Route path="/sign-up/verify" component={VerifySignUp} />
        <Route path="/join" component={Join} />
        <Route path="/forgot-password" component={ForgotPassword} />
        <Route path="/reset-password" component={ResetPassword} />
        <Route path="/verify-email" component={VerifyEmail} />
        <Route>
          <SignedIn />
        </Route>
      </Switch>
    </Boundary>
  )
}

function SignedIn() {
  const me = useGet('/me')
  useReloadFor(me.data?.id)
  useTheme(me.data?.theme)
  if (me.data !== undefined) setFormats(me.data)
  const [path] = useLocation() // what fails on one page does not affect another
  if (me.error instanceof ApiError && me.error.status === 401) return <Redirect to={signInFirst()} replace />
  if (me.data === undefined)
    return me.error === null ? <Waiting /> : <ErrorMessage error={me.error} retry={() => void me.refetch()} />
  const First = me.data.must_set_up_two_factor ? SetUpTwoFactor : me.data.terms === null ? null : AcceptTerms
  if (First !== null)
    return (
      <MeContext.Provider value={me.data}>
        <First />
      </MeContext.Provider>
    )
  const begin = beginOf(me.data)
  if (path === '/' && begin !== null) return <Redirect to={begin} replace />
  const pages = [...PAGES, ...pagesOf(me.data)]
  return (
    <MeContext.Provider value={me.data}>
      <ChallengeDialog />
      <Shell>
        <Boundary key={path}>
          <Switch>
            {pages.map(([path, Component, traffic]) => (
              <Route key={path} path={path}>
                {(params) =>
                  Object.entries(params).every(isReadable) ? (
                    <>
                      {traffic !== undefined && <ModeSign traffic={traffic} />}
                      <Trail />
                      <Component />
                    </>
                  ) : (
                    <NotFound />
                  )
                }
              </Route>
            ))}
            <Route component={NotFound} />
          </Switch>
        </Boundary>
      </Shell>
    </MeContext.Provider>
  )
}

/** What is no number is the number of nothing. The other IDs are for the server to know. */
const isReadable = ([name, value = '']: [string, string | undefined]) =>
  !/^(app|publisher|advertiser|offer|locker|feed|proposal)_id$/.test(name) ||
  value === 'new' ||
  /^\d{1,15}$/.test(value)

/** Another tab may have signed in as another person, who must not see what is shown here. */
function useReloadFor(personId: string | undefined): void {
  const shown = useRef(personId)
  useEffect(() => {
    if (personId === undefined) return
    if (shown.current !== undefined && shown.current !== personId) window.location.reload()
    shown.current = personId
  }, [personId])
}

/** That of the profile, in whichever browser it was chosen. */
function useTheme(theme: Me['theme'] | undefined): void {
  const { setColorScheme } = useMantineColorScheme()
  useEffect(() => {
    if (theme !== undefined) setColorScheme(colorSchemeOf(theme))
  }, [theme, setColorScheme])
}

/** Operators see all that the others see. */
function pagesOf(me: Me): PageRoute[] {
  if (isOperator(me)) return [...PUBLISHER_PAGES, ...ADVERTISER_PAGES, ...OPERATOR_PAGES]
  return me.advertiser === null ? PUBLISHER_PAGES : ADVERTISER_PAGES
}

/** Everybody begins where their work is. Null: there is no app yet. */
function beginOf(me: Me): string | null {
  if (isOperator(me)) return '/network'
  if (me.advertiser !== null) return `/advertisers/${me.advertiser.advertiser_id}`
  const appId = me.publisher?.first_app_id ?? null
  return appId === null ? null : `/apps/${appId}`
}

/** Back to here afterwards. */
function signInFirst(): string {
  const { pathname, search } = window.location
  const here = pathname + search
  return here === '/' ? '/sign-in' : `/sign-in?then=${encodeURIComponent(here)}`
}
