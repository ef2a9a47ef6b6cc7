// Every setting, once: `offerdeck config`, the system page and docs/configuration.md come from this list. config.ts reads them.
import { DATA_SETTINGS, type Setting } from './settings-data.ts'

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const SETTINGS: readonly Setting[] = [
  { name: 'PORT', fallback: '8080', about: 'Port to listen on.' },
  {
    name: 'HOST',
    fallback: '127.0.0.1',
    about: 'Address to listen on. `0.0.0.0` or `::` makes the server reachable from other machines.',
  },
  {
    name: 'PUBLIC_URL',
    fallback: 'from `HOST` and `PORT`',
    about:
      'Where the outside world reaches this server, such as `https://offers.example.com`: scheme, host and port, no path. ' +
      'Links are built from it, never from the `Host` header. Required in production, and then `https`.',
  },
  {
    name: 'DATA_DIR',
    fallback: './data',
    about: 'Folder for the embedded database, the secret key made for it, and the spool.',
  },
  {
    name: 'DATABASE_URL',
    fallback: 'embedded PostgreSQL',
    about:
      'A PostgreSQL 14 or later to use instead of the embedded one: `postgres://user:password@host:5432/name`. ' +
      'Encrypted: `?sslmode=verify-full`, with `&sslrootcert=/etc/ssl/our-authority.pem` for an authority of your own. A new connection may take 5 s, or `?connect_timeout=` seconds. Behind PgBouncer, see `PREPARED_STATEMENTS`. Its role gets a `statement_timeout` of 20 s, an `idle_in_transaction_session_timeout` of 15 s and `jit = off` in this database, unless you set others by `ALTER ROLE`.',
    secret: true,
  },
  {
    name: 'DATABASE_REPLICA_URL',
    fallback: 'none',
    about:
      'A streaming replica of that database, for what the dashboard reads: reports, lists, logs. While it is unavailable, or more than 2 s behind, the dashboard reads from `DATABASE_URL`. API responses never come from it.',
    secret: true,
  },
  {
    name: 'PREPARED_STATEMENTS',
    fallback: 'on',
    about:
      '`on` or `off`. Off behind a pooler that gives each transaction another connection and does not follow prepared statements: ' +
      'PgBouncer before 1.21, or with `max_prepared_statements` 0. Conversions then cost more CPU. `npx offerdeck doctor` says whether you need it.',
  },
  {
    name: 'REDIS_URL',
    fallback: 'none',
    about:
      'A Redis that shares the rate limits between nodes: `redis://user:password@host:6379`, several under Sentinel ' +
      '(`redis+sentinel://host:26379,host:26379/name`) or a cluster (`redis+cluster://host:6379,host:6379`); `rediss` for encrypted connections. ' +
      'It needs no persistence. Without it, each node counts on its own.',
    secret: true,
  },
  {
    name: 'TLS_CERT',
    fallback: 'none',
    about: 'File with the certificate chain (PEM). Together with `TLS_KEY`, serves HTTPS.',
  },
  { name: 'TLS_KEY', fallback: 'none', about: 'File with the private key (PEM).' },
  {
    name: 'TRUST_PROXY',
    fallback: 'none',
    about:
      'Addresses of the reverse proxies in front, as CIDRs separated by commas, such as `10.0.0.0/8,127.0.0.1`. ' +
      'Only they may say who the client is and that it came by HTTPS.',
  },
  {
    name: 'REQUIRE_HTTPS',
    fallback: 'on when `NODE_ENV=production`, else off',
    about: '`on` or `off`. When on, plain HTTP gets status 400 instead of an answer.',
  },
  {
    name: 'REQUIRE_2FA',
    fallback: 'on when `NODE_ENV=production`, else off',
    about:
      '`on` or `off`. When on, an operator without two-factor sign-in can do nothing but set it up, right after signing in. ' +
      "It does not apply to publishers' people.",
  },
  {
    name: 'GEOIP_DB',
    fallback: 'none',
    about:
      'A country or city file in MaxMind format (`.mmdb`), to look up the country of a click. Read again when it changes.',
  },
  {
    name: 'COUNTRY_HEADER',
    fallback: 'none',
    about:
      "The header in which a proxy of `TRUST_PROXY` sends the visitor's country, such as `CF-IPCountry`. It takes precedence over `GEOIP_DB`.",
  },
  {
    name: 'LISTED_IPS',
    fallback: 'none',
    about:
      'A file of suspected addresses, such as those of data centers: one address or CIDR per line, `#` begins a comment. ' +
      'Clicks from there get the fraud signal `listed_ip`. Read again when it changes.',
  },
  ...DATA_SETTINGS,
  {
    name: 'POSTBACK_ALLOW',
    fallback: 'none',
    about:
      'Addresses that postbacks may go to although they are not public, as CIDRs separated by commas, such as `10.1.0.0/16`. ' +
      'Without it only public addresses are reached, so that publishers cannot probe your network.',
  },
  {
    name: 'POSTBACK_DENY',
    fallback: 'none',
    about:
      'Addresses that postbacks may never go to, as CIDRs separated by commas. Takes precedence over `POSTBACK_ALLOW`.',
  },
  {
    name: 'POSTBACK_PROXY',
    fallback: 'none',
    about:
      'A forward proxy for postbacks: `http://user:password@host:3128`. It must allow `CONNECT` to IP addresses, and to port 80 where publishers use `http://`.',
    secret: true,
  },
  {
    name: 'SMTP_URL',
    fallback: 'none',
    about:
      'A mail server for invitations, sign-up, reset links, security mails, notices and tickets: ' +
      '`smtp://user:password@host:587`. Without it notices are only listed, an operator hands over the links of ' +
      'invitations, and publishers cannot sign up.',
    secret: true,
  },
  {
    name: 'MAIL_FROM',
    fallback: '`offerdeck@` and the host of `PUBLIC_URL`',
    about: 'The sender of mails.',
  },
  {
    name: 'SECURITY_CONTACT',
    fallback: 'none',
    about:
      'Where to report vulnerabilities of this installation: an email address, or a URL that starts with `https://` or `tel:`. ' +
      'It is published at `/.well-known/security.txt` (RFC 9116), which is 404 without it.',
  },
  {
    name: 'METRICS_PORT',
    fallback: 'none',
    about:
      'A port of its own for Prometheus, such as `9464`: figures at `/metrics`, and `/healthz`. Also for `serve --only worker`, which has no other port.',
  },
  {
    name: 'METRICS_HOST',
    fallback: '127.0.0.1',
    about: 'Address that `METRICS_PORT` listens on.',
  },
  {
    name: 'METRICS_TOKEN',
    fallback: 'none',
    about:
      'Serves `/metrics` at `PORT`, too, to requests with `Authorization: Bearer` and this token (16 characters or more). `METRICS_PORT` then asks for it as well.',
    secret: true,
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: 'none',
    about:
      'Where an OpenTelemetry collector accepts traces over OTLP/HTTP as JSON, such as `http://127.0.0.1:4318`; `/v1/traces` is added. Without it there are no traces, and they cost nothing.',
    secret: true,
  },
  {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    fallback: 'none',
    about:
      'Headers for the collector, such as `authorization=Bearer%20abc`: names and values separated by commas, percent-encoded.',
    secret: true,
  },
  {
    name: 'OTEL_SERVICE_NAME',
    fallback: 'offerdeck',
    about: 'The name of this installation in traces.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    fallback: '0.1',
    about:
      'The share of traces that is recorded, from 0 to 1; the same on every node. The ID of a request decides at random; a click, its confirmation and its postbacks are recorded together.',
  },
  {
    name: 'DRAIN_SECONDS',
    fallback: '5 when `NODE_ENV=production`, else 0',
    about:
      'How long the API keeps serving after SIGTERM, while `/readyz` answers 503: as long as your load balancer needs to notice. Up to 300.',
  },
  {
    name: 'PROCESSES',
    fallback: '1',
    about:
      'How many processes serve the API on `PORT`, each on a core of its own; with more than one, the worker has its own process. `auto`: one for each core, as far as memory allows with the offers that exist at the start. Each needs some 250 MB, and about 40 MB more for each 10,000 offers.',
  },
  { name: 'LOG_LEVEL', fallback: 'info', about: `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.` },
  {
    name: 'DEMO',
    fallback: 'on for the embedded database while `HOST` is this machine only, off in production',
    about: '`on` or `off`. When on, the first start fills an empty database with offers and an app for testing.',
  },
  {
    name: 'SECRET_KEY',
    fallback: 'created and kept in `DATA_DIR`',
    about:
      'Signs link tokens, peppers the stored secrets and encrypts signing secrets: at least 32 characters, the same on ' +
      'every node. Required with `DATABASE_URL`. `openssl rand -base64 48` creates one. To replace it, see `SECRET_KEY_OLD`.',
    secret: true,
  },
  {
    name: 'SECRET_KEY_OLD',
    fallback: 'none',
    about:
      'While `SECRET_KEY` is replaced: the one before, which then only reads. `npx offerdeck secret-key rotate` re-encrypts what ' +
      'was made with it, and says when it is no longer needed. With several nodes, see the README for the order of steps.',
    secret: true,
  },
]
