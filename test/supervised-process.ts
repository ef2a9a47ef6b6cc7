// What a supervisor starts, with nothing in it.
import { createLog } from '../src/cli/log.ts'
import { createStopper } from '../src/cli/serving/stopper.ts'
import { Supervised } from '../src/cli/serving/supervised.ts'

const nothing = async () => {}
const log = createLog('warn')
const stop = createStopper({ drain: nothing, close: nothing }, { drainSeconds: 0, log, isSupervised: true })
stop.started()
const supervised = new Supervised(stop)
await supervised.ready()
supervised.started()
