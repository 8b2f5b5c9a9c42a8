import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { appUnderTest } from '../http/app-under-test.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { form, PASSWORD, type RestUnderTest, restUnderTest } from './rest-under-test.ts';

let demo: Demo;
let rest: RestUnderTest;
beforeAll(async () => {
  demo = await openDemo({ patients: 30 });
});
afterAll(() => demo.close());
beforeEach(async () => {
  rest = await restUnderTest(demo.facade);
});

const login = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
  rest.app.request('http://localhost/api/users/login', { method: 'POST', body: form(fields), headers });

async function errorOf(response: Response): Promise<{ error: string; message: string; requestId: string }> {
  const body = (await response.json()) as { error: string; message: string; requestId: string };
  expect(Object.keys(body)).toEqual(['error', 'message', 'requestId']);
  expect(body.requestId).toBe(response.headers.get('x-request-id'));
  return body;
}

test('the start page has the base of the REST interface only if there is one', async () => {
  const headers = { accept: 'text/html' };
  expect(await (await rest.app.request('http://localhost/', { headers })).text()).toContain('http://localhost/api<');
  expect(await (await appUnderTest().app.request('http://localhost/', { headers })).text()).not.toContain('REST base');
});

describe('login', () => {
  test('sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const response = await login({ username: 'anna', password: PASSWORD });
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toMatch(
      /^JSESSIONID=[A-Za-z0-9_-]{43}; Path=\/api; HttpOnly; SameSite=Strict$/,
    );
    expect(await response.json()).toEqual({ username: 'anna', idleSeconds: 900, lifetimeSeconds: 28_800 });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test('takes multipart form data too', async () => {
    const body = new FormData();
    body.set('username', 'anna');
    body.set('password', PASSWORD);
    const response = await rest.app.request('http://localhost/api/users/login', { method: 'POST', body });
    expect(response.status).toBe(200);
  });

  test('behind TLS the cookie is Secure, with the path of BASE_URL', async () => {
    const secure = await restUnderTest(demo.facade, {
      BASE_URL: 'https://ehr.example.org/lintel',
      API_PATH: '/ccds/v1',
    });
    const response = await secure.app.request('https://ehr.example.org/ccds/v1/users/login', {
      method: 'POST',
      body: form({ username: 'anna', password: PASSWORD }),
    });
    expect(response.headers.get('set-cookie')).toMatch(/; Path=\/lintel\/ccds\/v1; HttpOnly; Secure; SameSite=Strict$/);
  });

  test.each([
    [{ username: 'anna', password: 'wrong' }],
    [{ username: 'nobody', password: PASSWORD }],
    [{ username: '__proto__', password: PASSWORD }],
  ])('%j is 401 and sets no cookie', async fields => {
    const response = await login(fields);
    expect(response.status).toBe(401);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await errorOf(response)).toMatchObject({
      error: 'unauthorized',
      message: 'The user name or the password is wrong',
    });
  });

  test.each([
    ['nothing', {}],
    ['no password', { username: 'anna' }],
    ['an empty password', { username: 'anna', password: '' }],
  ])('with %s it is 400', async (_title, fields) => {
    expect((await login(fields)).status).toBe(400);
  });

  test('JSON is no form data', async () => {
    const response = await rest.app.request('http://localhost/api/users/login', {
      method: 'POST',
      body: JSON.stringify({ username: 'anna', password: PASSWORD }),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toContain('application/x-www-form-urlencoded');
  });

  test('a login by GET is refused', async () => {
    const response = await rest.app.request('http://localhost/api/users/login');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  test('after five failures it is 429 with Retry-After', async () => {
    for (let i = 0; i < 5; i++) await login({ username: 'anna', password: 'wrong' });
    const response = await login({ username: 'anna', password: PASSWORD });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect((await errorOf(response)).error).toBe('too-many-requests');
    rest.wait(1000);
    expect((await login({ username: 'anna', password: PASSWORD })).status).toBe(200);
  });

  test('neither names nor passwords are logged', async () => {
    await login({ username: 'anna', password: PASSWORD });
    await login({ username: 'anna', password: 'a wrong password' });
    expect(rest.lines.join('\n')).not.toMatch(/anna|horse|wrong password/);
  });
});

const PROTECTED = [
  '/api/patientinfo/patient/id?lastName=Lund',
  '/api/patientinfo/1',
  '/api/patientsummary?search=Lund',
  '/api/1/ccds/api/list-encounters',
  '/api/1/ccds/api/encounter-ccds?encounterId=49',
  '/api/1/ccds/api/problems',
  '/api/1/ccds/api/nothing',
  '/api/nothing',
];

test.each(PROTECTED)('%s is 401 without a session, with an invalid and an expired one', async path => {
  for (const cookie of ['', 'JSESSIONID=made-up', 'JSESSIONID=']) {
    const response = await rest.app.request(`http://localhost${path}`, { headers: { cookie } });
    expect(response.status).toBe(401);
    expect((await errorOf(response)).error).toBe('unauthorized');
  }
});

test('a session ends when idle, by logout, and with the account', async () => {
  const [idle, out, disabled] = [await rest.client(), await rest.client(), await rest.client()];
  expect((await out.post('/api/users/logout')).status).toBe(204);
  expect((await idle.get('/api/patientinfo/1')).status).toBe(200);
  rest.wait(899_000);
  expect((await idle.get('/api/patientinfo/1')).status).toBe(200);
  expect((await disabled.get('/api/patientinfo/1')).status).toBe(200);
  const anna = rest.accounts.get('anna');
  if (anna) rest.accounts.set('anna', { ...anna, disabled: true });
  expect((await disabled.get('/api/patientinfo/1')).status).toBe(401);
  if (anna) rest.accounts.set('anna', anna);
  rest.wait(900_000);
  expect((await idle.get('/api/patientinfo/1')).status).toBe(401);
});

test('a logout removes the cookie, and its old value is invalid', async () => {
  const client = await rest.client();
  const { cookie } = client;
  const response = await client.post('/api/users/logout');
  expect(response.headers.get('set-cookie')).toMatch(/^JSESSIONID=; Max-Age=0; Path=\/api/);
  const again = await rest.app.request('http://localhost/api/patientinfo/1', { headers: { cookie: cookie ?? '' } });
  expect(again.status).toBe(401);
});

test('the base address is configurable', async () => {
  const elsewhere = await restUnderTest(demo.facade, { API_PATH: '/clinic/rest' });
  const response = await elsewhere.app.request('http://localhost/clinic/rest/users/login', {
    method: 'POST',
    body: form({ username: 'anna', password: PASSWORD }),
  });
  expect(response.status).toBe(200);
  expect((await elsewhere.app.request('http://localhost/api/users/login', { method: 'POST' })).status).toBe(404);
});
