// app/postback/route.js
import { InvalidPostbackError, verifyPostback } from '@offerdeck/client'
import { credit } from '../accounts.mjs'

/** @param {Request} request */
export async function POST(request) {
  try {
    const secrets = (process.env.SIGNING_SECRET ?? '').split(' ')
    credit(await verifyPostback({ headers: request.headers, body: await request.arrayBuffer(), secrets }))
    return new Response('OK')
  } catch (error) {
    if (!(error instanceof InvalidPostbackError)) throw error
    return new Response(error.message, { status: 401 })
  }
}
