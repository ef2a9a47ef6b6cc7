// What advertisers propose: the queue, and the decision.
import { Command, Option } from 'commander'
import { countCaps } from '../features/offers/cap-counts.ts'
import { approveProposal, refuseProposal, reviewProposal } from '../features/offers/proposals/decide.ts'
import { listProposals, PROPOSAL_STATUSES, type ProposalStatus } from '../features/offers/proposals/proposals.ts'
import { withChange, withDatabase } from './context.ts'
import { fields, type OutputOptions, readId, show, table } from './output.ts'
import { hint, UsageError } from './usage.ts'

const MOST = 1_000

export const proposalsCommand = () =>
  new Command('proposals')
    .description("list advertisers' proposals, or show what one would change")
    .argument('[proposal]', 'ID')
    .addOption(new Option('--status <status>', 'only proposals with this status').choices(PROPOSAL_STATUSES))
    .action(async (named: string | undefined, options: OutputOptions & { status?: ProposalStatus }) => {
      if (named !== undefined) return showOne(readId(named), options)
      const filter = options.status === undefined ? {} : { status: options.status }
      const found = await withDatabase(({ database }) => listProposals(database.db, filter, MOST))
      const rows = found.map(({ proposal_id, advertiser, name, is_new, offer_id, status, proposed_by, created_at }) => ({
        proposal_id, advertiser, name, is_new, offer_id, status, proposed_by, created_at,
      })) // prettier-ignore
      show(options, rows, () => table(rows, 'No such proposals.'))
    })

async function showOne(proposalId: number, options: OutputOptions): Promise<void> {
  const proposal = await withDatabase(({ database }) => reviewProposal(database.db, proposalId))
  show(options, proposal, () => {
    const {
      changes,
      record,
      warnings,
      problem,
      fields: _fields,
      before: _before,
      seen_updated_at: _seen,
      ...facts
    } = proposal
    const rows = changes.map(({ field, before, after, changed_since }) => ({
      field,
      before: JSON.stringify(before),
      after: JSON.stringify(after),
      edited_since: changed_since,
    }))
    const missing = (record?.goals ?? []).filter(({ payout }) => payout === null).map(({ name }) => `--payout ${JSON.stringify(`${name}=USD`)}`) // prettier-ignore
    const next = proposal.status === 'waiting' && problem === null ? `Approve it with: ${hint(['offer approve', proposalId, ...missing].join(' '))}` : null // prettier-ignore
    return [fields(facts), table(rows, ''), ...warnings, problem, next].filter((part) => part !== null).join('\n\n')
  })
}

const collect = (value: string, before: string[] = []) => [...before, value]

export const approveProposalCommand = () =>
  new Command('approve')
    .description('approve a proposal and write its fields to the offer')
    .argument('<proposal>', 'ID')
    .option('--payout <goal=usd>', 'payout of a goal, required for new ones (can be repeated)', collect)
    .action(async (named: string, options: OutputOptions & { payout?: string[] }) => {
      const proposalId = readId(named)
      const payouts = new Map((options.payout ?? []).map(readPayout))
      const now = new Date()
      const offer_id = await withChange(async ({ database: { db }, by }) => {
        const goals = (await reviewProposal(db, proposalId)).record?.goals ?? []
        const unknown = [...payouts.keys()].find((name) => !goals.some((goal) => goal.name === name))
        if (unknown !== undefined) throw new UsageError(`The proposal has no goal "${unknown}".`)
        const priced = goals.map((goal) => ({ ...goal, payout: payouts.get(goal.name) ?? goal.payout }))
        return approveProposal(db, by, proposalId, payouts.size === 0 ? {} : { fields: { goals: priced } }, now)
      })
      await withDatabase(({ database: { db } }) => countCaps(db, now))
      show(options, { proposal_id: proposalId, offer_id, status: 'approved' }, () => `Proposal ${proposalId} is approved, as offer ${offer_id}. The advertiser will be emailed.`) // prettier-ignore
    })

function readPayout(text: string): [string, string] {
  const at = text.lastIndexOf('=')
  if (at === -1) throw new UsageError('--payout must be a goal and an amount, such as "Install=0.50".')
  return [text.slice(0, at), text.slice(at + 1)]
}

export const refuseProposalCommand = () =>
  new Command('refuse')
    .description('refuse a proposal: the offer stays as it is')
    .argument('<proposal>', 'ID')
    .requiredOption('--reason <text>', 'reason, shown to the advertiser')
    .action(async (named: string, options: OutputOptions & { reason: string }) => {
      const proposalId = readId(named)
      await withChange(({ database: { db }, by }) => refuseProposal(db, by, proposalId, options.reason, new Date()))
      show(options, { proposal_id: proposalId, status: 'refused' }, () => `Proposal ${proposalId} is refused. The advertiser will be emailed.`) // prettier-ignore
    })
