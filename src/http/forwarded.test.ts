// What proxies write for the client's address, and what becomes of it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { App } from '../app.ts'
import { Visitor, createPerson } from '../../test/people.ts'
import { useWorld } from '../../test/world.ts'
import { readForwarded } from './forwarded.ts'

let behindProxy: App
after(() => behindProxy.close())
const world = useWorld('forwarded', async () => {
  behindProxy = await world.start({ trustProxy: ['127.0.0.1'] })
})

test('an entry is an address, with or without a port', () => {
  assert.equal(readForwarded('203.0.113.7'), '203.0.113.7')
  assert.equal(readForwarded('203.0.113.7:5123'), '203.0.113.7')
  assert.equal(readForwarded('[2001:db8::1]:443'), '2001:db8::1')
  assert.equal(readForwarded('[2001:db8::1]'), '2001:db8::1')
  assert.equal(readForwarded('2001:DB8:0::1'), '2001:db8::1')
  assert.equal(readForwarded('fe80::1%eth0'), 'fe80::1')
  assert.equal(readForwarded(' 198.51.100.1 ,203.0.113.7:1'), '198.51.100.1, 203.0.113.7')
})

test('what stands left of something else is not known', () => {
  for (const junk of ['unknown', '_hidden', '999.1.1.1', '1.2.3.4.5', 'x:1', '', '[', '1.2.3.4:', '010.1.1.1'])
    assert.equal(readForwarded(`198.51.100.1, ${junk}, 203.0.113.7`), '203.0.113.7', junk)
  assert.equal(readForwarded('unknown'), '')
})

test('a change is recorded with the address of the client, or of the proxy that names none', async () => {
  const { id, email } = await createPerson(world, 'operator')
  await new Visitor(world).signIn(email)
  for (const [forwarded, ip] of [
    ['203.0.113.7:5123', '203.0.113.7'],
    ['unknown', '127.0.0.1'],
    ['198.51.100.1, 999.1.1.1', '127.0.0.1'],
  ] as const) {
    const signedIn = await behindProxy.server.inject({
      method: 'POST',
      url: '/manage/v1/session',
      headers: { origin: world.config.publicUrl, 'x-forwarded-for': forwarded },
      payload: { email, password: 'correct horse battery' },
    })
    assert.equal(signedIn.statusCode, 200, forwarded)
    const cookie = [signedIn.headers['set-cookie'] ?? []].flat().map((one) => one.split(';')[0]).join('; ') // prettier-ignore
    const created = await behindProxy.server.inject({
      method: 'POST',
      url: '/manage/v1/publishers',
      headers: { origin: world.config.publicUrl, cookie, 'x-forwarded-for': forwarded },
      payload: { name: `Behind ${forwarded}` },
    })
    assert.equal(created.statusCode, 200, created.body)
    const audited = await world.database.db.selectFrom('audit_log').select('ip').where('person_id', '=', id).orderBy('audit_id', 'desc').executeTakeFirstOrThrow() // prettier-ignore
    assert.equal(audited.ip, ip)
  }
})
