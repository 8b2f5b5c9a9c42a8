import { expect, test } from 'vitest';
import { FhirError } from '../../src/outcome.ts';
import { DatabaseError } from '../../src/sql/database.ts';
import { appUnderTest, issuesOf, WIDGET } from './app-under-test.ts';

test('a read answers with the text of the facade, byte for byte, as FHIR JSON in UTF-8', async () => {
  const { app } = appUnderTest();
  const response = await app.request('/fhir/Widget/1');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(WIDGET)));
  expect(await response.text()).toBe(WIDGET);
});

test('HEAD answers as GET does, without the body', async () => {
  const { app } = appUnderTest();
  const response = await app.request('/fhir/Widget/1', { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(response.headers.get('etag')).toMatch(/^W\/"/);
  expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(WIDGET)));
  expect(await response.text()).toBe('');
});

test('the ETag of a read is a version that vread accepts', async () => {
  const { app } = appUnderTest();
  const [, version] = /^W\/"(.+)"$/.exec((await app.request('/fhir/Widget/1')).headers.get('etag') ?? '') ?? [];
  const response = await app.request(`/fhir/Widget/1/_history/${version}`);
  expect([response.status, await response.text()]).toEqual([200, WIDGET]);
  expect(response.headers.get('etag')).toBe(`W/"${version}"`);
});

test.each(['1', 'AAAAAAAAAAAAAAAAAAAAAA', '%00'])(
  'another version is 404, as history is not kept: %s',
  async version => {
    const { app } = appUnderTest();
    const response = await app.request(`/fhir/Widget/1/_history/${version}`);
    expect(response.status).toBe(404);
    expect((await issuesOf(response))[0]?.diagnostics).toContain('Versions are not kept');
  },
);

test('a vread of an unknown id is 404 like a read', async () => {
  const { app } = appUnderTest();
  const response = await app.request('/fhir/Widget/2/_history/1');
  expect((await issuesOf(response))[0]?.diagnostics).toBe('No Widget has this id');
});

test('_pretty indents and keeps the digits of decimals', async () => {
  const { app } = appUnderTest();
  const text = await (await app.request('/fhir/Widget/1?_pretty=true')).text();
  expect(text).toContain('\n  "weight": 1.50,\n');
  expect(JSON.parse(text)).toEqual(JSON.parse(WIDGET));
});

test('an unknown id is 404 with an OperationOutcome that does not repeat it', async () => {
  const { app } = appUnderTest();
  const response = await app.request('/fhir/Widget/4711');
  expect(response.status).toBe(404);
  const text = await response.text();
  expect(text).not.toContain('4711');
  expect(JSON.parse(text).issue[0].code).toBe('not-found');
});

test.each(['$validate', 'Widget/$validate', 'Widget/1/$meta'])('%s is refused as an unknown operation', async path => {
  const { app, calls } = appUnderTest();
  const response = await app.request(`/fhir/${path}`);
  expect(response.status).toBe(404);
  expect((await issuesOf(response))[0]?.diagnostics).toContain('No such operation');
  expect(calls).toEqual([]);
});

test('without ccds.yaml documents are 404 with that reason, in both interfaces', async () => {
  const { app } = appUnderTest();
  const why = 'the pack has no ccds.yaml';
  for (const method of ['GET', 'POST']) {
    const response = await app.request('/fhir/Patient/1/$ccd', { method });
    expect(response.status).toBe(404);
    expect((await issuesOf(response))[0]?.diagnostics).toContain(why);
  }
  const login = await app.request('/api/users/login', { method: 'POST' });
  expect(login.status).toBe(404);
  expect(await login.text()).toContain(why);
});

test.each([
  '/fhir/Nothing',
  '/fhir/Nothing/1',
  '/fhir/Nothing/_search',
  '/fhir/__proto__',
  '/fhir/constructor/1',
  '/fhir/$no-such',
])('an unknown type is 404: %s', async path => {
  const { app, calls } = appUnderTest();
  const response = await app.request(path);
  expect(response.status).toBe(404);
  expect((await issuesOf(response))[0]?.code).toBe('not-found');
  expect(calls).toEqual([]);
});

test.each([
  '/fhir/Widget/..%2f1',
  '/fhir/Widget/1%2F1',
  '/fhir/Widget/%00',
  '/fhir/Widget/%zz',
  '/fhir/Widget/%ff',
  '/fhir/Widget/%E0%A4%A',
  '/fhir/Widget%2F1',
  '/fhir/Widget/__proto__',
  '/fhir/Widget/1%20',
  `/fhir/Widget/${'1'.repeat(65)}`,
  '/fhir/%2e%2e/Widget/1/2/3',
  '/fhir//Widget//1',
  '/%ff',
  '/fhir/Widget/1/_history',
])('a path that names nothing is 404, never 500: %s', async path => {
  const { app, calls } = appUnderTest();
  const response = await app.request(path);
  expect(response.status).toBe(404);
  expect((await issuesOf(response))[0]?.code).toBe('not-found');
  expect(calls).toEqual([]);
});

test.each(['name=%zz', 'name=%ff', '%E0%A4%A=1', 'name=a%00b', 'name%00=1'])(
  'a query string that is not percent-encoded text is 400: %s',
  async query => {
    const { app, calls } = appUnderTest();
    const response = await app.request(`/fhir/Widget?${query}`);
    expect(response.status).toBe(400);
    expect((await issuesOf(response))[0]?.code).toBe('invalid');
    expect(calls).toEqual([]);
  },
);

test('GET [type] and GET [type]/_search pass every parameter, decoded, repeated, in order', async () => {
  const { app, calls } = appUnderTest();
  for (const path of ['/fhir/Widget', '/fhir/Widget/_search']) {
    await app.request(`${path}?name=a%2Cb+c&maker=x&name=%26&empty&__proto__=1`);
    expect(calls.pop()?.request).toEqual({
      type: 'Widget',
      parameters: [
        ['name', 'a,b c'],
        ['maker', 'x'],
        ['name', '&'],
        ['empty', ''],
        ['__proto__', '1'],
      ],
    });
  }
});

test('POST [type]/_search puts the parameters of the body after those of the URL', async () => {
  const { app, calls } = appUnderTest();
  const response = await app.request('/fhir/Widget/_search?name=a', {
    method: 'POST',
    body: 'name=b&maker=M%C3%BCller',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
  });
  expect(response.status).toBe(200);
  expect(calls[0]?.request.parameters).toEqual([
    ['name', 'a'],
    ['name', 'b'],
    ['maker', 'Müller'],
  ]);
});

test('a form in another charset is refused with that reason', async () => {
  const { app } = appUnderTest();
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=ISO-8859-1' };
  const response = await app.request('/fhir/Widget/_search', { method: 'POST', body: 'name=x', headers });
  expect(response.status).toBe(415);
  expect((await issuesOf(response))[0]?.diagnostics).toContain('in UTF-8');
});

test('POST [type]/_search needs no body, refuses other media types with 415 and bytes that are not UTF-8 with 400', async () => {
  const { app } = appUnderTest();
  const post = (body: string | Uint8Array<ArrayBuffer> | undefined, type: string) =>
    app.request('/fhir/Widget/_search', {
      method: 'POST',
      headers: { 'content-type': type },
      ...(body === undefined ? {} : { body }),
    });
  expect((await post(undefined, 'application/x-www-form-urlencoded')).status).toBe(200);
  const json = await post('{"name":"a"}', 'application/json');
  expect(json.status).toBe(415);
  expect((await issuesOf(json))[0]?.diagnostics).toContain('application/x-www-form-urlencoded');
  expect((await post(new Uint8Array([0x61, 0x3d, 0xff]), 'application/x-www-form-urlencoded')).status).toBe(400);
});

test.each([
  ['gzip', 415],
  ['deflate, br', 415],
  ['identity', 200],
  ['', 200],
])('a body with the coding "%s" is answered with %d', async (coding, status) => {
  const { app } = appUnderTest();
  const response = await app.request('/fhir/Widget/_search', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': coding },
    body: 'name=a',
  });
  expect(response.status).toBe(status);
});

test.each([
  ['POST', '/fhir/Widget', 'GET, HEAD'],
  ['PUT', '/fhir/Widget/1', 'GET, HEAD'],
  ['PATCH', '/fhir/Widget/1', 'GET, HEAD'],
  ['DELETE', '/fhir/Widget/1', 'GET, HEAD'],
  ['PUT', '/fhir/Widget/_search', 'GET, HEAD, POST'],
  ['POST', '/fhir/metadata', 'GET, HEAD'],
])('%s %s is 405 and lists the allowed methods', async (method, path, allow) => {
  const { app, calls } = appUnderTest();
  const response = await app.request(path, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe(allow);
  expect((await issuesOf(response))[0]?.code).toBe('not-supported');
  expect(calls).toEqual([]);
});

test('OPTIONS lists the allowed methods', async () => {
  const { app } = appUnderTest();
  const response = await app.request('/fhir/Widget/_search', { method: 'OPTIONS' });
  expect(response.status).toBe(204);
  expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
});

test.each([
  [undefined, 'lenient', 'lenient'],
  [undefined, 'strict', 'strict'],
  ['handling=strict', 'lenient', 'strict'],
  ['respond-async, handling=lenient', 'strict', 'lenient'],
  ['return=minimal; handling="strict"', 'lenient', 'strict'],
  ['handling=whatever', 'lenient', 'lenient'],
  ['mishandling=strict', 'lenient', 'lenient'],
])('Prefer: %s with HANDLING=%s is %s', async (prefer, configured, expected) => {
  const { app, calls } = appUnderTest({ HANDLING: configured });
  await app.request('/fhir/Widget', { headers: prefer === undefined ? {} : { prefer } });
  expect(calls[0]?.context.handling).toBe(expected);
});

test('links begin with BASE_URL, else with the address that the client used', async () => {
  const direct = appUnderTest();
  await direct.app.request('http://localhost:3000/fhir/Widget');
  expect(direct.calls[0]?.context.base).toBe('http://localhost:3000/fhir');
  const proxied = appUnderTest({ BASE_URL: 'https://ehr.example.org/lintel/', FHIR_PATH: '/r4' });
  await proxied.app.request('http://localhost:3000/r4/Widget');
  expect(proxied.calls[0]?.context.base).toBe('https://ehr.example.org/lintel/r4');
});

test('an error of the facade becomes an OperationOutcome with its status and parameter', async () => {
  const { app } = appUnderTest(
    {},
    {
      search: async () => {
        throw new FhirError('wrong-value', 'date: expected a date', { parameter: 'date' });
      },
    },
  );
  const response = await app.request('/fhir/Widget?date=tomorrow');
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    resourceType: 'OperationOutcome',
    issue: [
      {
        severity: 'error',
        code: 'value',
        details: { coding: [{ system: 'urn:lintel:error', code: 'LNT-113' }] },
        diagnostics: 'date: expected a date',
        expression: ['http.date'],
      },
    ],
  });
});

test('while the database is away every request is 503 with Retry-After', async () => {
  const { app } = appUnderTest(
    {},
    {
      read: async () => {
        throw new DatabaseError('unavailable', 'connection to 10.1.2.3 refused', { retryAfter: 2.2 });
      },
    },
  );
  const response = await app.request('/fhir/Widget/1');
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('3');
  const text = await response.text();
  expect(JSON.parse(text).issue[0].code).toBe('transient');
  expect(text).not.toContain('10.1.2.3');
});

test('a request that takes longer than REQUEST_TIMEOUT is cancelled and is 503', async () => {
  const { app } = appUnderTest(
    { REQUEST_TIMEOUT: '1' },
    {
      search: (_request, { signal }) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(new DatabaseError('cancelled', 'cancelled'))),
        ),
    },
  );
  const response = await app.request('/fhir/Widget');
  expect(response.status).toBe(503);
  expect((await issuesOf(response))[0]?.diagnostics).toContain('longer');
});

test('an unexpected error is 500 with the request id, and neither message nor stack leave the server', async () => {
  const { app, lines } = appUnderTest(
    {},
    {
      read: async () => {
        throw new TypeError('cannot read SSN 078-05-1120');
      },
    },
  );
  const response = await app.request('/fhir/Widget/1');
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(text).toContain(response.headers.get('x-request-id') ?? 'no id');
  for (const told of [text, ...lines]) {
    expect(told).not.toContain('078-05-1120');
    expect(told).not.toContain('/src/');
  }
  expect(lines.join('\n')).toContain('TypeError');
});

test.each([
  [true, 'lacks a table or a column', 'the database lacks a table or a column'],
  [false, 'could not work out the answer', 'the database failed'],
])(
  'a database error is 500 with a reason (missing: %s); the log has its number and mapping, never its text',
  async (missing, said, logged) => {
    const cause = new Error("Conversion failed when converting the varchar value '078-05-1120' to data type int.");
    const { app, lines } = appUnderTest(
      {},
      {
        search: async () => {
          const engine = { number: missing ? 208 : 245, state: 1 };
          const error = new DatabaseError('failed', 'SQL Server could not answer', { cause, engine, missing });
          error.mapping = 'widgets';
          throw error;
        },
      },
    );
    const response = await app.request('/fhir/Widget');
    expect(response.status).toBe(500);
    const request = response.headers.get('x-request-id');
    const [issue] = await issuesOf(response);
    expect(issue).toMatchObject({ code: 'exception', diagnostics: expect.stringContaining(said) });
    expect(issue?.diagnostics).toContain(`request ${request}`);
    const [line] = lines.map(one => JSON.parse(one)).filter(({ level }) => level === 'error');
    expect(line).toMatchObject({ message: logged, request, mapping: 'widgets', state: 1, reason: 'failed' });
    expect(line.number).toBe(missing ? 208 : 245);
    expect(lines.join('\n') + JSON.stringify(issue)).not.toMatch(/078-05-1120|Conversion/);
  },
);
