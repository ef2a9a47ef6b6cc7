import { test } from 'node:test'
import { refuses } from '../../test/config-problems.ts'

test('settings of traces that cannot be meant are refused', () => {
  refuses({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be a URL/)
  refuses(
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/?key=1' },
    /^OTEL_EXPORTER_OTLP_ENDPOINT must have no query/,
  )
  for (const text of ['authorization', '=x', 'a=100%', 'a=%ff', 'a b=c'])
    refuses({ OTEL_EXPORTER_OTLP_HEADERS: text }, /^OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs/)
  for (const text of ['1.1', '-0.1', 'all', '1e-3', '0.', '100%'])
    refuses({ OTEL_TRACES_SAMPLER_ARG: text }, /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/)
})
