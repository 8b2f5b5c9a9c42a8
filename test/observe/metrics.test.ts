import { expect, test } from 'vitest';
import { createMetrics } from '../../src/observe/metrics.ts';

const SPENT = { stages: { parse: 1, plan: 0, sql: 250, write: 0 }, statements: 1 };

test('requests, stages, statements and reloads are counted with a bounded set of labels', async () => {
  const metrics = createMetrics();
  for (const ms of [3, 400]) metrics.request('GET', '/fhir/Patient/:id', 200, ms, SPENT);
  const people = { mapping: 'people', bulkhead: 'interactive' } as const;
  metrics.statements({ ...people, outcome: 'answered', statements: 1, milliseconds: 1500 });
  metrics.statements({ ...people, outcome: 'failed', statements: 1, milliseconds: 500 });
  metrics.statements({ ...people, bulkhead: 'export', outcome: 'answered', statements: 40, milliseconds: 3000 });
  metrics.reload('swapped');
  metrics.schemaLook('lacking');
  for (const status of [400, 431, 400]) metrics.refused(status);
  metrics.cutOff();
  const text = await metrics.text();
  const labels = 'method="GET",route="/fhir/Patient/:id",status="200"';
  for (const line of [
    `lintel_http_request_duration_seconds_bucket{le="0.005",${labels}} 1`,
    `lintel_http_request_duration_seconds_count{${labels}} 2`,
    'lintel_stage_seconds_total{stage="sql"} 0.5',
    'lintel_sql_statements_total{mapping="people",bulkhead="interactive",outcome="answered"} 1',
    'lintel_sql_statements_total{mapping="people",bulkhead="interactive",outcome="failed"} 1',
    'lintel_sql_statements_total{mapping="people",bulkhead="export",outcome="answered"} 40',
    'lintel_sql_seconds_total{mapping="people",bulkhead="interactive"} 2',
    'lintel_sql_seconds_total{mapping="people",bulkhead="export"} 3',
    'lintel_mapping_reloads_total{outcome="swapped"} 1',
    'lintel_schema_looks_total{outcome="lacking"} 1',
    'lintel_http_refused_total{status="400"} 2',
    'lintel_http_refused_total{status="431"} 1',
    'lintel_http_cut_off_total 1',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).not.toContain('stage="plan"');
});

test('gauges are read at each scrape, and removed sources disappear', async () => {
  const metrics = createMetrics();
  const bulkheads = new Map([
    ['interactive', 3],
    ['export', 1],
  ]);
  metrics.add({
    ...{ kind: 'gauge', name: 'taken', help: 'Places taken.', labels: ['bulkhead'] },
    read: () => [...bulkheads].map(([bulkhead, taken]) => [[bulkhead], taken] as const),
  });
  metrics.add({ kind: 'counter', name: 'hits_total', help: 'Hits.', labels: [], read: () => [[[], 41]] });
  expect(await metrics.text()).toMatch(/taken\{bulkhead="interactive"\} 3\n.*taken\{bulkhead="export"\} 1/);
  bulkheads.delete('export');
  bulkheads.set('interactive', 0);
  const text = await metrics.text();
  expect(text).toContain('taken{bulkhead="interactive"} 0');
  expect(text).not.toContain('bulkhead="export"');
  expect(text).toContain('\nhits_total 41\n');
});
