// A receiver that verifies the postbacks of one app, as its settings send them: the functions of
// examples/verify-postback, and a server around them. test/receiver-code.test.ts runs every one of them.
export const LANGUAGES = ['Node', 'PHP', 'Python', 'Go'] as const
export type Language = (typeof LANGUAGES)[number]

export type ReceiverSettings = {
  method: 'GET' | 'POST'
  /** With macros. */
  url: string
  /** The environment variable that holds the signing secrets. */
  secretName: string
}

type Parts = {
  secretName: string
  origin: string
  /** The names of the parameters that say what happened. */
  fields: string[]
}

/** `verify`: the file of this language in examples/verify-postback. */
export function writeReceiver(
  language: Language,
  verify: string,
  { method, url, secretName }: ReceiverSettings,
): string {
  const functions = copiedPart(verify)
  const parts: Parts = { secretName, origin: new URL(url).origin, fields: fieldsOf(url) }
  const proof = method === 'POST' ? 'body' : url.endsWith('={signature}') ? 'signature' : 'url'
  return WRITERS[language](functions, parts, proof)
}

type Proof = 'body' | 'url' | 'signature'
type Writer = (functions: string, parts: Parts, proof: Proof) => string

/** What a reader copies; the rest of such a file tries it. */
export const copiedPart = (file: string) => /Copy from here\n(.*?)\n[^\n]*to here\./s.exec(file)?.[1]?.trim() ?? ''

const SHOWN = ['user_id', 'transaction_id', 'event_id', 'status', 'reward', 'payout_local', 'is_test']

/** As the URL names them. PHP cannot read a name with a dot as it is, and no one should have to quote one. */
const fieldsOf = (url: string) =>
  [...new URL(url).searchParams]
    .filter(([name, value]) => /^\w[\w-]*$/.test(name) && SHOWN.some((macro) => value === `{${macro}}`))
    .map(([name]) => name)

/** For the environment: Lucky Coins becomes LUCKY_COINS_SIGNING_SECRET. */
export function secretNameOf(appName: string): string {
  const plain = appName.normalize('NFKD').replaceAll(/\p{M}/gu, '').toUpperCase()
  const words = plain.split(/[^A-Z0-9]+/).filter((word) => word !== '')
  const name = words.join('_').slice(0, 40)
  return `${/^[A-Z]/.test(name) ? name : ['APP', ...words].join('_').slice(0, 40)}_SIGNING_SECRET`
}

const NOTE = 'Verified. Credit each ID once, and nothing in test mode.'

const node: Writer = (functions, { secretName, origin, fields }, proof) => {
  const values = fields.map((name) => `query.get('${name}')`)
  const refuse = `return void response.writeHead(401).end()`
  const inner =
    proof === 'body'
      ? [
          `  const chunks = []`,
          `  for await (const chunk of request) chunks.push(chunk)`,
          `  const body = Buffer.concat(chunks)`,
          `  if (!verifyPostback(secrets, request.headers, body)) ${refuse}`,
          `  const { id, data } = JSON.parse(body.toString())`,
          `  // ${NOTE}`,
          `  console.log(id, data.user_id, data.status, data.payout_local, data.is_test)`,
        ]
      : [
          `  const url = '${origin}' + request.url`,
          proof === 'url'
            ? `  if (!verifyPostback(secrets, request.headers, url)) ${refuse}`
            : `  if (!verifySignature(secrets, url)) ${refuse}`,
          `  const query = new URL(url).searchParams`,
          `  // ${NOTE}`,
          `  console.log(${values.length === 0 ? 'query' : values.join(', ')})`,
        ]
  return [
    `import { createServer } from 'node:http'`,
    functions,
    ``,
    `// Live and test, and during a rotation old and new, separated by spaces.`,
    `const secrets = process.env.${secretName}.split(' ')`,
    ``,
    `createServer(async (request, response) => {`,
    ...inner,
    `  response.end('OK')`,
    `}).listen(Number(process.env.PORT ?? 3000))`,
  ].join('\n')
}

const php: Writer = (functions, { secretName, origin, fields }, proof) => {
  const check = {
    body: `verify_postback($secrets, array_change_key_case(getallheaders()), $body)`,
    url: `verify_postback($secrets, array_change_key_case(getallheaders()), $url)`,
    signature: `verify_signature($secrets, $url)`,
  }[proof]
  const values = fields.map((name) => `$_GET['${name}']`)
  return [
    `<?php`,
    functions,
    ``,
    `// Live and test, and during a rotation old and new, separated by spaces.`,
    `$secrets = explode(' ', getenv('${secretName}'));`,
    proof === 'body' ? `$body = file_get_contents('php://input');` : `$url = '${origin}' . $_SERVER['REQUEST_URI'];`,
    `if (!${check}) {`,
    `    http_response_code(401);`,
    `    exit;`,
    `}`,
    ...(proof === 'body'
      ? [
          `['id' => $id, 'data' => $data] = json_decode($body, true);`,
          `// ${NOTE}`,
          `error_log(json_encode([$id, $data['user_id'], $data['status'], $data['payout_local'], $data['is_test']]));`,
        ]
      : [`// ${NOTE}`, `error_log(json_encode(${values.length === 0 ? '$_GET' : `[${values.join(', ')}]`}));`]),
    `echo 'OK';`,
  ].join('\n')
}

const python: Writer = (functions, { secretName, origin, fields }, proof) => {
  const values = fields.map((name) => `query.get("${name}")`)
  const inner =
    proof === 'body'
      ? [
          `        body = self.rfile.read(int(self.headers["content-length"]))`,
          `        if not verify_postback(SECRETS, self.headers, body):`,
          `            return self.send_error(401)`,
          `        event = json.loads(body)`,
          `        data = event["data"]`,
          `        # ${NOTE}`,
          `        print(event["id"], data["user_id"], data["status"], data["payout_local"], data["is_test"], flush=True)`,
        ]
      : [
          `        url = "${origin}" + self.path`,
          proof === 'url'
            ? `        if not verify_postback(SECRETS, self.headers, url.encode()):`
            : `        if not verify_signature(SECRETS, url):`,
          `            return self.send_error(401)`,
          `        query = dict(parse_qsl(urlsplit(url).query))`,
          `        # ${NOTE}`,
          `        print(${values.length === 0 ? 'query' : values.join(', ')}, flush=True)`,
        ]
  return [
    ...(proof === 'body' ? [`import json`] : []),
    `import os`,
    `from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer`,
    ...(proof === 'body' ? [] : [`from urllib.parse import parse_qsl, urlsplit`]),
    functions,
    ``,
    ``,
    `# Live and test, and during a rotation old and new, separated by spaces.`,
    `SECRETS = os.environ["${secretName}"].split(" ")`,
    ``,
    ``,
    `class Receiver(BaseHTTPRequestHandler):`,
    `    def do_${proof === 'body' ? 'POST' : 'GET'}(self):`,
    ...inner,
    `        self.send_response(200)`,
    `        self.end_headers()`,
    `        self.wfile.write(b"OK")`,
    ``,
    ``,
    `ThreadingHTTPServer(("", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()`,
  ].join('\n')
}

const go: Writer = (functions, { secretName, origin, fields }, proof) => {
  const values = fields.map((name) => `query.Get("${name}")`)
  const refuse = [`\t\t\tresponse.WriteHeader(http.StatusUnauthorized)`, `\t\t\treturn`, `\t\t}`]
  const inner =
    proof === 'body'
      ? [
          `\t\tbody, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))`,
          `\t\tif err != nil || !VerifyPostback(secrets, request.Header, body, time.Now()) {`,
          ...refuse,
          `\t\tvar event struct {`,
          `\t\t\tID   string`,
          `\t\t\tData struct {`,
          `\t\t\t\tUserID      string  \`json:"user_id"\``,
          `\t\t\t\tStatus      string`,
          `\t\t\t\tPayoutLocal float64 \`json:"payout_local"\``,
          `\t\t\t\tIsTest      bool    \`json:"is_test"\``,
          `\t\t\t}`,
          `\t\t}`,
          `\t\tif err := json.Unmarshal(body, &event); err != nil {`,
          `\t\t\tpanic(err)`,
          `\t\t}`,
          `\t\t// ${NOTE}`,
          `\t\tlog.Println(event.ID, event.Data.UserID, event.Data.Status, event.Data.PayoutLocal, event.Data.IsTest)`,
        ]
      : [
          `\t\turl := "${origin}" + request.RequestURI`,
          proof === 'url'
            ? `\t\tif !VerifyPostback(secrets, request.Header, []byte(url), time.Now()) {`
            : `\t\tif !VerifySignature(secrets, url) {`,
          ...refuse,
          `\t\tquery := request.URL.Query()`,
          `\t\t// ${NOTE}`,
          `\t\tlog.Println(${values.length === 0 ? 'query' : values.join(', ')})`,
        ]
  return [
    `package main`,
    ``,
    `import (`,
    ...(proof === 'body' ? [`\t"encoding/json"`, `\t"io"`] : []),
    `\t"log"`,
    `\t"os"`,
    `)`,
    ``,
    functions,
    ``,
    `func main() {`,
    `\t// Live and test, and during a rotation old and new, separated by spaces.`,
    `\tsecrets := strings.Split(os.Getenv("${secretName}"), " ")`,
    `\tport := os.Getenv("PORT")`,
    `\tif port == "" {`,
    `\t\tport = "3000"`,
    `\t}`,
    `\thttp.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {`,
    ...inner,
    `\t\tresponse.Write([]byte("OK"))`,
    `\t})`,
    `\tlog.Fatal(http.ListenAndServe(":"+port, nil))`,
    `}`,
  ].join('\n')
}

const WRITERS: Record<Language, Writer> = { Node: node, PHP: php, Python: python, Go: go }
