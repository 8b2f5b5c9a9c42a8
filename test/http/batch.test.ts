import { expect, test } from 'vitest';
import { ENTRIES_AT_MOST } from '../../src/http/fhir/batch.ts';
import { BODY_BYTES } from '../../src/http/server/intake.ts';
import { appUnderTest, issuesOf, WIDGET } from './app-under-test.ts';

interface Answer {
  readonly fullUrl?: string;
  readonly resource?: { readonly resourceType: string };
  readonly response: {
    readonly status: string;
    readonly etag?: string;
    readonly lastModified?: string;
    readonly outcome?: { readonly issue: readonly { readonly code: string }[] };
  };
}

const post = (app: ReturnType<typeof appUnderTest>['app'], body: unknown, headers = {}, path = '/fhir') =>
  app.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/fhir+json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const batch = (...requests: readonly object[]) => ({
  resourceType: 'Bundle',
  type: 'batch',
  entry: requests.map(request => ({ request })),
});

async function answersOf(response: Response): Promise<readonly Answer[]> {
  expect(response.status).toBe(200);
  const body = (await response.json()) as { type: string; entry?: Answer[] };
  expect(body.type).toBe('batch-response');
  return body.entry ?? [];
}

const get = (url: string, more = {}) => ({ method: 'GET', url, ...more });

test('every request of a batch is answered as a single request, in order', async () => {
  const { app, calls } = appUnderTest();
  const answers = await answersOf(
    await post(
      app,
      batch(
        get('Widget/1'),
        get('Widget?name=a%26b&_format=xml'),
        get('/Gadget/none'),
        get('http://localhost/fhir/Widget/_search?maker=x'),
        get('metadata'),
        get('Nothing/1'),
      ),
    ),
  );
  expect(answers.map(({ response }) => response.status)).toEqual([
    '200 OK',
    '200 OK',
    '404 Not Found',
    '200 OK',
    '200 OK',
    '404 Not Found',
  ]);
  expect(answers.map(({ resource }) => resource?.resourceType)).toEqual([
    'Widget',
    'Bundle',
    undefined,
    'Bundle',
    'CapabilityStatement',
    undefined,
  ]);
  expect(answers.map(({ fullUrl }) => fullUrl)).toEqual([
    'http://localhost/fhir/Widget/1',
    ...Array(5).fill(undefined),
  ]);
  expect(answers[0]?.response.etag).toMatch(/^W\/"/);
  expect(answers[0]?.response.lastModified).toBe('2024-03-10T07:30:00.000Z');
  expect(answers[2]?.response.outcome?.issue[0]?.code).toBe('not-found');
  const searched = calls.map(({ request }) => request.parameters.filter(([name]) => name !== '_format'));
  expect(searched).toContainEqual([['name', 'a&b']]);
  expect(searched).toContainEqual([['maker', 'x']]);
});

test('a batch may search over several types, and by POST with the parameters in the address', async () => {
  const { app, calls } = appUnderTest();
  const searches = [get('?_type=Widget'), get('/?_type=Widget'), get('_search?_type=Widget')];
  const posted = ['_search?_type=Widget', 'Widget/_search?maker=x'].map(url => ({ method: 'POST', url }));
  const answers = await answersOf(await post(app, batch(...searches, ...posted)));
  expect(answers.map(({ response }) => response.status)).toEqual(Array.from({ length: 5 }, () => '200 OK'));
  expect(answers.map(({ resource }) => resource?.resourceType)).toEqual(Array.from({ length: 5 }, () => 'Bundle'));
  expect(calls).toHaveLength(5);
});

test('a resource is in the answer byte for byte', async () => {
  const { app } = appUnderTest();
  expect(await (await post(app, batch(get('Widget/1')))).text()).toContain(`"resource":${WIDGET},"response"`);
});

test('writes are refused one by one with 405, and nothing reaches the facade', async () => {
  const { app, calls } = appUnderTest();
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get', undefined, 7];
  const answers = await answersOf(await post(app, batch(...methods.map(method => ({ method, url: 'Widget/1' })))));
  expect(answers.map(({ response }) => response.status)).toEqual(methods.map(() => '405 Method Not Allowed'));
  expect(calls).toEqual([]);
});

test.each(['http://elsewhere.example/fhir/Widget/1', '//elsewhere.example/Widget/1', 'javascript:1', '', 7, undefined])(
  'a request outside of the FHIR interface is 400, without a query: %s',
  async url => {
    const { app, calls } = appUnderTest();
    const [answer] = await answersOf(await post(app, batch({ method: 'GET', url })));
    expect(answer?.response.status).toBe('400 Bad Request');
    expect(calls).toEqual([]);
  },
);

test('a request cannot leave the FHIR interface by its path, or contain a batch', async () => {
  const { app } = appUnderTest();
  const answers = await answersOf(
    await post(app, batch(get('../api/users/login'), get('../ready'), { method: 'POST', url: '/' }, get('$export'))),
  );
  expect(answers.map(({ response }) => response.status)).toEqual([
    '404 Not Found',
    '404 Not Found',
    '400 Bad Request',
    '404 Not Found',
  ]);
});

test('a batch supports conditional reads', async () => {
  const { app } = appUnderTest();
  const [whole] = await answersOf(await post(app, batch(get('Widget/1'))));
  const [same, since, other] = await answersOf(
    await post(
      app,
      batch(
        get('Widget/1', { ifNoneMatch: whole?.response.etag }),
        get('Widget/1', { ifModifiedSince: '2024-03-10T07:30:00Z' }),
        get('Widget/1', { ifNoneMatch: 'W/"other"' }),
      ),
    ),
  );
  expect([same, since, other].map(answer => answer?.response.status)).toEqual([
    '304 Not Modified',
    '304 Not Modified',
    '200 OK',
  ]);
  expect(same).not.toHaveProperty('resource');
});

test.each(['W/"1"\r\nX: y', 'W/"\u2028"', '\0'])(
  'an invalid entity tag is 400 for that request alone: %j',
  async tags => {
    const { app } = appUnderTest();
    const requests = [get('Widget/1', { ifNoneMatch: tags }), get('Widget/1')];
    const answers = await answersOf(await post(app, batch(...requests)));
    expect(answers.map(({ response }) => response.status)).toEqual(['400 Bad Request', '200 OK']);
  },
);

test('the fullUrl of a vread has no version', async () => {
  const { app } = appUnderTest();
  const [read] = await answersOf(await post(app, batch(get('Widget/1'))));
  const version = read?.response.etag?.slice(3, -1);
  const [vread] = await answersOf(await post(app, batch(get(`Widget/1/_history/${version}`))));
  expect(vread).toEqual(read);
});

test('a resource that is read twice has its fullUrl once (bdl-7)', async () => {
  const { app } = appUnderTest();
  const requests = ['Widget/1', 'Widget/1?_summary=true', 'Widget/1'].map(url => get(url));
  const answers = await answersOf(await post(app, batch(...requests)));
  expect(answers.map(({ resource }) => resource?.resourceType)).toEqual(['Widget', 'Widget', 'Widget']);
  expect(answers.map(({ fullUrl }) => fullUrl)).toEqual(['http://localhost/fhir/Widget/1', undefined, undefined]);
});

test('the fragment of a URL is ignored', async () => {
  const { app, calls } = appUnderTest();
  const answers = await answersOf(await post(app, batch(get('Widget?name=a&_format=xml#b'), get('Widget/1#c'))));
  expect(answers.map(({ resource }) => resource?.resourceType)).toEqual(['Bundle', 'Widget']);
  expect(calls.flatMap(({ request }) => request.parameters)).toContainEqual(['name', 'a']);
});

test('a POST search with a resource is refused, not answered without its parameters', async () => {
  const { app, calls } = appUnderTest();
  const parameters = { resourceType: 'Parameters', parameter: [{ name: 'maker', valueString: 'x' }] };
  const entry = [{ request: { method: 'POST', url: 'Widget/_search' }, resource: parameters }];
  const [answer] = await answersOf(await post(app, { resourceType: 'Bundle', type: 'batch', entry }));
  expect(answer?.response.status).toBe('400 Bad Request');
  expect(calls).toEqual([]);
});

test('an unexpected failure is 500 for that request alone', async () => {
  const { app, lines } = appUnderTest(
    {},
    {
      read: async (type, id) => {
        if (id === '2') throw new TypeError('secret of the patient');
        return { type, id, json: WIDGET };
      },
    },
  );
  const answers = await answersOf(await post(app, batch(get('Widget/1'), get('Widget/2'), get('Widget/3'))));
  expect(answers.map(({ response }) => response.status.slice(0, 3))).toEqual(['200', '500', '200']);
  expect(JSON.stringify(answers)).not.toContain('secret');
  expect(lines.join()).toContain('unexpected error');
});

test.each([
  ['transaction', 'not-supported'],
  ['searchset', 'invalid'],
  [undefined, 'invalid'],
])('a Bundle of type %s is refused', async (type, code) => {
  const { app } = appUnderTest();
  const response = await post(app, { ...batch(get('Widget/1')), type });
  expect(response.status).toBe(400);
  expect((await issuesOf(response))[0]?.code).toBe(code);
});

test.each([
  ['', 'application/fhir+json', 400],
  ['{', 'application/fhir+json', 400],
  ['[]', 'application/json', 400],
  ['{"resourceType":"Patient"}', 'application/fhir+json', 400],
  ['{"resourceType":"Bundle","type":"batch","entry":{}}', 'application/fhir+json', 400],
  ['a=b', 'application/x-www-form-urlencoded', 415],
  ['{}', 'application/fhir+json; charset=latin1', 415],
  ['{}', 'text/plain', 415],
  ['{"resourceType":"Bundle","type":"batch","type":"batch"}', 'application/fhir+json', 400],
])('a body that is no batch is refused: %s as %s', async (body, type, status) => {
  const { app } = appUnderTest();
  expect((await post(app, body, { 'content-type': type })).status).toBe(status);
});

test('a batch is bounded in requests and in bytes', async () => {
  const { app, calls } = appUnderTest();
  const many = Array.from({ length: ENTRIES_AT_MOST + 1 }, () => get('Widget/1'));
  const response = await post(app, batch(...many));
  expect(response.status).toBe(400);
  expect((await issuesOf(response))[0]?.code).toBe('too-costly');
  expect((await post(app, `"${'x'.repeat(BODY_BYTES)}"`)).status).toBe(413);
  expect(calls).toEqual([]);
  expect(await answersOf(await post(app, batch(...many.slice(1))))).toHaveLength(ENTRIES_AT_MOST);
});

test('after the size limit of answers the rest of the batch is refused', async () => {
  const large = `{"resourceType":"Widget","name":"${'x'.repeat(9_000_000)}"}`;
  const { app } = appUnderTest({}, { read: async (type, id) => ({ type, id, json: large }) });
  const answers = await answersOf(await post(app, batch(...Array.from({ length: 6 }, () => get('Widget/1')))));
  expect(answers.map(({ response }) => response.status.slice(0, 3))).toEqual([
    '200',
    '200',
    '200',
    '200',
    '413',
    '413',
  ]);
});

test('a batch in XML is read, and answered in XML where that is asked for', async () => {
  const { app } = appUnderTest({}, { read: async (type, id) => ({ type, id, json: '{"resourceType":"Group"}' }) });
  const xml =
    '<?xml version="1.0"?><Bundle xmlns="http://hl7.org/fhir"><type value="batch"/><entry><request>' +
    '<method value="GET"/><url value="Widget/1?name=a&amp;maker=b"/></request></entry></Bundle>';
  const response = await post(app, xml, { 'content-type': 'application/fhir+xml', accept: 'application/fhir+xml' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/fhir+xml; charset=utf-8');
  expect(await response.text()).toContain(
    '<entry><fullUrl value="http://localhost/fhir/Widget/1"/><resource><Group/></resource><response><status value="200 OK"/>',
  );
});

test('the base URL accepts GET, HEAD and POST, with and without a trailing slash', async () => {
  const { app } = appUnderTest();
  for (const path of ['/fhir', '/fhir/']) {
    expect((await app.request(path, { method: 'PUT' })).headers.get('allow')).toBe('GET, HEAD, POST');
    expect((await app.request(path)).status).toBe(400);
    expect((await app.request(`${path}?_type=Widget`)).status).toBe(200);
    expect((await post(app, batch(), {}, path)).status).toBe(200);
  }
});

test('a search over types reads parameters from URL and form', async () => {
  const { app, calls } = appUnderTest();
  await app.request('/fhir/_search?_type=Widget', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '_count=2',
  });
  expect(calls[0]?.request.parameters).toEqual([
    ['_type', 'Widget'],
    ['_count', '2'],
  ]);
});
