/** Pages for people who read charts: login, look-up, chart, documents; requested as by a browser without script. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { type Client, form, PASSWORD, type RestUnderTest, restUnderTest } from './rest-under-test.ts';

const CHROME = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const BROWSER = { accept: CHROME };
const JAVA = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2';
const HERE = 'http://localhost';

let demo: Demo;
let rest: RestUnderTest;
let client: Client;
beforeAll(async () => {
  demo = await openDemo({ patients: 30 });
  rest = await restUnderTest(demo.facade);
  client = await rest.client();
});
afterAll(() => demo.close());

const post = (path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) =>
  rest.app.request(`${HERE}${path}`, { method: 'POST', body: form(fields), headers });
const login = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = BROWSER) =>
  post('/api/users/login', { username: 'anna', password: PASSWORD, ...fields }, headers);

async function pageOf(response: Response): Promise<string> {
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; .*form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  const page = await response.text();
  expect(page).not.toMatch(/<script|<link rel="stylesheet"|<img| style="|javascript:/);
  return page;
}

describe('login', () => {
  test('a chart without a session asks for a login and returns to the chart', async () => {
    const response = await rest.app.request(`${HERE}/api/chart/1?a=b`, { headers: BROWSER });
    expect(response.status).toBe(401);
    const page = await pageOf(response);
    expect(page).toContain('name="next" value="http://localhost/api/chart/1?a=b"');
    expect(page).toContain('action="http://localhost/api/users/login"');
    const back = await login({ next: `${HERE}/api/chart/1?a=b` });
    expect([back.status, back.headers.get('location')]).toEqual([303, `${HERE}/api/chart/1?a=b`]);
    expect(back.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/);
    const program = await rest.app.request(`${HERE}/api/chart/1`);
    expect([program.status, await program.json()]).toMatchObject([401, { error: 'unauthorized' }]);
  });

  test.each([
    'http://evil.example.org/api/chart/1',
    '//evil.example.org/api/',
    '/\\evil.example.org/api/',
    'http://localhost.evil.example.org/api/',
    'http://localhost@evil.example.org/api/',
    'http://anna:x@localhost/api/chart',
    'javascript:alert(1)',
    `${HERE}/fhir/Patient`,
    `${HERE}/api/../fhir/Patient`,
    '',
  ])('a login never redirects to %j', async next => {
    const response = await login({ next });
    expect([response.status, response.headers.get('location')]).toEqual([303, `${HERE}/api/chart`]);
  });

  test('a failed login is reported on the page, and keeps the target', async () => {
    const response = await login({ password: 'wrong', next: `${HERE}/api/chart/1` });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
    const page = await pageOf(response);
    expect(page).toContain('The user name or the password is wrong');
    expect(page).toContain('name="next" value="http://localhost/api/chart/1"');
    const other = await restUnderTest(demo.facade);
    const wrong = form({ username: 'bo', password: 'wrong' });
    const again = () => other.app.request(`${HERE}/api/users/login`, { method: 'POST', body: wrong, headers: BROWSER });
    for (let i = 0; i < 5; i++) await again();
    const late = await again();
    expect([late.status, late.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await pageOf(late)).toContain('Too many failed logins');
  });

  test.each([
    ['of another site', { origin: 'http://evil.example.org', 'sec-fetch-site': 'cross-site' }, 403],
    ['of another site, by an old browser', { origin: 'http://evil.example.org' }, 403],
    ['of another port', { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-site' }, 403],
    ['of nowhere', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    ['of this server', { origin: HERE, 'sec-fetch-site': 'same-origin' }, 303],
    ['of this server, by an old browser', { origin: HERE }, 303],
    // A page that sends no Referer sends no origin either.
    ['of this server, without an origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 303],
    ['of a program', {}, 303],
  ])('a form %s (%j) is %i', async (_, headers, status) => {
    const response = await login({}, { ...BROWSER, ...headers });
    expect(response.status).toBe(status);
    expect(response.headers.get('set-cookie') === null).toBe(status === 403);
    const out = await post('/api/users/logout', {}, { ...BROWSER, ...headers });
    expect(out.status).toBe(status);
  });

  test('logging out leads to the start page, and ends the session', async () => {
    const own = await rest.client();
    const headers = { ...BROWSER, cookie: own.cookie ?? '' };
    const out = await post('/api/users/logout', {}, headers);
    expect([out.status, out.headers.get('location')]).toEqual([303, `${HERE}/`]);
    expect((await rest.app.request(`${HERE}/api/chart`, { headers })).status).toBe(401);
  });

  test('the start page has the form where there is a REST interface', async () => {
    const page = await pageOf(await rest.app.request(`${HERE}/`, { headers: BROWSER }));
    expect(page).toContain('<form class="stack" method="post" action="http://localhost/api/users/login">');
    expect(page).toContain('name="next" value="http://localhost/api/chart"');
  });
});

describe('charts', () => {
  test('a patient is looked up by name and found with a link to the chart', async () => {
    const page = await pageOf(await client.get('/api/chart?search=okonkwo', BROWSER));
    expect(page).toContain('<a href="http://localhost/api/chart/1">Amelia Josephine Okonkwo-Reyes, Jr</a>');
    expect(page).toContain('Logged in as anna');
    expect(await pageOf(await client.get('/api/chart', BROWSER))).toContain('type="search"');
    expect(await pageOf(await client.get('/api/chart?search=nobody+of+that+name', BROWSER))).toContain(
      'Nobody was found',
    );
  });

  test('the search text is escaped, and not logged', async () => {
    const page = await pageOf(await client.get('/api/chart?search=%22%3E%3Cscript%3Ezzyzx', BROWSER));
    expect(page).toContain('value="&quot;&gt;&lt;script&gt;zzyzx"');
    expect(rest.lines.join('\n')).not.toMatch(/zzyzx|okonkwo/i);
  });

  test('a chart identifies the patient, and every linked document exists', async () => {
    const page = await pageOf(await client.get('/api/chart/1', BROWSER));
    expect(page).toContain('<h1>Amelia Josephine Okonkwo-Reyes, Jr</h1>');
    expect(page).toContain('<dt>MRN</dt><dd>1000003</dd>');
    const links = [...page.matchAll(/<a href="http:\/\/localhost(\/api\/1\/[^"]*)"/g)].map(([, path = '']) => path);
    const topics = TOPICS.map(({ name }) => `/api/1/ccds/api/${name}`);
    expect(links.slice(0, topics.length)).toEqual(topics);
    const encounters = links.slice(topics.length);
    const listed = (await client.json('/api/1/ccds/api/list-encounters')).body as number[];
    const numbers = encounters.map(link => Number(/encounterId=(\d+)$/.exec(link)?.[1]));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(listed);
    for (const link of [...topics.slice(0, 3), ...encounters.slice(0, 2)]) {
      const response = await client.get(link, BROWSER);
      expect([link, response.status, response.headers.get('content-type')]).toEqual([
        link,
        200,
        'text/html; charset=utf-8',
      ]);
    }
  });

  test.each([
    ['/api/chart/11', 404],
    ['/api/chart/999999', 404],
    ['/api/chart/one', 400],
    [`/api/chart?search=${'x'.repeat(201)}`, 400],
    ['/api/1/ccds/api/problem', 404],
    ['/api/1/ccds/api/problems?date=2020-02-30', 400],
  ])('%s is %i, on a page', async (path, status) => {
    const response = await client.get(path, BROWSER);
    expect(response.status).toBe(status);
    expect(await pageOf(response)).toContain('This cannot be answered');
  });

  test('the form of a document opens it', async () => {
    const sent = await client.get(
      '/api/chart/1/document?topic=problems&rangeStart=2024-01-01&rangeEnd=&_format=xml',
      BROWSER,
    );
    expect([sent.status, sent.headers.get('location')]).toEqual([
      303,
      `${HERE}/api/1/ccds/api/problems?rangeStart=2024-01-01&_format=xml`,
    ]);
    const odd = await client.get('/api/chart/1/document?topic=..%2f..%2f2%2fccds', BROWSER);
    expect(odd.headers.get('location')).toBe(`${HERE}/api/1/ccds/api/..%2F..%2F2%2Fccds?`);
  });
});

describe('documents', () => {
  const problems = '/api/1/ccds/api/problems';
  const typeOf = async (path: string, accept: string): Promise<string | null> =>
    (await client.get(path, { accept })).headers.get('content-type');

  test('the page of a document links the chart and its XML', async () => {
    const page = await (await client.get(`${problems}?rangeStart=2020-01-01`, BROWSER)).text();
    expect(page).toContain('<a href="http://localhost/api/chart/1">Chart</a>');
    expect(page).toContain(`href="${HERE}${problems}?rangeStart=2020-01-01&amp;_format=xml" download="problems.xml"`);
  });

  test('_format overrides Accept; libraries with a default HTML Accept get XML', async () => {
    expect(await typeOf(`${problems}?_format=xml`, CHROME)).toBe('application/xml; charset=utf-8');
    expect(await typeOf(`${problems}?_format=html`, 'application/xml')).toBe('text/html; charset=utf-8');
    expect(await typeOf(problems, CHROME)).toBe('text/html; charset=utf-8');
    expect(await typeOf(problems, JAVA)).toBe('application/xml; charset=utf-8');
    for (const format of ['pdf', 'constructor', '__proto__', 'toString']) {
      expect((await client.get(`${problems}?_format=${format}`)).status).toBe(406);
      expect((await client.get(problems, { accept: format })).status).toBe(406);
    }
  });

  test('the XML has its stylesheet, and may run and fetch nothing', async () => {
    const response = await client.get(problems);
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; style-src data:; sandbox");
    const [declaration, instruction = '', root] = (await response.text()).split('\n');
    expect(declaration).toBe('<?xml version="1.0" encoding="UTF-8"?>');
    expect(root).toMatch(/^<ClinicalDocument /);
    const [, css = ''] =
      /^<\?xml-stylesheet type="text\/css" href="data:text\/css;charset=utf-8,([^"<&]+)"\?>$/.exec(instruction) ?? [];
    const rules = decodeURIComponent(css);
    expect(rules).toContain('section > text');
    expect(rules).not.toMatch(/url\(|@import/);
  });
});
