// What the mail of an invitation says. Its link is created for each attempt, and the latest works.
import type { Trx } from '../../db/open.ts'
import { createInvitationToken, invitationUrl, isOpen } from './invitations.ts'
import type { Network, Writer } from './mails.ts'

export const invitationWriter = ({ secretKey, publicUrl }: Network): Writer => ({
  async findRecipients(trx, about, now) {
    const open = await trx
      .selectFrom('invitations')
      .select('email')
      .where('invitation_id', '=', Number(about))
      .where(isOpen(now))
      .executeTakeFirst()
    return open?.email == null ? [] : [open.email]
  },
  async write(trx, about, now) {
    const { token, hash } = createInvitationToken(secretKey)
    const invitation = await trx
      .updateTable('invitations')
      .set({ token_hash: hash })
      .where('invitation_id', '=', Number(about))
      .where(isOpen(now))
      .returning(['invited_by', 'publisher_id', 'advertiser_id'])
      .executeTakeFirst()
    if (invitation === undefined) return null
    const inviter = (await findName(trx, 'people', 'id', invitation.invited_by)) ?? 'The operator'
    const team =
      (await findName(trx, 'publishers', 'publisher_id', invitation.publisher_id)) ??
      (await findName(trx, 'advertisers', 'advertiser_id', invitation.advertiser_id)) ??
      'the network'
    return {
      subject: 'You are invited to Offerdeck',
      text: `${inviter} invites you to ${team} on Offerdeck.\n\nCreate your account here, within a week:\n${invitationUrl(publicUrl, token)}\n`,
    }
  },
})

async function findName(
  trx: Trx,
  table: 'people' | 'publishers' | 'advertisers',
  column: 'id' | 'publisher_id' | 'advertiser_id',
  value: string | number | null,
) {
  const row = await trx.selectFrom(table).select('name').where(column, '=', value).executeTakeFirst()
  return row?.name
}
