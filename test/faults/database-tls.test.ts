// Encrypted connections to PostgreSQL, with a certificate of the operator's own authority.
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSign } from '../certificates.ts'
import { createFolder } from '../folders.ts'
import { Installation } from '../installation.ts'
import { PostgresServer } from '../postgres-server.ts'
import { testLong } from '../tier.ts'
import { SECRET_KEY } from '../world.ts'

testLong('a server is trusted by its authority and its name, and no other', async () => {
  const [server, home, folder] = [await PostgresServer.create(), new Installation(), createFolder('authority')]
  const { cert, key } = selfSign({ names: ['DNS:localhost'] })
  const other = selfSign({ names: ['DNS:localhost'] })
  const [authority, stranger] = [join(folder, 'authority.pem'), join(folder, 'stranger.pem')]
  writeFileSync(authority, cert)
  writeFileSync(stranger, other.cert)
  const files = { ssl: 'on', ssl_cert_file: server.write('server.crt', cert), ssl_key_file: server.write('server.key', key) } // prettier-ignore
  await server.signal('SIGINT')
  server.configure(files)
  await server.start()
  const find = async (host: string, parameters: string) => {
    const url = `${server.url.replace('127.0.0.1', host)}?${parameters}`
    const { out } = await home.run(['doctor'], { DATABASE_URL: url, SECRET_KEY })
    return /^.* database .*$/m.exec(out)?.[0] ?? out
  }
  assert.match(await find('localhost', `sslmode=verify-full&sslrootcert=${authority}`), /^ok /)
  assert.match(await find('127.0.0.1', `sslmode=verify-full&sslrootcert=${authority}`), /^FAIL .*(altnames|IP)/)
  assert.match(await find('localhost', `sslmode=verify-full&sslrootcert=${stranger}`), /^FAIL .*self-signed/)
  assert.match(await find('localhost', 'sslmode=verify-full'), /^FAIL .*self-signed/)
  await server.remove()
  await home.remove()
  rmSync(folder, { recursive: true })
})
