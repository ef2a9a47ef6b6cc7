// Requests of a locker's page. What the server refuses is an error that says why, by field.
export class Refused extends Error {
  readonly details: Record<string, string>
  readonly status: number
  constructor(status: number, message: string, details: Record<string, string>) {
    super(message)
    this.status = status
    this.details = details
  }
}

export async function post<T>(path: string, data: object): Promise<T> {
  const response = await fetch(path, { method: 'POST', credentials: 'omit', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(data) }) // prettier-ignore
  type Answer = { data: T; error?: { message: string; details: Record<string, string> | null } }
  const answer = (await response.json()) as Answer
  if (answer.error) throw new Refused(response.status, answer.error.message, answer.error.details ?? {})
  return answer.data
}
