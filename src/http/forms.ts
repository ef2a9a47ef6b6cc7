// Patterns of text that several schemas share, and what to call what has to match them.
const FORMS = {
  COLOR: ['^#[0-9a-fA-F]{6}$', 'a color such as #1b5fd1'],
  PICTURE: ['^(https://\\S+|/images/[0-9a-f]{32}\\.[a-z]+)$', 'an https URL, or the path of an uploaded image'],
  UUID: ['^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$', 'a UUID'],
  EMAIL: ["^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9-]+(\\.[a-zA-Z0-9-]+)+$", 'an email address such as name@example.com'], // prettier-ignore
  UNIX_SECONDS: ['^\\d{1,12}$', 'a time in Unix seconds'],
  SHA256: ['^[0-9a-fA-F]{64}$', '64 hexadecimal digits'],
  LANGUAGE: ['^[A-Za-z]{2}([-_][A-Za-z0-9]{2,8})*$', 'a language such as de or pt-BR'],
} as const

export const pattern = (of: keyof typeof FORMS): string => FORMS[of][0]

const NAMES = new Map<string, string>(Object.values(FORMS))

/** What has to match a pattern; undefined for one that is used once. */
export const nameOfPattern = (text: string): string | undefined => NAMES.get(text)
