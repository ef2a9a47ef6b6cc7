// Processes that see another time, by libfaketime. Not by its command, which fails where a process that was killed left its
// semaphore behind.
import { globSync } from 'node:fs'

export function fakeTime(more: Record<string, string>): Record<string, string> {
  const [preload = 'libfaketime.so.1'] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
  return { LD_PRELOAD: preload, FAKETIME_DISABLE_SHM: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1', ...more }
}
