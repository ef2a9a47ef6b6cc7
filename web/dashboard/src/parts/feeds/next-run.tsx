import { Time } from '../time.tsx'

/** One that is due starts within seconds. */
export function NextRun({ at }: { at: string | null }) {
  return at !== null && new Date(at) <= new Date() ? 'now' : <Time at={at} ago />
}
