/** Output besides the answers: no request brings a patient's value into the log or the metrics. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runsOf } from '../share.ts';
import { type DemoApp, demoApp } from './demo-app.ts';
import { encoded } from './hostile-texts.ts';

let demo: DemoApp;
/** Texts of the record that the server itself never writes: names, numbers, addresses, instants. */
let values: readonly string[];

beforeAll(async () => {
  demo = await demoApp(10);
  const response = await demo.app.request('http://localhost/fhir/Patient?_count=1000');
  const texts = new Set<string>();
  const { entry } = (await response.json()) as { entry: { resource: unknown }[] };
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.add(value);
    else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) collect(inner);
  };
  for (const { resource } of entry) {
    const { id: _id, meta: _meta, ...record } = resource as Record<string, unknown>;
    for (const element of ['name', 'telecom', 'address', 'birthDate', 'identifier', 'contact'])
      collect(record[element]);
  }
  values = [...texts].filter(text => text.length >= 5 && !/^(http|urn)/.test(text));
  const offered = new Set(JSON.stringify(demo.facade.capabilities({ base: '' })).split(/[^A-Za-z]+/));
  values = values.filter(value => !offered.has(value));
  demo.lines.length = 0;
});
afterAll(() => demo.close());

test('searches by real patient values leave no value in the log or metrics', async () => {
  expect(values.length).toBeGreaterThan(50);
  const { offers } = demo.facade;
  const asked = fc.constantFrom(...offers.types).chain(type => {
    const codes = offers.of(type).map(({ parameter }) => parameter.code);
    const name = fc.oneof(
      fc.constantFrom(...codes),
      fc.constantFrom(...codes).map(code => `${code}.name`),
    );
    return fc.tuple(
      fc.constant(type),
      name,
      fc.constantFrom(...values),
      fc.constantFrom('', 'get', 'id', 'name', 'head'),
    );
  });
  /** Removes times, durations and ids that the server makes: they may look like a number of a patient. */
  const told = (): string =>
    demo.lines
      .map(line => JSON.parse(line))
      .flatMap(({ time: _time, request: _request, ...fields }) => Object.values(fields))
      .filter(field => typeof field === 'string')
      .join('\n');
  await fc.assert(
    fc.asyncProperty(asked, async ([type, name, value, how]) => {
      demo.lines.length = 0;
      const query = encoded([[how === 'name' ? value : name, value]]);
      const place = how === 'id' ? `${type}/${encodeURIComponent(value)}` : `${type}?${query}`;
      // A request id in the form of a UUID is returned and logged, even if it is one of the record.
      const id = /^[0-9a-f-]{36}$/.test(value) ? '' : value.replace(/[^\x20-\x7e]/g, '?');
      const headers = { 'x-request-id': id, traceparent: encodeURIComponent(value) };
      const response = await demo.app.request(`http://localhost/fhir/${place}`, {
        method: how === 'head' ? 'HEAD' : 'GET',
        headers,
      });
      await response.text();
      expect(demo.lines).not.toEqual([]);
      for (const one of values) expect(told()).not.toContain(one);
    }),
    { numRuns: runsOf(500) },
  );
  const metrics = (await demo.metrics.text()).replaceAll(/ \S+$/gm, '');
  expect(metrics).toContain('lintel_http_request_duration_seconds_count');
  for (const one of values) expect(metrics).not.toContain(one);
});
