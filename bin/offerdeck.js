#!/usr/bin/env node
// Starts the program with Node 24, wherever it was called from. npm installs that Node beside the other packages on
// Linux; elsewhere the system's own must be new enough.
import { spawn } from 'node:child_process'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const NEEDED = 24
if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  module.enableCompileCache() // a command then starts in half the time
  const { isBuilt } = await import('./built.js')
  await import(isBuilt() ? '../dist/main.js' : '../src/cli/main.ts')
} else {
  const bundled = findBundled()
  if (bundled === null) {
    process.stderr.write(
      `Offerdeck needs Node ${NEEDED} or later; this is ${process.version}.\n` +
        `Install it again with npm (on Linux it brings its own Node ${NEEDED}), or install Node ${NEEDED} and try again.\n`,
    )
    process.exit(1)
  }
  const child = spawn(bundled, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  process.on('SIGINT', () => {}) // Ctrl-C reaches the child by itself; twice would mean "at once"
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
}

/** The Node that npm installed with us, or null. */
function findBundled() {
  try {
    return module.createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return null
  }
}
