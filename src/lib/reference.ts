/** How a person names a thing: "7" is its ID or its name; "id:7" and "name:7" say which. No ID is 0, no name empty. */
export type Reference = { id: number; name: string }

export function parseReference(text: string): Reference {
  const [, kind, given = text] = /^(id|name):(.*)$/s.exec(text) ?? []
  const id = kind !== 'name' && /^\d{1,15}$/.test(given) ? Number(given) : 0
  return { id, name: kind === 'id' ? '' : given }
}
