const UNRELEASED = '## Unreleased\n'

/** Gives what is unreleased a version and a date. */
export function releaseChangelog(text: string, version: string, date: string): string {
  const [before, rest] = text.split(UNRELEASED)
  if (before === undefined || rest === undefined) throw new Error('CHANGELOG.md has no section "Unreleased".')
  if (!/^\s*- /.test(rest)) throw new Error('CHANGELOG.md has nothing under "Unreleased": there is nothing to release.')
  return `${before}${UNRELEASED}\n## ${version} (${date})\n${rest}`
}
