// Certificates created by openssl: self-signed ones, and those of an authority that only tests trust.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFolder } from './folders.ts'

export type Certificate = { key: string; cert: string }

export type Authority = Certificate & { issue(wanted: Wanted): Certificate }

type Wanted = {
  /** As openssl has them: DNS:example.com, IP:127.0.0.1. */
  names: readonly string[]
  from?: string
  to?: string
  key?: 'weak'
}

const LOCAL = ['DNS:localhost', 'IP:127.0.0.1']
const EXPIRED = { from: '20200101', to: '20200102' }
const CONFIG = `[ca]
default_ca=own
[own]
database=database
new_certs_dir=.
default_md=sha256
policy=any
rand_serial=yes
copy_extensions=copy
[any]
commonName=supplied
`

/** A self-signed certificate for localhost and 127.0.0.1. */
export const createCertificate = (validity: 'valid' | 'expired'): Certificate =>
  selfSign({ names: LOCAL, ...(validity === 'expired' && EXPIRED) })

export const selfSign = (wanted: Wanted): Certificate => sign(wanted, null)

/** Its own, or one that another authority vouches for. */
export function createAuthority(by: Certificate | null = null): Authority {
  const own = sign({ names: [] }, by)
  return { ...own, issue: (wanted) => sign(wanted, own) }
}

/** Null: signs itself. Without names it is an authority. */
function sign({ names, from = '20200101', to = '20700101', key }: Wanted, by: Certificate | null): Certificate {
  const folder = createFolder('certificate')
  const file = (name: string) => join(folder, name)
  const openssl = (args: string, ...more: string[]) =>
    execFileSync('openssl', [...args.split(' '), ...more], { stdio: 'ignore', cwd: folder })
  try {
    writeFileSync(file('database'), '')
    writeFileSync(file('ca.cnf'), CONFIG)
    const extensions = names.length > 0 ? `subjectAltName=${names.join(',')}` : 'basicConstraints=critical,CA:TRUE'
    if (key === 'weak') openssl('genrsa -out key.pem 1024')
    else openssl('ecparam -name prime256v1 -genkey -noout -out key.pem')
    openssl('req -new -key key.pem -out request.pem', '-subj', '/CN=A test of postbacks', '-addext', extensions)
    const signer = by === null ? '-selfsign -keyfile key.pem' : '-cert by.pem -keyfile by-key.pem'
    if (by !== null) writeFileSync(file('by.pem'), by.cert)
    if (by !== null) writeFileSync(file('by-key.pem'), by.key)
    const dates = `-startdate ${from}000000Z -enddate ${to}000000Z`
    openssl(`ca -batch ${signer} -config ca.cnf -notext -in request.pem -out cert.pem ${dates}`)
    return { key: readFileSync(file('key.pem'), 'utf8'), cert: readFileSync(file('cert.pem'), 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
