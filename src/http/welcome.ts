// The front page, until there is a dashboard.
import type { FastifyInstance } from 'fastify'
import { sendPage } from './pages.ts'

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Offerdeck</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/welcome.css">
</head>
<body>
<main>
<h1><img src="/icon.svg" alt="" width="48" height="48"> Offerdeck</h1>
<p class="lead">This offers network is up and running.</p>
<ul>
<li><a href="/docs">API reference</a><span>Every operation, with a form to try it.</span></li>
<li><a href="/openapi.json">OpenAPI description</a><span>For generating a client.</span></li>
<li><a href="/readyz">Health</a><span>Is the server ready, and its database there.</span></li>
</ul>
<p>An app's API key and secret come from <code>npx offerdeck app create</code>. In the demo they are printed when the server starts, together with a request to paste.</p>
</main>
</body>
</html>
`

const STYLE = `:root { color-scheme: light dark; --ink: #17202a; --soft: #566370; --paper: #fbfbfd; --card: #fff; --line: #dfe4ea; --link: #1b5fd1 }
@media (prefers-color-scheme: dark) { :root { --ink: #eef2f6; --soft: #a6b2bf; --paper: #12161b; --card: #1b2128; --line: #2d3640; --link: #8ab8ff } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
main { max-width: 40rem; margin: 0 auto; padding: 12vh 1.25rem 4rem }
h1 { display: flex; align-items: center; gap: .75rem; margin: 0; font-size: 2rem; letter-spacing: -.02em }
.lead { margin: .5rem 0 2rem; font-size: 1.15rem; color: var(--soft) }
ul { list-style: none; margin: 0 0 2rem; padding: 0; border: 1px solid var(--line); border-radius: 12px; background: var(--card); overflow: hidden }
li { display: flex; flex-wrap: wrap; gap: .15rem 1rem; justify-content: space-between; padding: .9rem 1.1rem }
li + li { border-top: 1px solid var(--line) }
a { color: var(--link); font-weight: 600 }
li span, p:last-child { color: var(--soft) }
code { font: .9em ui-monospace, monospace; background: var(--card); border: 1px solid var(--line); border-radius: 5px; padding: .1em .35em }
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="11" fill="#1b5fd1"/><rect x="15" y="9" width="21" height="27" rx="4" fill="#fff" opacity=".45"/><rect x="11" y="13" width="21" height="27" rx="4" fill="#fff"/><path d="m16 27 4 4 7-8" fill="none" stroke="#1b5fd1" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/></svg>
`

export function welcomeRoutes(server: FastifyInstance): void {
  const file = (path: string, type: string, content: string) =>
    server.get(path, { schema: { hide: true } }, async (_request, reply) =>
      reply.type(type).header('Cache-Control', 'public, max-age=3600').send(content),
    )
  server.get('/', { schema: { hide: true } }, async (_request, reply) => sendPage(reply, PAGE))
  file('/welcome.css', 'text/css; charset=utf-8', STYLE)
  file('/icon.svg', 'image/svg+xml', ICON)
  file('/robots.txt', 'text/plain; charset=utf-8', 'User-agent: *\nDisallow: /\n')
}
