import { expect, test } from 'vitest';
import { appUnderTest } from './app-under-test.ts';

const away = async () => {
  throw new Error('connection to 10.1.2.3 refused');
};

test('/health is 200 while the process runs, whatever the database does', async () => {
  const response = await appUnderTest({}, { ping: away }).app.request('/health');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: 'ok' });
});

test('the server is ready while the database answers and mappings are loaded', async () => {
  const response = await appUnderTest().app.request('/ready');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: 'ok', checks: { database: true, mappings: true, answers: true } });
});

test('the server is not ready while answers are stalled', async () => {
  const answers = { enter: async () => () => {}, load: () => ({ size: 1, taken: 1, waiting: 0, refused: 0 }) };
  const admission = { batches: answers, answers: { ...answers, isStalled: () => true } };
  const response = await appUnderTest({}, { admission }).app.request('/ready');
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    status: 'unavailable',
    checks: { database: true, mappings: true, answers: false },
  });
});

test('the server is not ready while a required audit cannot be written', async () => {
  let isFailing = true;
  const audit = { write: async () => {}, isFailing: () => isFailing };
  const { app } = appUnderTest({}, { audit });
  const failing = await app.request('/ready');
  expect(failing.status).toBe(503);
  expect(await failing.json()).toMatchObject({ status: 'unavailable', checks: { database: true, audit: false } });
  isFailing = false;
  expect((await app.request('/ready')).status).toBe(200);
});

test('the server is not ready while the database is away, without naming its address', async () => {
  const response = await appUnderTest({}, { ping: away }).app.request('/ready');
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    status: 'unavailable',
    checks: { database: false, mappings: true, answers: true },
  });
});

test('a database that stays silent counts as away after two seconds', async () => {
  const response = await appUnderTest({}, { ping: () => new Promise(() => {}) }).app.request('/ready');
  expect(response.status).toBe(503);
});

test('probes answer under any Host', async () => {
  expect((await appUnderTest().app.request('http://10.1.2.3:3000/health')).status).toBe(200);
});

test('a server without some of its mappings lists them', async () => {
  const served = { pack: { name: 'p', title: 'P', version: '0' }, mappings: 1, warnings: [], unserved: ['houses'] };
  const response = await appUnderTest({}, { served }).app.request('/ready');
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    status: 'ok',
    warnings: ['Mappings that do not work on this database are not served: houses'],
  });
});
