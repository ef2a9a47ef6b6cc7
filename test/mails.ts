// A world whose mails go to a mail server on this machine. Each test begins with no mail queued or received.
import { after, beforeEach } from 'node:test'
import { createPostman } from '../src/postman.ts'
import type { Postman } from '../src/features/accounts/mails.ts'
import { MailServer } from './mail-server.ts'
import { SECRET_KEY, useWorld } from './world.ts'

export function useMails(name: string) {
  const mails = new MailServer()
  let own: Postman
  const world = useWorld(name, async () => {
    await mails.open()
    own = openPostman()
  })
  const openPostman = () => {
    const config = { ...world.config, smtpUrl: mails.url }
    return createPostman({ config, secretKey: SECRET_KEY, database: world.database }) as Postman
  }
  after(async () => {
    await own.close()
    await mails.close()
  })
  beforeEach(async () => {
    await world.database.db.deleteFrom('mails').execute()
    mails.got.length = 0
    mails.answer = () => null
  })
  const readRows = () => world.database.db.selectFrom('mails').selectAll().orderBy('mail_id').execute()
  return { world, mails, postman: { send: (now?: Date) => own.send(now) }, openPostman, readRows }
}
