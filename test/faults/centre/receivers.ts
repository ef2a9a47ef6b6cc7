// Publishers' servers, by name and over HTTPS: names that cannot be resolved for a while, and certificates that expire.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Certificate, createAuthority } from '../../certificates.ts'
import { openDns } from '../../dns-server.ts'
import { type Arrival, MoodyReceiver } from '../moody-receiver.ts'
import type { MadeApp } from '../traffic.ts'
import type { Network } from './network.ts'

const DOMAIN = 'receivers.example.com'

export class Receivers {
  readonly all: MoodyReceiver[]
  readonly #certificates: Record<'valid' | 'expired', Certificate>
  #closeDns: () => void = () => {}
  #isSilent = false
  readonly #host: string

  constructor(network: Network, apps: readonly MadeApp[], timeoutMs: number) {
    const authority = createAuthority()
    writeFileSync(authorityFile(network), authority.cert)
    const names = [`DNS:*.${DOMAIN}`]
    const expired = authority.issue({ names, from: '20200101', to: '20200102' })
    this.#certificates = { valid: authority.issue({ names }), expired }
    this.#host = network.address
    this.all = apps.map(({ live }, i) => {
      const place = { host: network.address, name: `r${i}.${DOMAIN}`, certificate: this.#certificates.valid }
      return new MoodyReceiver(timeoutMs, () => live.signing_secret, place)
    })
  }

  async open(): Promise<void> {
    for (const one of this.all) await one.open()
    const zone = (name: string, isV6: boolean) =>
      this.#isSilent ? 'silence' : !name.endsWith(DOMAIN) ? 'NXDOMAIN' : isV6 ? [] : [this.#host]
    this.#closeDns = (await openDns(zone, this.#host, 53)).close
  }

  /** Names are not resolved. */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent
  }

  expire(isExpired: boolean): void {
    for (const one of this.all) one.show(this.#certificates[isExpired ? 'expired' : 'valid'])
  }

  get arrivals(): Arrival[] {
    return this.all.flatMap(({ arrivals }) => arrivals)
  }

  get strange(): unknown[] {
    return this.all.flatMap(({ strange }) => strange)
  }

  close(): void {
    for (const one of this.all) one.close()
    this.#closeDns()
  }
}

/** The authority that vouches for them. */
export const authorityFile = ({ folder }: Network) => join(folder, 'authority.pem')
