// The pictures of the demo offers are drawn, not stored: a slug alone decides colours and glyph, so any machine
// serves the same picture. The slug never enters the SVG as text, only as numbers taken from its hash.
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../errors.ts'
import type { Category } from './choices.ts'

// From green over blue and pink to orange: what lies between is olive and mud under a white glyph.
const FIRST_HUE = 145
const HUES = 250

const FILE_NAME = /^(survey|app|game|video)-[a-z0-9-]{1,60}\.svg$/

/** Glyphs on a 256 grid, white unless they say otherwise; CUT is replaced by the background, as if cut out. */
const CUT = 'CUT'
const line = (width: number, ink = '#fff') =>
  `fill="none" stroke="${ink}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"`

const PLAY = '<path d="M112 96v64a5 5 0 0 0 8 4l47-32a5 5 0 0 0 0-8l-47-32a5 5 0 0 0-8 4z"'

const GLYPHS: Record<Category, readonly string[]> = {
  survey: [
    // a clipboard with ticks
    `<rect x="70" y="62" width="116" height="138" rx="16"/><rect x="102" y="46" width="52" height="30" rx="10"/>
<path d="M102 70h52" ${line(7, CUT)}/><path d="M90 110l9 9 16-17M90 158l9 9 16-17" ${line(9, CUT)}/>
<path d="M132 112h34M132 160h34" ${line(9, CUT)}/>`,
    // a speech bubble with three dots
    `<path d="M76 60h104a24 24 0 0 1 24 24v62a24 24 0 0 1-24 24h-46l-36 32a5 5 0 0 1-8-4v-28H76a24 24 0 0 1-24-24V84a24 24 0 0 1 24-24z"/>
<g fill="${CUT}"><circle cx="92" cy="115" r="11"/><circle cx="128" cy="115" r="11"/><circle cx="164" cy="115" r="11"/></g>`,
    // a bar chart
    `<rect x="62" y="124" width="34" height="60" rx="9" opacity=".7"/><rect x="111" y="92" width="34" height="92" rx="9" opacity=".85"/>
<rect x="160" y="60" width="34" height="124" rx="9"/><path d="M58 204h140" ${line(9)}/>`,
    // choices, one of them taken
    `<circle cx="78" cy="84" r="20"/><path d="M69 84l7 7 12-13" ${line(7, CUT)}/><circle cx="78" cy="172" r="16" ${line(8)}/>
<circle cx="78" cy="128" r="16" ${line(8)}/><path d="M118 84h80M118 128h56M118 172h68" ${line(15)}/>`,
  ],
  app: [
    // a phone with an arrow into it
    `<rect x="80" y="44" width="96" height="168" rx="20"/><rect x="92" y="64" width="72" height="116" rx="6" fill="${CUT}"/>
<circle cx="128" cy="196" r="7" fill="${CUT}"/><path d="M128 92v54M106 126l22 22 22-22" ${line(12)}/>`,
    // four tiles
    `<rect x="60" y="60" width="60" height="60" rx="17"/><rect x="136" y="60" width="60" height="60" rx="17" opacity=".7"/>
<rect x="60" y="136" width="60" height="60" rx="17" opacity=".7"/><rect x="136" y="136" width="60" height="60" rx="17"/>`,
    // a shield with a tick
    `<path d="M128 44l62 22a8 8 0 0 1 5 8v48c0 40-25 70-64 88a8 8 0 0 1-6 0c-39-18-64-48-64-88V74a8 8 0 0 1 5-8z"/>
<path d="M100 126l20 21 38-42" ${line(15, CUT)}/>`,
    // a wallet
    `<path d="M82 66h88a14 14 0 0 1 14 14v8H64a8 8 0 0 1 0-12 26 26 0 0 1 18-10z" opacity=".7"/>
<rect x="56" y="84" width="144" height="108" rx="20"/><path d="M204 122h-40a16 16 0 0 0 0 32h40z" fill="${CUT}"/>
<circle cx="168" cy="138" r="7"/>`,
    // a heart with a pulse
    `<path d="M128 202C84 172 52 144 52 106a39 39 0 0 1 76-13 39 39 0 0 1 76 13c0 38-32 66-76 96z"/>
<path d="M66 128h32l14-26 20 48 15-22h43" ${line(9, CUT)}/>`,
  ],
  game: [
    // a gamepad
    `<path d="M88 80h80c28 0 42 24 47 60 5 34-22 50-42 30l-14-16H97l-14 16c-20 20-47 4-42-30 5-36 19-60 47-60z"/>
<path d="M92 100v32M76 116h32" ${line(11, CUT)}/><g fill="${CUT}"><circle cx="152" cy="126" r="9"/><circle cx="174" cy="106" r="9"/></g>`,
    // a die
    `<rect x="62" y="62" width="132" height="132" rx="30" transform="rotate(10 128 128)"/><g fill="${CUT}" transform="rotate(10 128 128)">
<circle cx="98" cy="98" r="12"/><circle cx="158" cy="98" r="12"/><circle cx="128" cy="128" r="12"/><circle cx="98" cy="158" r="12"/><circle cx="158" cy="158" r="12"/></g>`,
    // a crown
    `<path d="M54 92l38 32 36-62 36 62 38-32-14 78H68z" stroke="#fff" stroke-width="10" stroke-linejoin="round"/>
<rect x="63" y="186" width="130" height="18" rx="9"/><path d="M128 118l13 17-13 17-13-17z" fill="${CUT}"/>`,
    // a cup
    `<path d="M84 56h88v44c0 32-18 54-44 54s-44-22-44-54z"/><path d="M84 74H58c0 30 10 46 34 50M172 74h26c0 30-10 46-34 50" ${line(11)}/>
<path d="M120 150h16v26h-16z"/><rect x="90" y="174" width="76" height="26" rx="9"/>
<path d="M128 76l7 15 16 2-12 11 3 16-14-8-14 8 3-16-12-11 16-2z" fill="${CUT}"/>`,
    // a puzzle piece
    `<path d="M70 84h38a22 22 0 1 1 40 0h38a10 10 0 0 1 10 10v32a22 22 0 1 0 0 40v24a10 10 0 0 1-10 10H70a10 10 0 0 1-10-10V94a10 10 0 0 1 10-10z"/>`,
  ],
  video: [
    // a play button in a ring
    `<circle cx="128" cy="128" r="76" fill-opacity=".22" stroke="#fff" stroke-width="13"/>${PLAY}/>`,
    // a screen
    `<rect x="48" y="66" width="160" height="112" rx="18"/><path d="M92 202h72" ${line(12)}/><g transform="translate(-3 -6)">${PLAY} fill="${CUT}"/></g>`,
    // a clapperboard
    `<rect x="56" y="110" width="144" height="90" rx="14"/><g transform="rotate(-9 58 100)"><rect x="56" y="70" width="144" height="32" rx="8"/>
<path d="M88 74l-14 24M122 74l-14 24M156 74l-14 24M190 74l-14 24" ${line(9, CUT)}/></g><g transform="translate(35 58) scale(.74)">${PLAY} fill="${CUT}"/></g>`,
    // a camera
    `<rect x="46" y="80" width="112" height="96" rx="20"/><path d="M168 116l34-23a5 5 0 0 1 8 4v62a5 5 0 0 1-8 4l-34-23z"/>
<circle cx="102" cy="128" r="25" ${line(10, CUT)}/><circle cx="102" cy="128" r="8" fill="${CUT}"/>`,
  ],
}

/** A square icon for `slug`, which starts with its category; one that does not is drawn as an app. */
export function drawPicture(slug: string): string {
  const hash = hashOf(slug)
  const hue = FIRST_HUE + (hash % HUES)
  const glyphs = GLYPHS[categoryOf(slug)]
  const glyph = glyphs[(hash >>> 12) % glyphs.length] ?? ''
  const turn = 24 + ((hash >>> 20) % 32)
  const cornerX = 40 + ((hash >>> 24) % 176)
  // An id of its own for each pair of colours, for pages that put several pictures inline.
  const id = `p${hue}-${turn}`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256" viewBox="0 0 256 256">
<defs><linearGradient id="${id}" gradientUnits="userSpaceOnUse" x1="20" y1="0" x2="236" y2="256">
<stop offset="0" stop-color="${colour(hue, 6)}"/><stop offset="1" stop-color="${colour(hue - turn, -7)}"/></linearGradient>
<clipPath id="${id}-c"><rect width="256" height="256" rx="56"/></clipPath></defs>
<g clip-path="url(#${id}-c)"><rect width="256" height="256" fill="url(#${id})"/>
<circle cx="${cornerX}" cy="-6" r="118" fill="#fff" opacity=".1"/><circle cx="${256 - cornerX}" cy="270" r="96" fill="#000" opacity=".06"/></g>
<g fill="#fff">${glyph.replaceAll(CUT, `url(#${id})`)}</g></svg>
`
}

export function pictureRoutes(server: FastifyInstance): void {
  server.get<{ Params: { file: string } }>('/pictures/:file', { schema: { hide: true } }, async (request, reply) => {
    const { file } = request.params
    if (!FILE_NAME.test(file)) throw new AppError('RESOURCE_NOT_FOUND', 'There is no such picture.')
    return reply
      .type('image/svg+xml')
      .header('Cache-Control', 'public, max-age=86400')
      .header('X-Content-Type-Options', 'nosniff')
      .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
      .header('Cross-Origin-Resource-Policy', 'cross-origin') // publishers show the pictures on their own sites
      .send(drawPicture(file.slice(0, -'.svg'.length)))
  })
}

function categoryOf(slug: string): Category {
  const [first] = slug.split('-', 1)
  return first === 'survey' || first === 'game' || first === 'video' ? first : 'app'
}

/** White must stand out on it: yellow to cyan look lighter than they are, so they are drawn darker. */
function colour(hue: number, lighter: number): string {
  const glare = Math.max(0, Math.cos(((hue - 110) * Math.PI) / 180))
  return `hsl(${hue % 360},${Math.round(72 - 8 * glare)}%,${Math.round(54 + lighter - 18 * glare)}%)`
}

/** FNV-1a, stirred at the end so that slugs that differ in the last digit differ in every bit. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
