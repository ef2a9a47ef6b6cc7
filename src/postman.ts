// All kinds of mail, and how each is written.
import type { Config } from './config.ts'
import type { Database } from './db/open.ts'
import { verificationWriter } from './features/accounts/email-verification.ts'
import { invitationWriter } from './features/accounts/invitation-mails.ts'
import { resetWriter } from './features/accounts/reset-links.ts'
import { alertWriter } from './features/accounts/security-alerts.ts'
import { decisionWriter, signUpWriter, waitingWriter } from './features/accounts/sign-up/mails.ts'
import { exportProblemWriter } from './features/exports/problem-mails.ts'
import { feedProblemWriter } from './features/feeds/problem-mails.ts'
import { budgetWarningWriter } from './features/ledger/budgets/warnings.ts'
import { capWarningWriter } from './features/offers/cap-warnings.ts'
import { proposalDecisionWriter, proposalsWaitingWriter } from './features/offers/proposals/mails.ts'
import { noticeWriter } from './features/postbacks/notices.ts'
import { answerWriter, ticketWriter } from './features/wall/ticket-mails.ts'
import { createMailer } from './lib/mail.ts'
import { Postman } from './features/accounts/mails.ts'

export type PostmanOptions = { config: Config; secretKey: string; database: Database }

/** Null where no mail server is set. */
export function createPostman({ config, secretKey, database }: PostmanOptions): Postman | null {
  const { smtpUrl, mailFrom, publicUrl } = config
  if (smtpUrl === null) return null
  const network = { secretKey, publicUrl }
  return new Postman(database.db, createMailer(smtpUrl, mailFrom), {
    invitation: invitationWriter(network),
    password_reset: resetWriter(network),
    email_verification: verificationWriter(network),
    security_alert: alertWriter(network),
    notice: noticeWriter(network),
    ticket: ticketWriter(network),
    ticket_answer: answerWriter(),
    feed_problem: feedProblemWriter(network),
    export_problem: exportProblemWriter(network),
    cap_warning: capWarningWriter(network),
    budget_warning: budgetWarningWriter(network),
    sign_up: signUpWriter(network),
    applications_waiting: waitingWriter(network),
    application_decision: decisionWriter(network),
    proposals_waiting: proposalsWaitingWriter(network),
    proposal_decision: proposalDecisionWriter(network),
  })
}
