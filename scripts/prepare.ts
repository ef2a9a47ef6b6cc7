// `npm install` builds what is not built. npx installs a checkout into its cache, too, the first time that a command is
// called by it, and must not build again under a server that runs from there.
import { spawnSync } from 'node:child_process'
import { isAllBuilt } from '../bin/built.js'

if (!isAllBuilt()) process.exitCode = spawnSync('npm', ['run', 'build'], { stdio: 'inherit' }).status ?? 1
