// Operations of the management API that leave no entry in the audit log: see audit.test.ts.

/** Why these are not run here. */
export const UNAUDITED: Record<string, string> = {
  previewPostback: 'changes nothing',
  previewDecisions: 'changes nothing',
  fetchFeedSample: 'changes nothing',
  tryFeedMapping: 'changes nothing',
  exportUserOfApp: 'changes nothing; its entry is written before its first line',
  uploadOfferImport: 'only reads a file through',
  getInvitation: 'changes nothing',
  getSignUp: 'changes nothing',
  signUp: 'mails a link; using it is recorded',
  forgotPassword: 'mails a link; using it is recorded',
  requestEmailVerification: 'mails a link; using it is recorded',
  startTwoFactor: 'is not in force before it is confirmed, which is recorded',
  proveSession: 'changes only what this session may do next, each of which is recorded',
  signIn: 'better-auth makes the session; the cookie goes out after the entry, so no one is signed in without one',
  signInWithCode: 'as signIn',
}
