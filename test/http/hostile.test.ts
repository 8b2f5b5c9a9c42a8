/**
 * Malicious requests to the whole application over the demo: a clear 400, 404, 413 or 414, bounded work, never a 500,
 * and none of their text in statements, the log or the metrics.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/search/values.ts';
import { runsOf } from '../share.ts';
import { type DemoApp, demoApp } from './demo-app.ts';
import { CANARY, encoded, hostileRequest } from './hostile-texts.ts';

/** Maximum for one request: includes take several rounds, each with a statement per reference. */
const STATEMENTS_AT_MOST = 400;

let demo: DemoApp;
beforeAll(async () => {
  demo = await demoApp();
});
afterAll(() => demo.close());
beforeEach(() => {
  demo.statements.length = 0;
  demo.lines.length = 0;
});

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  Promise.resolve(demo.app.request(`http://localhost${path}`, init));

const post = (path: string, contentType: string, body: BodyInit): Promise<Response> =>
  ask(path, { method: 'POST', body, headers: { 'content-type': contentType } });

const search = (path: string, body: BodyInit): Promise<Response> =>
  post(path, 'application/x-www-form-urlencoded', body);

async function outcomeOf(response: Response): Promise<string> {
  const { resourceType, issue } = (await response.json()) as { resourceType: string; issue: { diagnostics: string }[] };
  expect(resourceType).toBe('OperationOutcome');
  return issue[0]?.diagnostics ?? '';
}

test('any parameter with any text is answered or refused clearly, with nothing of it in SQL, log or metrics', async () => {
  const refused = new Set([400, 404, 406, 414]);
  await fc.assert(
    fc.asyncProperty(hostileRequest(demo.facade.offers), fc.boolean(), async ({ type, parameters }, byPost) => {
      demo.statements.length = 0;
      demo.lines.length = 0;
      const query = encoded(parameters);
      const response = byPost
        ? await search(`/fhir/${type}/_search`, query)
        : await ask(`/fhir/${type}?${query}`, { headers: { prefer: 'handling=strict' } });
      const answer = await response.text();
      if (response.status !== 200) {
        expect(refused).toContain(response.status);
        expect(answer).toMatch(/"?OperationOutcome\b/);
      }
      expect(demo.statements.length).toBeLessThanOrEqual(STATEMENTS_AT_MOST);
      for (const statement of demo.statements) expect(statement.text).not.toContain(CANARY);
      expect(demo.lines.join('\n')).not.toContain(CANARY);
      expect(demo.lines.join('\n')).not.toContain('unexpected');
    }),
    { numRuns: runsOf(1500) },
  );
  expect(await demo.metrics.text()).not.toContain(CANARY);
}, 120_000);

describe('oversized input is refused before any work', () => {
  test.each([
    ['a URL of 100 kB', () => ask(`/fhir/Patient?family=${'a'.repeat(100_000)}`), 414],
    ['a path of 100 kB', () => ask(`/fhir/Patient/${'a'.repeat(100_000)}`), 414],
    ['a body of 300 kB', () => search('/fhir/Patient/_search', `family=${'a'.repeat(300_000)}`), 413],
    ['10,000 values', () => search('/fhir/Patient/_search', `_id=${Array.from(new Array(10_000).keys()).join()}`), 400],
    ['10,000 values in many parameters', () => search('/fhir/Patient/_search', many('_id', 90, 111)), 400],
    ['10,000 parameters', () => search('/fhir/Patient/_search', many('_id', 10_000, 1)), 400],
    ['a chain of 50 steps', () => ask(`/fhir/Observation?${'patient.'.repeat(50)}name=x`), 400],
    ['a chain of 50 typed steps', () => ask(`/fhir/Observation?${'subject:Patient.'.repeat(50)}name=x`), 400],
    ['a _has of 50 steps', () => ask(`/fhir/Patient?${'_has:Observation:patient:'.repeat(50)}code=x`), 400],
    ['50 includes', () => ask(`/fhir/Patient?${many('_include', 50, 1, 'Patient:organization')}`), 400],
  ] as const)('%s', async (_title, send, status) => {
    const response = await send();
    expect(response.status).toBe(status);
    expect(await outcomeOf(response)).toMatch(/more than|longer|too/);
    expect(demo.statements).toEqual([]);
  });
});

function many(name: string, parameters: number, values: number, value = 'x1'): string {
  return new Array(parameters).fill(`${name}=${new Array(values).fill(value).join()}`).join('&');
}

test.each([
  ['Patient', 'family', (i: number) => `a${i}`],
  ['Patient', 'identifier', (i: number) => `urn:x|${i}`],
  ['Patient', 'birthdate', (i: number) => `20${10 + (i % 60)}-05`],
  ['Observation', 'code', (i: number) => `http://loinc.org|${i}`],
  ['Observation', 'patient', (i: number) => String(i)],
  ['Observation', 'value-quantity', (i: number) => `gt${i}`],
])(
  'the maximum of values is answered, unless the database takes fewer: %s %s',
  async (type, name, value) => {
    const values = Array.from({ length: LIMITS.values }, (_, i) => value(i));
    const parameters = [0, 1, 2, 3, 4].map(
      i => `${name}=${encodeURIComponent(values.slice(i * 100, i * 100 + 100).join())}`,
    );
    const response = await search(`/fhir/${type}/_search`, `_count=1&${parameters.join('&')}`);
    if (response.status !== 200) {
      expect(response.status).toBe(400);
      expect(await outcomeOf(response)).toMatch(/more comparisons than the database supports/);
    }
    expect(demo.statements.length).toBeLessThanOrEqual(STATEMENTS_AT_MOST);
  },
  30_000,
);

test('many references take as many statements as two, and find the union of single searches', async () => {
  const idsOf = async (query: string): Promise<readonly string[]> => {
    const response = await ask(`/fhir/Observation?${query}&_elements=id&_count=1000`);
    const { entry = [] } = (await response.json()) as { entry?: { resource: { id: string } }[] };
    return entry.map(({ resource }) => resource.id).toSorted();
  };
  const each = [await idsOf('patient=1'), await idsOf('patient=2')];
  demo.statements.length = 0;
  // A page with the same number of rows: large pages are read in lists, each by a statement.
  await idsOf('patient=1,Patient/2');
  const two = demo.statements.length;
  demo.statements.length = 0;
  const all = await idsOf(`patient=${['1', 'Patient/2', ...Array.from({ length: 300 }, (_, i) => `x${i}`)].join()}`);
  expect(all).toEqual(each.flat().toSorted());
  expect(all.length).toBeGreaterThan(100);
  expect(demo.statements.length).toBeLessThanOrEqual(two);
});

test.each([
  'Observation?_include=*&_revinclude=Provenance:target&_count=50',
  'Observation?_include=*&_include:iterate=*&_revinclude:iterate=Observation:patient&_count=1000',
  'Patient?_include=*&_revinclude=Observation:*&_revinclude=Encounter:*&_revinclude:iterate=Provenance:*&_count=1000',
])(
  'includes of everything fan out within bounds: %s',
  async query => {
    const response = await ask(`/fhir/${query}`, { headers: { prefer: 'handling=lenient' } });
    expect(response.status).toBe(200);
    const { entry = [] } = (await response.json()) as { entry?: unknown[] };
    expect(entry.length).toBeLessThanOrEqual(1000 + 2000 + 1);
    expect(demo.statements.length).toBeLessThanOrEqual(STATEMENTS_AT_MOST);
  },
  30_000,
);

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

test.each(NAMES)('%s is refused as type, id, parameter, modifier, operation, format and topic', async name => {
  const strict = { headers: { prefer: 'handling=strict' } };
  for (const path of [
    ...[`/${name}`, `/fhir/${name}`, `/fhir/${name}/1`, `/fhir/Patient/${name}`, `/fhir/Patient/1/${name}`],
    ...[`/fhir/$${name}`, `/fhir/Patient/$${name}`, `/fhir/Patient/1/$${name}`, `/fhir/Patient/${name}/$everything`],
    ...[`/fhir/ConceptMap/${name}`, `/fhir/OperationDefinition/${name}`, `/fhir?_type=${name}`],
    ...[`/fhir/Patient?${name}=1`, `/fhir/Patient?family:${name}=1`, `/fhir/Patient?general-practitioner.${name}=1`],
    ...[`/fhir/Patient?general-practitioner:${name}.name=1`, `/fhir/Patient?_has:${name}:${name}:${name}=1`],
    ...[`/fhir/Patient?_has:Observation:${name}:code=1`, `/fhir/Patient?_include=Patient:${name}`],
    ...[`/fhir/Patient?_include=${name}:${name}`, `/fhir/Patient?_sort=${name}`, `/fhir/Patient?_summary=${name}`],
    ...[`/fhir/Patient?_total=${name}`, `/fhir/Patient?_format=${name}`, `/fhir/Patient?_cursor=${name}`],
    ...[`/fhir/Observation?code:in=${name}`, `/api/1/ccds/api/${name}`, `/api/${name}/ccds/api/problem`],
  ]) {
    const { status } = await ask(path, strict);
    expect([path, [400, 404, 406].includes(status)]).toEqual([path, true]);
  }
  expect(demo.statements).toEqual([]);
});

test.each([
  ['an encoded slash', '/fhir/Patient%2F1', 404],
  ['steps up', '/fhir/Patient/..%2f..%2fetc%2fpasswd', 404],
  ['encoded dots', '/fhir/Patient/%2e%2e/1', 404],
  ['a backslash', '/fhir/Patient/%5c..%5c1', 404],
  ['a path parameter', '/fhir/Patient/1;a=b', 404],
  ['a null byte in an id', '/fhir/Patient/1%00', 404],
  ['a doubly encoded null byte', '/fhir/Patient/%2500', 404],
  ['a null byte in a value', '/fhir/Patient?family=a%00b', 400],
  ['a null byte in a name', '/fhir/Patient?fam%00ily=a', 400],
  ['an overlong slash', '/fhir/Patient?family=%C0%AF', 400],
  ['a surrogate', '/fhir/Patient?family=%ED%A0%80', 400],
  ['beyond Unicode', '/fhir/Patient?family=%F4%90%80%80', 400],
  ['half a character', '/fhir/Patient?family=%E0%A4', 400],
  ['half an escape', '/fhir/Patient?family=%', 400],
])('%s in the URL is refused', async (_title, path, status) => {
  const response = await ask(path);
  expect(response.status).toBe(status);
  await outcomeOf(response);
  expect(demo.statements).toEqual([]);
});

test('a form that is not UTF-8, raw or percent-encoded, is refused', async () => {
  for (const body of [new Uint8Array([0x66, 0x3d, 0xff]), new Uint8Array([0xc0, 0xaf]), 'family=%FF', 'family=a\0b']) {
    const response = await search('/fhir/Patient/_search', body);
    expect(response.status).toBe(400);
    expect(await outcomeOf(response)).toMatch(/UTF-8|null/);
  }
});

const BODIES = ['/fhir', '/fhir/Patient/1/$everything', '/fhir/DocumentReference/$docref'];
const PARAMETERS = '<Parameters xmlns="http://hl7.org/fhir">';
const ENTITIES = `<!DOCTYPE Parameters [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>`;

test.each([
  ['a document type with entities', `${ENTITIES}${PARAMETERS}<id value="&b;&c;"/></Parameters>`],
  ['a document type', `<!DOCTYPE Parameters SYSTEM "http://127.0.0.1/x.dtd">${PARAMETERS}</Parameters>`],
  ['an undeclared entity', `${PARAMETERS}&c;</Parameters>`],
  ['CDATA', `${PARAMETERS}<![CDATA[x]]></Parameters>`],
  ['elements that do not end', '<a>'.repeat(60_000)],
  ['deep elements', '<a>'.repeat(20_000) + '</a>'.repeat(20_000)],
  ['an attribute twice', `<Parameters xmlns="http://hl7.org/fhir" id="1" id="2"/>`],
  ['an unknown root', '<__proto__ xmlns="http://hl7.org/fhir"/>'],
])('XML with %s is refused', async (_title, body) => {
  for (const path of BODIES) {
    const response = await post(path, 'application/fhir+xml', body);
    expect(response.status).toBe(400);
    expect(await outcomeOf(response)).not.toContain('passwd');
  }
  expect(demo.statements).toEqual([]);
});

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['lists that do not end', '['.repeat(100_000)],
  ['deep lists', deep(100_000)],
  ['deep parts', `{"resourceType":"Parameters","parameter":[${'{"part":['.repeat(9_000)}${']}'.repeat(9_000)}]}`],
  [
    'a deep resource in a batch',
    `{"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"POST","url":"Patient/1/$everything"},"resource":${deep(100_000)}}]}`,
  ],
  ['two types', '{"resourceType":"Bundle","resourceType":"Patient"}'],
  ['null', 'null'],
  ['no object', '"x"'],
])('JSON with %s is refused', async (_title, body) => {
  for (const path of BODIES) expect((await post(path, 'application/fhir+json', body)).status).toBe(400);
  expect(demo.statements).toEqual([]);
});

test.each([
  '{"resourceType":"Parameters","__proto__":{"polluted":1},"parameter":[{"name":"__proto__","valueString":"x"}]}',
  '{"resourceType":"Parameters","parameter":[{"name":"_count","valueInteger":1e999}]}',
  '{"resourceType":"Parameters","parameter":[{"name":"_count","valueInteger":1},{"name":"_count","name":"start","valueDate":{}}]}',
  '{"resourceType":"Parameters","parameter":[null,1,"x",[],{"name":5},{"name":"start","part":[{}]}]}',
  `{"resourceType":"Parameters","parameter":[{"name":"_count","valueInteger":${'9'.repeat(5000)}}]}`,
])('malformed Parameters cause no server error: %s', async body => {
  for (const path of BODIES) expect((await post(path, 'application/fhir+json', body)).status).toBeLessThan(500);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(demo.lines.join('\n')).not.toContain('unexpected');
});

test.each([
  ['accept', `${'text/html;q=0.1,'.repeat(1000)}*/*`],
  ['accept', 'application/fhir+json;q=NaN, ;;;=,,'],
  ['accept-encoding', `${'gzip;q='.repeat(1000)}`],
  ['if-none-match', `${'W/"a",'.repeat(2000)}*`],
  ['if-modified-since', '9'.repeat(4000)],
  ['prefer', `${'handling '.repeat(1000)}${' '.repeat(4000)}=strict`],
  ['cache-control', `max-age=${'9'.repeat(4000)}`],
  ['cookie', 'a='.repeat(3000)],
  ['traceparent', '0'.repeat(4000)],
])('a malicious header does no harm: %s', async (name, value) => {
  const response = await ask('/fhir/Patient/1', { headers: { [name]: value } });
  expect([200, 304, 400, 406]).toContain(response.status);
});
