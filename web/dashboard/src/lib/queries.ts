// How pages ask: cached, retried when the server cannot be reached, never when it said no.
import {
  MutationCache,
  QueryCache,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { notifications } from '@mantine/notifications'
import { ApiError, request, withQuery } from './api.ts'
import type { Path, Query, Reply } from './operations.ts'
import { describeProblems } from './problems.ts'

const FRESH_MS = 5_000
const OFFLINE_MS = 5_000 // when the server cannot be reached it is asked again

function triesOf(error: Error): number {
  if (!(error instanceof ApiError)) return 0
  if (error.code === 'OFFLINE') return 1
  return error.status >= 400 && error.status < 500 ? 0 : 3
}

/** A refusal may mean that the person's role was changed meanwhile: then the pages offer what the new one may do. */
const onError = (error: Error) => {
  if (error instanceof ApiError && error.code === 'NOT_ALLOWED')
    void queryClient.invalidateQueries({ queryKey: ['/me'] })
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < triesOf(error),
      refetchOnWindowFocus: true,
      networkMode: 'always', // without a connection it fails at once, and says so
    },
    mutations: { networkMode: 'always' },
  },
})

/** Asks for what a page that is on its way will ask for. */
export function askAhead(path: Path<'GET'>): void {
  void queryClient.prefetchQuery({ queryKey: [path], queryFn: ({ signal }) => request('GET', path, undefined, signal) })
}

type GetOptions<P extends string> = {
  query?: Query<'GET', P>
  /** Asked again and again, for what changes while one looks at it. */
  everyMs?: number
}

/** `path` null: nothing is asked yet. */
export function useGet<const P extends Path<'GET'>>(
  path: P | null,
  { query, everyMs }: GetOptions<P> = {},
): UseQueryResult<Reply<'GET', P>, ApiError> {
  const key = path === null ? null : withQuery(path, query as Parameters<typeof withQuery>[1])
  return useQuery<Reply<'GET', P>, ApiError>({
    queryKey: [key],
    // Not by get(): finding out what any path might answer took the compiler longer than all the rest.
    queryFn: ({ signal }) => request('GET', String(key), undefined, signal),
    enabled: path !== null,
    refetchInterval: ({ state }) => (state.error?.code === 'OFFLINE' ? OFFLINE_MS : (everyMs ?? false)),
    // The page before stays while the next one comes; but never what was asked of something else.
    placeholderData: (before, asked) => (isSame(asked?.queryKey[0], path) ? before : undefined),
  })
}

const isSame = (before: unknown, path: string | null) => String(before).split('?')[0] === String(path).split('?')[0]

type ChangeOptions<T> = {
  /** Everything whose path begins like one of these is asked for again. */
  refresh?: string[]
  /** Said when it worked. */
  done?: string
  onDone?: (result: T) => void
  /** For callers that show the error themselves, such as a form. */
  onError?: (error: ApiError) => void
}

/** Asks again for everything whose path begins like one of these. */
export function useRefresh(): (prefixes: readonly string[]) => Promise<void> {
  const client = useQueryClient()
  return (prefixes) =>
    client.invalidateQueries({
      predicate: ({ queryKey: [path] }) => typeof path === 'string' && prefixes.some((one) => path.startsWith(one)),
    })
}

/** Something that changes the server's mind. */
export function useChange<V, T>(change: (input: V) => Promise<T>, options: ChangeOptions<T> = {}) {
  const refreshAll = useRefresh()
  return useMutation<T, ApiError, V>({
    mutationFn: change,
    onSuccess: async (result) => {
      const { refresh = [], done, onDone } = options
      await refreshAll(refresh)
      if (done !== undefined) notifications.show({ message: done, color: 'green' })
      onDone?.(result)
    },
    onError: (error) => {
      if (options.onError !== undefined) options.onError(error)
      else notifications.show({ title: 'Something went wrong', message: describeProblems(error), color: 'red' })
    },
  })
}
