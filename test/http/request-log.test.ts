import { tracingChannel } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import type { RequestEvent } from '../../src/http/middleware/request-log.ts';
import { appUnderTest } from './app-under-test.ts';

const UUID = '3f0c9a52-8d2b-4c7e-9a1f-5b6c7d8e9f00';
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test.each([UUID, UUID.replaceAll('-', ''), '01ARZ3NDEKTSV4RRFFQ69G5FAV', '0123456789abcdef'])(
  'the request id %s is reused in the answer and the log',
  async id => {
    const { app, lines } = appUnderTest();
    const response = await app.request('/fhir/Widget/1', { headers: { 'x-request-id': id } });
    expect(response.headers.get('x-request-id')).toBe(id);
    expect(response.headers.has('x-correlation-id')).toBe(false);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ request: id });
  },
);

test.each(['Kowalski', 'A-1001', '1970-02-03', 'x'.repeat(300), '', 'a b'])(
  'a request id that may contain words is replaced: %s',
  async sent => {
    const { app, lines } = appUnderTest();
    const response = await app.request('/fhir/Widget/1', { headers: { 'x-request-id': sent } });
    const own = response.headers.get('x-request-id');
    expect(own).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('x-correlation-id')).toBe(/^\S{1,200}$/.test(sent) ? sent : null);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ request: own });
    if (sent !== '') expect(lines.join()).not.toContain(sent);
  },
);

test('the trace id of a request is logged if well-formed', async () => {
  const { app, lines } = appUnderTest();
  for (const traceparent of [TRACE, `${TRACE}-more`, `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'Kowalski']) {
    await app.request('/fhir/Widget/1', { headers: { traceparent } });
  }
  expect(lines.map(line => JSON.parse(line).trace)).toEqual([
    '4bf92f3577b34da6a3ce929d0e0e4736',
    undefined,
    undefined,
    undefined,
  ]);
});

test('a log line has stages, statements and bytes; Server-Timing has the same', async () => {
  const { app, lines } = appUnderTest(
    {},
    {
      search: async (_request, { stages }) => {
        stages?.time('parse', () => wait(2));
        await stages?.statement('widgets', async () => wait(3));
        await stages?.statement('widgets', async () => wait(1));
        return { json: '{"resourceType":"Bundle"}', entries: 0 };
      },
    },
  );
  const response = await app.request('/fhir/Widget');
  const line = JSON.parse(lines[0] ?? '');
  expect(line).toMatchObject({ status: 200, bytes: 25, plan: 0, statements: 2 });
  expect(line.parse).toBeGreaterThanOrEqual(2);
  expect(line.sql).toBeGreaterThanOrEqual(4);
  expect(line.ms).toBeGreaterThanOrEqual(6);
  const { ms, parse, sql, write } = line;
  expect(response.headers.get('server-timing')).toBe(
    `total;dur=${ms}, parse;dur=${parse}, sql;dur=${sql}, write;dur=${write}`,
  );
});

function wait(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('probes are logged at level debug only', async () => {
  const { app, lines } = appUnderTest({ LOG_LEVEL: 'info' });
  await app.request('/health');
  await app.request('/ready');
  expect(lines.map(line => JSON.parse(line).level)).toEqual(['debug', 'debug']);
});

test('a subscriber of lintel:request gets each request with its trace, and at the end route and status', async () => {
  const events: RequestEvent[] = [];
  const channel = tracingChannel<RequestEvent>('lintel:request');
  const nothing = () => {};
  const handlers = {
    start: nothing,
    end: nothing,
    asyncStart: nothing,
    error: nothing,
    asyncEnd: (event: RequestEvent) => events.push({ ...event }),
  };
  channel.subscribe(handlers);
  await appUnderTest().app.request('/fhir/Widget/2', { headers: { traceparent: TRACE, 'x-request-id': UUID } });
  channel.unsubscribe(handlers);
  expect(events).toMatchObject([
    { request: UUID, method: 'GET', traceparent: TRACE, route: '/fhir/Widget/:id', status: 404 },
  ]);
});
