// The command line as a process of its own.
import { runCommand } from './run.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0) // the reader, such as "head", has seen enough
  throw error
})

process.exitCode = await runCommand(process.argv.slice(2))
