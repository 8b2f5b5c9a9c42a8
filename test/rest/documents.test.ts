import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { DatabaseError } from '../../src/sql/database.ts';
import { type DemoDocuments, openDemoDocuments } from '../ccda/demo-documents.ts';
import { structureProblems } from '../ccda/structure.ts';
import { all, parseXml, textOf } from '../ccda/xml-tree.ts';
import { type Client, type RestUnderTest, restUnderTest } from './rest-under-test.ts';

let demo: DemoDocuments;
let rest: RestUnderTest;
let client: Client;
beforeAll(async () => {
  demo = await openDemoDocuments(30);
  rest = await restUnderTest(demo.facade);
  client = await rest.client();
});
afterAll(() => demo.close());

test('the interface has its sixteen topics', () => {
  expect(TOPICS.map(({ name }) => name)).toEqual([
    'all-patient-data',
    'patient-info',
    'smoking-status',
    'problems',
    'medications',
    'medication-allergies',
    'laboratory-tests',
    'laboratory-results',
    'vital-signs',
    'procedures',
    'care-team-members',
    'immunizations',
    'udi-for-implantable-device',
    'assessment-and-plan-of-treatment',
    'goals',
    'health-concerns',
  ]);
});

test.each(TOPICS.map(({ name }) => name))('%s gives XML', async name => {
  const response = await client.get(`/api/1/ccds/api/${name}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(structureProblems(parseXml(await response.text()))).toEqual([]);
});

describe('the representation', () => {
  test.each([
    [undefined, 'application/xml'],
    ['*/*', 'application/xml'],
    ['application/xml', 'application/xml'],
    ['text/xml', 'text/xml'],
    ['text/xml;q=0.5, application/xml;q=0.9', 'application/xml'],
    ['text/html', 'text/html'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['application/json, text/plain, */*', 'application/xml'],
    ['application/*', 'application/xml'],
    ['text/*', 'text/xml'],
  ])('for %s is %s', async (accept, type) => {
    const response = await client.get('/api/1/ccds/api/problems', accept === undefined ? {} : { accept });
    expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(response.headers.get('vary')).toContain('Accept');
  });

  test('406 for an unsupported media type', async () => {
    const response = await client.get('/api/1/ccds/api/problems', { accept: 'application/json' });
    expect(response.status).toBe(406);
  });

  test('gzip if the client accepts it', async () => {
    const plain = await client.get('/api/1/ccds/api/problems');
    const zipped = await client.get('/api/1/ccds/api/problems', { 'accept-encoding': 'gzip' });
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(await zipped.arrayBuffer())).toString()).toBe(await plain.text());
  });

  test('HEAD has no body', async () => {
    const response = await rest.app.request('http://localhost/api/1/ccds/api/problems', {
      method: 'HEAD',
      headers: { cookie: client.cookie ?? '' },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

describe('the page', () => {
  test('shows the same narrative as the XML, row by row and cell by cell', async () => {
    const xml = parseXml(await (await client.get('/api/1/ccds/api/all-patient-data')).text());
    const html = await (await client.get('/api/1/ccds/api/all-patient-data', { accept: 'text/html' })).text();
    const cells = all(xml, 'td').map(cell => textOf(cell).trim());
    const shown = [...html.matchAll(/<td(?: (?:class|data-name)="[^"]*")*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
      cell
        .replace(/<br>|<\/?(?:time|b|span)>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#13;', '\r')
        .replaceAll('&amp;', '&'),
    );
    expect(shown).toEqual(cells);
    expect(html.match(/<tr id=/g)?.length).toBe(all(xml, 'tr').filter(({ attributes }) => attributes['ID']).length);
  });

  test('names the patient, runs no script and loads nothing', async () => {
    const response = await client.get('/api/14/ccds/api/problems', { accept: 'text/html' });
    const html = await response.text();
    expect(html).toContain('O&#39;Brien-Nuñez 𠮷'.replace('&#39;', "'"));
    expect(html).not.toMatch(/<script|<link|<img|src=|@import|url\(/);
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });

  test('escapes whatever a chart holds', async () => {
    for (const patient of [15, 22]) {
      const html = await (
        await client.get(`/api/${patient}/ccds/api/all-patient-data`, { accept: 'text/html' })
      ).text();
      expect(html).not.toMatch(/<script|<iframe|onerror=[^&]*>|javascript:(?!\w*&)/i);
    }
  });
});

describe('what is refused', () => {
  test.each([
    ['/api/1/ccds/api/problems?date=2020-02-30', 400],
    ['/api/1/ccds/api/problems?date=tomorrow', 400],
    ['/api/1/ccds/api/problems?rangeStart=2020-02-02&rangeEnd=2020-01-01', 400],
    ['/api/1/ccds/api/problems?date=2020-02-02&rangeEnd=2020-01-01', 400],
    ['/api/1/ccds/api/problems?date=%FF', 400],
    ['/api/1/ccds/api/problems?date=2020-01-01&date=2020-01-02', 400],
    ['/api/1/ccds/api/problems?rangeStart=2020-01-01&rangeStart=2021-01-01', 400],
    ['/api/1/ccds/api/encounter-ccds?encounterId=1&encounterId=2', 400],
    ['/api/1/ccds/api/problems?rangestart=2020-01-01', 400],
    ['/api/1/ccds/api/problems?Date=2020-01-01', 400],
    ['/api/1/ccds/api/encounter-ccds?encounterid=1', 400],
    ['/api/one/ccds/api/problems', 400],
    ['/api/1/ccds/api/encounter-ccds', 400],
    ['/api/1/ccds/api/encounter-ccds?encounterId=x', 400],
    ['/api/11/ccds/api/problems', 404],
    ['/api/999999/ccds/api/problems', 404],
    ['/api/11/ccds/api/list-encounters', 404],
    ['/api/1/ccds/api/encounter-ccds?encounterId=999999', 404],
    ['/api/2/ccds/api/encounter-ccds?encounterId=49', 404],
    ['/api/1/ccds/api/nothing', 404],
  ])('%s is %i, in the form of the interface', async (path, status) => {
    const response = await client.get(path);
    expect(response.status).toBe(status);
    const body = (await response.json()) as Record<string, string>;
    expect(Object.keys(body)).toEqual(['error', 'message', 'requestId']);
    expect(body['message']).not.toMatch(/49|999999|tomorrow/);
  });

  test('an unknown topic is refused with the list of topics', async () => {
    const { body } = await client.json('/api/1/ccds/api/problem');
    expect((body as { message: string }).message).toMatch(
      /^No such topic; there are list-encounters, .*health-concerns$/,
    );
  });

  test('writing is not offered', async () => {
    const response = await client.post('/api/1/ccds/api/problems');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });

  test('a URL that is too long is 414 in the form of the interface', async () => {
    const response = await client.get(`/api/patientsummary?search=${'x'.repeat(9000)}`);
    expect(response.status).toBe(414);
    expect(await response.json()).toMatchObject({ error: 'too-large' });
  });

  test('503 while the database is away, 500 for an unexpected error', async () => {
    const broken = async (error: Error): Promise<Response> => {
      const searchPages = (): never => {
        throw error;
      };
      const under = await restUnderTest({ ...demo.facade, searchPages });
      return (await under.client()).get('/api/1/ccds/api/problems');
    };
    const away = await broken(new DatabaseError('unavailable', 'no connection', { retryAfter: 7 }));
    expect(away.status).toBe(503);
    expect(away.headers.get('retry-after')).toBe('7');
    const lacking = await broken(new DatabaseError('failed', 'not there', { missing: true }));
    expect(lacking.status).toBe(500);
    expect(await lacking.json()).toMatchObject({
      error: 'internal-error',
      message: expect.stringContaining('lacks a table or a column'),
    });
    const odd = await broken(new Error('secret Okonkwo'));
    expect(odd.status).toBe(500);
    expect(await odd.json()).toMatchObject({ error: 'internal-error', message: 'Unexpected error' });
  });
});

describe('encounters', () => {
  test('are listed if they have a signed and available document', async () => {
    for (const patient of [1, 6, 9, 12, 24]) {
      const rows = demo.rows<{ ENC_NO: number }>(
        `SELECT DISTINCT d.ENC_NO FROM DOC_HDR d JOIN ENC_HDR e ON e.ENC_NO = d.ENC_NO AND e.PT_NO = d.PT_NO
         WHERE d.PT_NO = ? AND d.SGN_FL = 'Y' AND d.AVL_FL = 1
         AND NOT EXISTS (SELECT 1 FROM REC_VOID v WHERE v.TBL_NM = 'ENC_HDR' AND v.REC_KEY = e.ENC_NO) ORDER BY 1`,
        patient,
      );
      const { status, body } = await client.json(`/api/${patient}/ccds/api/list-encounters`);
      expect({ patient, status, body }).toEqual({ patient, status: 200, body: rows.map(({ ENC_NO }) => ENC_NO) });
    }
  });

  test('of an empty chart are an empty list', async () => {
    expect(await client.json('/api/2/ccds/api/list-encounters')).toEqual({ status: 200, body: [] });
  });

  test('have a document exactly if they are listed', async () => {
    const { body } = await client.json('/api/24/ccds/api/list-encounters');
    const listed = body as number[];
    expect(listed.length).toBeGreaterThan(0);
    const everyOne = demo.rows<{ ENC_NO: number }>('SELECT ENC_NO FROM ENC_HDR WHERE PT_NO = 24');
    expect(everyOne.length).toBeGreaterThan(listed.length);
    for (const { ENC_NO } of everyOne) {
      const response = await client.get(`/api/24/ccds/api/encounter-ccds?encounterId=${ENC_NO}`);
      expect({ ENC_NO, status: response.status }).toEqual({ ENC_NO, status: listed.includes(ENC_NO) ? 200 : 404 });
      if (response.status === 200) expect(structureProblems(parseXml(await response.text()))).toEqual([]);
    }
  });
});
