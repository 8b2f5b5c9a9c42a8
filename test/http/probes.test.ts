import { expect, test } from 'vitest';
import { appUnderTest } from './app-under-test.ts';

const away = async () => {
  throw new Error('connection to 10.1.2.3 refused');
};

test('the process is healthy while it lives, whatever the database does', async () => {
  const response = await appUnderTest({}, { ping: away }).app.request('/health');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: 'ok' });
});

test('the server is ready while the database answers and mappings are loaded', async () => {
  const response = await appUnderTest().app.request('/ready');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: 'ok', checks: { database: true, mappings: true, answers: true } });
});

test('the server is not ready while answers no longer go out', async () => {
  const answers = { enter: async () => () => {}, load: () => ({ size: 1, taken: 1, waiting: 0, refused: 0 }) };
  const admission = { batches: answers, answers: { ...answers, isStalled: () => true } };
  const response = await appUnderTest({}, { admission }).app.request('/ready');
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    status: 'unavailable',
    checks: { database: true, mappings: true, answers: false },
  });
});

test('the server is not ready while the database is away, and does not tell where it is', async () => {
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

test('probes answer under any Host, for they are called by address', async () => {
  expect((await appUnderTest().app.request('http://10.1.2.3:3000/health')).status).toBe(200);
});

test('a server that leaves out mappings says which', async () => {
  const served = { pack: { name: 'p', title: 'P', version: '0' }, mappings: 1, warnings: [], unserved: ['houses'] };
  const response = await appUnderTest({}, { served }).app.request('/ready');
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    status: 'ok',
    warnings: ['Mappings that do not work on this database are not served: houses'],
  });
});
