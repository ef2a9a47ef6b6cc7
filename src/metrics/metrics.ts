// Figures for Prometheus. A process without METRICS_PORT and METRICS_TOKEN has none of this, and pays nothing for it.
//
// What is counted as it happens is counted here; everything else is read when Prometheus asks.
import { collectDefaultMetrics, Counter, Gauge, type MetricObject, Registry } from 'prom-client'

export type Labelled = { labels: Record<string, string>; value: number }

export class Metrics {
  readonly registry = new Registry()

  /** `process`: its name, where there are several. */
  constructor(process?: string) {
    if (process !== undefined) this.registry.setDefaultLabels({ process })
    collectDefaultMetrics({ register: this.registry })
  }

  toJson(): Promise<MetricObject[]> {
    return this.registry.getMetricsAsJSON()
  }

  /** A value that goes up and down. What cannot be read now is left out. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    this.gauges(name, help, [], async () => [{ labels: {}, value: await read() }])
  }

  /** One value for each set of labels, of which there must be few. */
  gauges(name: string, help: string, labelNames: string[], read: () => Labelled[] | Promise<Labelled[]>): void {
    const gauge = new Gauge({
      name: `offerdeck_${name}`,
      help,
      labelNames,
      registers: [],
      async collect() {
        const values = await Promise.resolve()
          .then(read)
          .catch(() => [])
        this.reset()
        if (values.length === 0) this.remove({})
        for (const { labels, value } of values) this.set(labels, value)
      },
    })
    this.registry.registerMetric(gauge)
  }

  /** Totals that something else keeps. */
  totals(name: string, help: string, labelNames: string[], read: () => Labelled[]): void {
    const counter = new Counter({
      name: `offerdeck_${name}_total`,
      help,
      labelNames,
      registers: [],
      collect() {
        this.reset()
        for (const { labels, value } of read()) this.inc(labels, value)
      },
    })
    this.registry.registerMetric(counter)
  }
}
