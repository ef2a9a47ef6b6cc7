// The way to every page. Pages come when they are needed.
import { Center, Loader } from '@mantine/core'
import { type ComponentType, lazy, Suspense } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { ApiError } from './lib/api.ts'
import { isOperator, type Me, MeContext } from './lib/me.ts'
import { useGet } from './lib/queries.ts'
import { Boundary } from './parts/boundary.tsx'
import { Fault } from './parts/page.tsx'
import { Shell } from './shell.tsx'

const page = (load: () => Promise<{ default: ComponentType }>) => lazy(load)

const SignIn = page(() => import('./pages/sign-in.tsx'))
const Join = page(() => import('./pages/join.tsx'))
const ForgotPassword = page(() => import('./pages/forgot-password.tsx'))
const ResetPassword = page(() => import('./pages/reset-password.tsx'))
const Account = page(() => import('./pages/account.tsx'))
const Home = page(() => import('./pages/home.tsx'))
const NotFound = page(() => import('./pages/not-found.tsx'))
const Postbacks = page(() => import('./pages/app/postbacks.tsx'))
const PostbackSettings = page(() => import('./pages/app/postback-settings.tsx'))
const Postback = page(() => import('./pages/app/postback.tsx'))
const Team = page(() => import('./pages/publisher/team.tsx'))
const AppOverview = page(() => import('./pages/app/overview.tsx'))
const Integration = page(() => import('./pages/app/integration.tsx'))
const Reports = page(() => import('./pages/app/reports.tsx'))
const Balance = page(() => import('./pages/publisher/balance.tsx'))
const NetworkOverview = page(() => import('./pages/network/overview.tsx'))
const AppOffers = page(() => import('./pages/app/offers.tsx'))
const AppConversions = page(() => import('./pages/app/conversions.tsx'))
const AppConversion = page(() => import('./pages/app/conversion.tsx'))
const AppConsole = page(() => import('./pages/app/console.tsx'))
const Operators = page(() => import('./pages/network/operators.tsx'))
const Ledger = page(() => import('./pages/network/ledger.tsx'))
const Audit = page(() => import('./pages/network/audit.tsx'))
const System = page(() => import('./pages/network/system.tsx'))
const PostbackHealth = page(() => import('./pages/network/postbacks.tsx'))
const NetworkOffers = page(() => import('./pages/network/offers.tsx'))
const NetworkOffer = page(() => import('./pages/network/offer.tsx'))
const OfferImport = page(() => import('./pages/network/offer-import.tsx'))
const Advertisers = page(() => import('./pages/network/advertisers.tsx'))
const Advertiser = page(() => import('./pages/network/advertiser.tsx'))
const Publishers = page(() => import('./pages/network/publishers.tsx'))
const PublisherPage = page(() => import('./pages/network/publisher.tsx'))
const NetworkConversions = page(() => import('./pages/network/conversions.tsx'))
const NetworkConversion = page(() => import('./pages/network/conversion.tsx'))
const Bans = page(() => import('./pages/network/bans.tsx'))
const Fraud = page(() => import('./pages/network/fraud.tsx'))

/** Pages for whoever is signed in. */
const PAGES: [path: string, page: ComponentType][] = [
  ['/', Home],
  ['/account', Account],
  ['/apps/:app_id', AppOverview],
  ['/apps/:app_id/integration', Integration],
  ['/apps/:app_id/postbacks', Postbacks],
  ['/apps/:app_id/postbacks/settings', PostbackSettings],
  ['/apps/:app_id/postbacks/:postback_id', Postback],
  ['/publishers/:publisher_id/people', Team],
  ['/apps/:app_id/offers', AppOffers],
  ['/apps/:app_id/conversions', AppConversions],
  ['/apps/:app_id/conversions/:conversion_id', AppConversion],
  ['/apps/:app_id/console', AppConsole],
  ['/publishers/:publisher_id/balance', Balance],
  ['/apps/:app_id/reports', Reports],
]
const OPERATOR_PAGES: [path: string, page: ComponentType][] = [
  ['/network', NetworkOverview],
  ['/network/people', Operators],
  ['/network/ledger', Ledger],
  ['/network/audit', Audit],
  ['/network/system', System],
  ['/network/postbacks', PostbackHealth],
  ['/network/offers', NetworkOffers],
  ['/network/offers/import', OfferImport],
  ['/network/offers/:offer_id', NetworkOffer],
  ['/network/advertisers', Advertisers],
  ['/network/advertisers/:advertiser_id', Advertiser],
  ['/network/publishers', Publishers],
  ['/network/publishers/:publisher_id', PublisherPage],
  ['/network/conversions', NetworkConversions],
  ['/network/conversions/:conversion_id', NetworkConversion],
  ['/network/fraud', Fraud],
  ['/network/bans', Bans],
]

export function Dashboard() {
  return (
    <Boundary>
      <Suspense fallback={<Waiting />}>
        <Switch>
          <Route path="/sign-in" component={SignIn} />
          <Route path="/join" component={Join} />
          <Route path="/forgot-password" component={ForgotPassword} />
          <Route path="/reset-password" component={ResetPassword} />
          <Route>
            <SignedIn />
          </Route>
        </Switch>
      </Suspense>
    </Boundary>
  )
}

function SignedIn() {
  const me = useGet<Me>('/me')
  const [path] = useLocation() // what fails on one page does not keep anybody from another
  if (me.error instanceof ApiError && me.error.status === 401) return <Redirect to={signInFirst()} replace />
  if (me.data === undefined)
    return me.error === null ? <Waiting /> : <Fault error={me.error} retry={() => void me.refetch()} />
  const pages = isOperator(me.data) ? [...PAGES, ...OPERATOR_PAGES] : PAGES
  return (
    <MeContext.Provider value={me.data}>
      <Shell>
        <Boundary key={path}>
          <Suspense fallback={<Waiting />}>
            <Switch>
              {pages.map(([path, component]) => (
                <Route key={path} path={path} component={component} />
              ))}
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Boundary>
      </Shell>
    </MeContext.Provider>
  )
}

/** Back to here afterwards. */
function signInFirst(): string {
  const { pathname, search } = window.location
  const here = pathname + search
  return here === '/' ? '/sign-in' : `/sign-in?then=${encodeURIComponent(here)}`
}

function Waiting() {
  return (
    <Center mih="50vh" role="status" aria-label="Loading">
      <Loader />
    </Center>
  )
}
