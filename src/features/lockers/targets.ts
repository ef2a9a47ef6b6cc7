// Where link lockers may lead, and what their URLs may be called.
import { randomBytes } from 'node:crypto'
import { createAddressGuard, literalRefusal } from '../postbacks/address-guard.ts'

/** Browsers go there, not this server, so what a network may reach by postbacks does not count here. */
const guard = createAddressGuard({ allow: [], deny: [], allowLoopback: false })

/** Names that mean something else in every network (RFC 6762, RFC 8375, and what routers use). */
const PRIVATE_NAME = /\.(local|internal|intranet|lan|home|corp|home\.arpa)$/

/** Why a link may not lead there, as a sentence; null when it may. Asked when it is saved, and again when it is opened. */
export function targetProblem(target: string, publicUrl: string): string | null {
  const url = URL.parse(target)
  if (url === null) return 'Enter a full URL, such as https://www.example.com/page.'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only http and https URLs can be opened.'
  const host = (of: URL) => of.hostname.toLowerCase().replace(/\.$/, '')
  if (host(url) === host(new URL(publicUrl))) return 'A link cannot lead back to this network.'
  const isName = !host(url).startsWith('[')
  if (isName && (!host(url).includes('.') || PRIVATE_NAME.test(host(url))))
    return 'The host must be a public host name.'
  const reason = literalRefusal(guard, url)
  return reason === null
    ? null
    : 'The URL must be one that everyone can reach, without a user name or a password in it.'
}

const SLUG = /^[a-z0-9][a-z0-9-]{2,62}[a-z0-9]$/
/** What visitors would take for a page of the network itself. */
const RESERVED = new Set(
  'about,abuse,account,accounts,admin,administrator,api,app,apps,auth,billing,bonus,callback,contact,dashboard,demo,docs,download,downloads,error,free,gift,help,home,index,invoice,legal,locker,login,logout,mail,manage,network,news,offer,offers,offerdeck,official,operator,password,pay,payment,payments,payout,payouts,postback,privacy,profile,publisher,redeem,register,report,reports,reset,reward,rewards,root,secure,security,settings,signin,signup,status,support,system,terms,test,undefined,update,user,users,verify,wallet,wall,www,null'.split(
    ',',
  ),
)

export function slugProblem(slug: string): string | null {
  if (!SLUG.test(slug) || slug.includes('--'))
    return 'Use 4 to 64 lowercase letters, digits and single hyphens, with none at the ends.'
  const words = slug.split('-')
  return RESERVED.has(slug) ||
    words.some((word) => /^(offerdeck|admin|login|signin|password|verify|secure)$/.test(word))
    ? 'This name is reserved.'
    : null
}

const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** Without letters that look alike. */
export const createSlug = () => Array.from(randomBytes(9), (byte) => LETTERS[byte % LETTERS.length]).join('')
