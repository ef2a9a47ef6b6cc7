// Pages whose code comes when they are needed. React's own lazy shows what has come up to 0.3 s late, so as not to
// flicker; these pages are there at once.
import { Center, Loader } from '@mantine/core'
import { type ComponentType, useEffect, useState } from 'react'
import type { Path } from '../lib/operations.ts'
import { askAhead } from '../lib/queries.ts'

/** `asks`: what the page asks for first, which then comes together with its code. */
export function lazyPage(load: () => Promise<{ default: ComponentType }>, asks?: Path<'GET'>): ComponentType {
  let loaded: ComponentType | null = null
  let loading: ReturnType<typeof load> | null = null
  /** Before the frame around the page is drawn, which takes as long as the way to the server. */
  const begin = () => {
    if (loading === null && asks !== undefined) askAhead(asks)
    return (loading ??= load().finally(() => (loading = null)))
  }
  return function LazyPage() {
    const [Content, setContent] = useState(() => loaded)
    const [error, setError] = useState<Error | null>(null)
    if (Content === null && error === null) begin().catch(() => {}) // shown below
    useEffect(() => {
      if (Content !== null) return
      begin().then((module) => {
        loaded = module.default
        setContent(() => module.default)
      }, setError)
    }, [Content])
    if (error !== null) throw error // for the boundary around it
    return Content === null ? <Waiting /> : <Content />
  }
}

export function Waiting() {
  return (
    <Center mih="50vh" role="status" aria-label="Loading">
      <Loader />
    </Center>
  )
}
