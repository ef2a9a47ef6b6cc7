// Importing a file of offers: it is uploaded, read through without changing anything, shown, and then taken.
//
//   checking ---> checked ---> running ---> done
//      |                          |
//      +------> failed <----------+
//
// Jobs are in the memory of this process. That is enough, because an import can be repeated: one that was cut short is
// uploaded again, and what it had done already is then found unchanged.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { AppError, messageOf, OperatorError } from '../../../errors.ts'
import {
  importOffers,
  type ImportWatcher,
  NOTHING,
  type StartedImport,
  startImport,
  tryImport,
} from '../../../features/offers/import.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { ImportJob, ImportParams, MAX_FILE_BYTES, NewImport } from './schema.ts'

const TAG = 'Offers of the network'
const MAX_JOBS = 20
const MAX_CHANGES = 200
const MAX_PROBLEMS = 1_000

type Job = ImportJob & { folder: string; file: string }

export function importRoutes(routes: ManageRoutes, { db, refresh }: ManageContext): void {
  const jobs = new Map<string, Job>()

  routes.post('/offer-imports', {
    id: 'uploadOfferImport',
    summary: 'Upload a file of offers',
    about: 'Reads CSV or JSON and previews what the import would do. Nothing is changed until `runOfferImport`.',
    tag: TAG,
    access: 'operator',
    body: NewImport,
    reply: ImportJob,
    bodyLimit: 2 * MAX_FILE_BYTES, // as JSON a file is longer
    async run({ body, request }) {
      await makeRoom()
      const folder = await mkdtemp(join(tmpdir(), 'offerdeck-import-'))
      const file = join(folder, `offers.${body.format}`)
      await writeFile(file, body.content)
      const job: Job = {
        import_id: randomUUID(),
        file_name: body.file_name,
        state: 'checking',
        progress: 0,
        fault: null,
        result: { ...NOTHING },
        changes: [],
        problems: [],
        warnings: [],
        folder,
        file,
      }
      jobs.set(job.import_id, job)
      void check(job, request.log.child({ request_id: request.id }))
      return present(job)
    },
  })

  routes.get('/offer-imports/:import_id', {
    id: 'showOfferImport',
    summary: 'Get an import',
    about: 'Its progress, what it would change or has changed, and the lines it refuses.',
    tag: TAG,
    access: 'operator',
    params: ImportParams,
    reply: ImportJob,
    run: async ({ params }) => present(find(params.import_id)),
  })

  routes.post('/offer-imports/:import_id/run', {
    id: 'runOfferImport',
    summary: 'Run an import',
    about: 'Creates and updates offers from the valid lines. Invalid lines are skipped.',
    tag: TAG,
    access: 'operator',
    params: ImportParams,
    reply: ImportJob,
    async run({ params, by, request }) {
      const job = find(params.import_id)
      if (job.state !== 'checked')
        throw new AppError('CONFLICT', 'This import has no preview yet, or was already run. Upload the file again.')
      if ([...jobs.values()].some(({ state }) => state === 'running'))
        throw new AppError('CONFLICT', 'Another import is running. Wait until it is done.')
      job.state = 'running' // no other request can run it
      const source = { importId: job.import_id, file: job.file, fileName: job.file_name }
      const started = await startImport(db, by, source).catch((error: unknown) => {
        job.state = 'checked' // or no other could ever run
        throw error
      })
      start(job, 'running')
      void run(job, started, request.log.child({ request_id: request.id }))
      return present(job)
    },
  })

  function find(importId: string): Job {
    const job = jobs.get(importId)
    if (job === undefined) throw notThere('This import has expired. You can safely upload the file again.')
    return job
  }

  /** The oldest that nothing is being done for goes, with its file. */
  async function makeRoom(): Promise<void> {
    if (jobs.size < MAX_JOBS) return
    const oldest = [...jobs.values()].find(({ state }) => state !== 'checking' && state !== 'running')
    if (oldest === undefined) throw new AppError('CONFLICT', 'Too many imports are running. Wait until one is done.')
    jobs.delete(oldest.import_id)
    await rm(oldest.folder, { recursive: true, force: true })
  }

  async function check(job: Job, log: FastifyBaseLogger): Promise<void> {
    await attempt(job, log, async () => {
      job.result = await tryImport(db, job.file, {
        ...watch(job),
        onChange: ({ line, kind, externalId, name, fields }) => {
          if (job.changes.length < MAX_CHANGES) job.changes.push({ line, kind, external_id: externalId, name, fields })
        },
      })
      job.state = 'checked'
    })
  }

  async function run(job: Job, started: StartedImport, log: FastifyBaseLogger): Promise<void> {
    await attempt(job, log, async () => {
      job.result = await importOffers(db, started, watch(job))
      await refresh()
      await rm(job.folder, { recursive: true, force: true })
      job.state = 'done'
    })
  }
}

const present = ({ folder: _folder, file: _file, ...job }: Job): ImportJob => job

function start(job: Job, state: Job['state']): void {
  Object.assign(job, { state, progress: 0, result: { ...NOTHING }, problems: [], warnings: [] })
}

const watch = (job: Job): ImportWatcher => ({
  onProblem: (problem) => void (job.problems.length < MAX_PROBLEMS && job.problems.push(problem)),
  onWarning: (warning) => void (job.warnings.length < MAX_PROBLEMS && job.warnings.push(warning)),
  onProgress: (read, size, result) => {
    job.progress = size === 0 ? 1 : read / size
    job.result = { ...result }
  },
})

/** Nothing awaits it: errors are reported by the job. */
async function attempt(job: Job, log: FastifyBaseLogger, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isTheirs = error instanceof OperatorError
    if (!isTheirs) log.error({ err: error }, 'an import of offers failed')
    job.state = 'failed'
    job.fault = isTheirs ? messageOf(error) : 'Something went wrong on our side. You can safely upload the file again.'
    await rm(job.folder, { recursive: true, force: true }).catch(() => {}) // in a folder for what is temporary anyway
  }
}
