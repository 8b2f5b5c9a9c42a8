import { expect, test } from 'vitest';
import { createBulkhead } from '../../src/sql/bulkhead.ts';
import { appUnderTest } from './app-under-test.ts';

const bulkhead = (size: number, queue: number) => createBulkhead({ size, queue, wait: 600_000 });

/** An application whose searches end when the test says so. */
function slowApp({ answers = bulkhead(100, 0), batches = bulkhead(100, 0) }) {
  const waiting: (() => void)[] = [];
  const busy = { now: 0, most: 0, begun: 0 };
  const { app, lines } = appUnderTest(
    {},
    {
      admission: { answers, batches },
      async search() {
        busy.now++;
        busy.begun++;
        busy.most = Math.max(busy.most, busy.now);
        await new Promise<void>(resolve => waiting.push(resolve));
        busy.now--;
        return { json: '{"resourceType":"Bundle","type":"searchset"}', entries: 0 };
      },
    },
  );
  /** Ends all running searches, and those that begin then. */
  const end = async (answered: Promise<unknown>): Promise<void> => {
    let over = false;
    void answered.finally(() => {
      over = true;
    });
    while (!over) {
      for (const one of waiting.splice(0)) one();
      await new Promise(setImmediate);
    }
  };
  return { app, lines, busy, end };
}

test('concurrent answers are bounded by the limit, and all complete', async () => {
  const { app, busy, end } = slowApp({ answers: bulkhead(2, 10) });
  const asked = Promise.all(Array.from({ length: 7 }, (_, i) => app.request(`/fhir/Widget?name=${i}`)));
  await end(asked);
  expect((await asked).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200]);
  expect([busy.most, busy.begun, busy.now]).toEqual([2, 7, 0]);
});

test('with a full queue the answer is 503 at once, with Retry-After', async () => {
  const { app, busy, end } = slowApp({ answers: bulkhead(1, 1) });
  const asked = Promise.all([app.request('/fhir/Widget?name=1'), app.request('/fhir/Widget?name=2')]);
  const refused = await app.request('/fhir/Widget?name=3');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([
    503,
    // Retry-After varies among clients.
    expect.stringMatching(/^[123]$/),
  ]);
  expect(await refused.json()).toMatchObject({
    issue: [{ code: 'transient', diagnostics: expect.stringContaining('later') }],
  });
  await end(asked);
  expect(busy.begun).toBe(2);
});

test('a request cancelled in the queue is not run, and the next one takes its slot', async () => {
  const answers = bulkhead(1, 10);
  const { app, busy, end } = slowApp({ answers });
  const first = app.request('/fhir/Widget?name=1');
  const leaving = new AbortController();
  const second = app.request('/fhir/Widget?name=2', { signal: leaving.signal });
  const third = app.request('/fhir/Widget?name=3');
  await expect.poll(() => answers.load().waiting).toBe(2);
  leaving.abort();
  expect((await second).status).toBe(503);
  await end(Promise.all([first, third]));
  expect(busy.begun).toBe(2);
  expect(answers.load()).toEqual({ size: 1, taken: 0, waiting: 0, refused: 0 });
});

test('batches have slots of their own, their entries use the common slots', async () => {
  const { app, busy, end } = slowApp({ answers: bulkhead(3, 100), batches: bulkhead(1, 10) });
  const entry = Array.from({ length: 4 }, (_, i) => ({ request: { method: 'GET', url: `Widget?name=${i}` } }));
  const body = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry });
  const headers = { 'content-type': 'application/fhir+json' };
  const asked = Promise.all(Array.from({ length: 3 }, () => app.request('/fhir', { method: 'POST', headers, body })));
  await end(asked);
  for (const response of await asked) {
    const { entry: answered } = (await response.json()) as { entry: { response: { status: string } }[] };
    expect(answered.map(one => one.response.status)).toEqual(['200 OK', '200 OK', '200 OK', '200 OK']);
  }
  expect([busy.most, busy.begun]).toEqual([3, 12]);
});
