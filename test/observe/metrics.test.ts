import { expect, test } from 'vitest';
import { createMetrics } from '../../src/observe/metrics.ts';

const SPENT = { stages: { parse: 1, plan: 0, sql: 250, write: 0 }, statements: 1 };

test('requests, stages, statements and reloads are counted under labels that are few', async () => {
  const metrics = createMetrics();
  for (const ms of [3, 400]) metrics.request('GET', '/fhir/Patient/:id', 200, ms, SPENT);
  const people = { mapping: 'people', lane: 'interactive' } as const;
  metrics.statements({ ...people, outcome: 'answered', statements: 1, milliseconds: 1500 });
  metrics.statements({ ...people, outcome: 'failed', statements: 1, milliseconds: 500 });
  metrics.statements({ ...people, lane: 'export', outcome: 'answered', statements: 40, milliseconds: 3000 });
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
    'lintel_sql_statements_total{mapping="people",lane="interactive",outcome="answered"} 1',
    'lintel_sql_statements_total{mapping="people",lane="interactive",outcome="failed"} 1',
    'lintel_sql_statements_total{mapping="people",lane="export",outcome="answered"} 40',
    'lintel_sql_seconds_total{mapping="people",lane="interactive"} 2',
    'lintel_sql_seconds_total{mapping="people",lane="export"} 3',
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

test('numbers of others are asked for at each scrape, and those that are gone are gone', async () => {
  const metrics = createMetrics();
  const lanes = new Map([
    ['interactive', 3],
    ['export', 1],
  ]);
  metrics.add({
    ...{ kind: 'gauge', name: 'taken', help: 'Places taken.', labels: ['lane'] },
    read: () => [...lanes].map(([lane, taken]) => [[lane], taken] as const),
  });
  metrics.add({ kind: 'counter', name: 'hits_total', help: 'Hits.', labels: [], read: () => [[[], 41]] });
  expect(await metrics.text()).toMatch(/taken\{lane="interactive"\} 3\n.*taken\{lane="export"\} 1/);
  lanes.delete('export');
  lanes.set('interactive', 0);
  const text = await metrics.text();
  expect(text).toContain('taken{lane="interactive"} 0');
  expect(text).not.toContain('lane="export"');
  expect(text).toContain('\nhits_total 41\n');
});
