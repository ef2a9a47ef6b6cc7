// Requests to paste, in the languages of most publishers, without anything to install.
export const LANGUAGES = ['curl', 'Node', 'PHP', 'Python'] as const
export type Language = (typeof LANGUAGES)[number]

export type Example = {
  url: string
  apiKey: string
  apiSecret: string
  /** Sent as JSON by POST; without it the request is a GET. */
  body?: Record<string, string | number>
}

export const SECRET_PLACEHOLDER = 'YOUR_API_SECRET'

export function writeSnippet(language: Language, example: Example): string {
  return { curl, Node: node, PHP: php, Python: python }[language](example)
}

const CONTENT_TYPE = 'application/json'

function headersOf({ apiKey, apiSecret, body }: Example): [name: string, value: string][] {
  const headers: [string, string][] = [
    ['X-API-Key', apiKey],
    ['X-API-Secret', apiSecret],
  ]
  return body === undefined ? headers : [...headers, ['Content-Type', CONTENT_TYPE]]
}

function curl(example: Example): string {
  const lines = [`curl "${example.url}"`, ...headersOf(example).map(([name, value]) => `-H "${name}: ${value}"`)]
  if (example.body !== undefined) lines.push(`-d '${JSON.stringify(example.body)}'`)
  return lines.join(' \\\n  ')
}

function node(example: Example): string {
  const { body } = example
  return [
    `const response = await fetch('${example.url}', {`,
    ...(body === undefined ? [] : [`  method: 'POST',`]),
    `  headers: {`,
    ...headersOf(example).map(([name, value]) => `    '${name}': '${value}',`),
    `  },`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
    `})`,
    `console.log(await response.json())`,
  ].join('\n')
}

function php(example: Example): string {
  const { body } = example
  const fields = body === undefined ? '' : Object.entries(body).map(([k, v]) => `'${k}' => ${quoted(v)}`).join(', ') // prettier-ignore
  return [
    `<?php`,
    `$context = stream_context_create(['http' => [`,
    ...(body === undefined ? [] : [`  'method' => 'POST',`]),
    `  'header' => [`,
    ...headersOf(example).map(([name, value]) => `    '${name}: ${value}',`),
    `  ],`,
    ...(body === undefined ? [] : [`  'content' => json_encode([${fields}]),`]),
    `  'ignore_errors' => true,`,
    `]]);`,
    `$answer = file_get_contents('${example.url}', false, $context);`,
    `print_r(json_decode($answer, true));`,
  ].join('\n')
}

const quoted = (value: string | number) => (typeof value === 'number' ? String(value) : `'${value}'`)

function python(example: Example): string {
  const { body } = example
  return [
    `import json, urllib.request`,
    ``,
    `request = urllib.request.Request(`,
    `    '${example.url}',`,
    `    headers={`,
    ...headersOf(example).map(([name, value]) => `        '${name}': '${value}',`),
    `        'User-Agent': 'my-app/1.0',`,
    `    },`,
    ...(body === undefined ? [] : [`    data=json.dumps(${JSON.stringify(body)}).encode(),`]),
    `)`,
    `with urllib.request.urlopen(request) as answer:`,
    `    print(json.dumps(json.load(answer), indent=2))`,
  ].join('\n')
}
