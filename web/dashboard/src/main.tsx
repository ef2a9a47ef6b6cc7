import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './style.css'
import { MantineProvider } from '@mantine/core'
import { ModalsProvider } from '@mantine/modals'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { Dashboard } from './dashboard.tsx'
import { colorSchemeManager } from './lib/color-scheme.ts'
import { guardLeaving, guardNavigation, useGuardedPath, useGuardedSearch } from './lib/leave.ts'
import { keepMode } from './lib/mode.ts'
import { watchPresses } from './lib/press.ts'
import { queryClient } from './lib/queries.ts'
import { confirm } from './parts/confirm.tsx'
import { theme } from './theme.ts'

// The policy of the page allows only styles that know this word.
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
setNonce(nonce)

watchPresses()
guardLeaving(() =>
  confirm({
    title: 'Leave without saving?',
    text: 'Your changes on this page have not been saved.',
    action: 'Discard changes',
    cancel: 'Keep editing',
  }),
)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemeManager}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <ModalsProvider>
          <Notifications position="top-right" />
          <Router hook={useGuardedPath} searchHook={useGuardedSearch} aroundNav={guardNavigation} hrefs={keepMode}>
            <Dashboard />
          </Router>
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
