// The shapes of applications of publishers that signed up.
import { Type } from 'typebox'
import { APPLICATION_STATUSES } from '../../../features/accounts/sign-up/applications.ts'
import { QUESTION_KINDS, SignUpSettings as Settings } from '../../../features/accounts/sign-up/schema.ts'
import { ID_PAGE_QUERY, NextCursor } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { id, oneOf, orNull, refusal, Time } from '../../shapes.ts'

const APPLICATION = {
  publisher_id: id,
  publisher: Type.String(),
  status: oneOf(APPLICATION_STATUSES),
  name: Type.String({ description: 'Name of the person.' }),
  email: Type.String(),
  company: Type.String(),
  website: Type.String(),
  created_at: Time,
  verified_at: Time,
  decided_at: orNull(Time),
  decided_by: orNull(Type.String()),
  reason: orNull(Type.String({ description: 'Why the application was refused.' })),
}

export const ApplicationListQuery = Type.Object({
  status: Type.Optional(oneOf(APPLICATION_STATUSES)),
  ...ID_PAGE_QUERY,
})
export const ApplicationList = shape('ApplicationList', {
  applications: Type.Array(Type.Object(APPLICATION), { description: 'Newest first.' }),
  next_cursor: NextCursor,
})

const Application = shape('Application', {
  ...APPLICATION,
  ip: orNull(Type.String({ description: 'IP address that the form was sent from.' })),
  answers: Type.Array(Type.Object({ label: Type.String(), kind: oneOf(QUESTION_KINDS), answer: Type.String() }), {
    description: 'Answers, with the questions as they were asked.',
  }),
  terms: Type.Array(Type.Object({ version: Type.String(), accepted_at: Time, ip: orNull(Type.String()) }), {
    description: 'The terms of service that the publisher accepted, newest first.',
  }),
})

export const ApplicationReply = shape('ApplicationReply', {
  application: Type.Union([Application, Type.Null()], { description: 'Null for a publisher that did not sign up.' }),
})

export const Approval = shape('ApplicationApproval', {
  seen_status: Type.Optional(
    oneOf(APPLICATION_STATUSES, 'The status you read. If the application was decided since, nothing is changed (409).'),
  ),
})

export const Refusal = shape('ApplicationRefusal', {
  reason: refusal('Reason, mailed to the applicant and shown in their dashboard.'),
})

export const SignUpSettingsReply = shape('SignUpSettingsReply', {
  ...Settings.properties,
  version: Type.String({ description: 'Changes with every save. Send it back when you save.' }),
  has_mail: Type.Boolean({ description: 'Whether there is a mail server. Sign-up needs one.' }),
  last_hour: Type.Integer({ description: 'Sign-ups in the last hour.' }),
  unverified: Type.Integer({ description: 'Sign-ups whose mailed link was not opened yet.' }),
})
