/**
 * The view Search as its page requests it: possible searches and completions; a search with its Bundle, SQL, plan and
 * indexes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WireParameters, WireSearch, WireTypes } from '../../src/workbench/wire/search.ts';
import { completed } from '../../src/workbench/wire/search-text.ts';
import { type OpenedBench, openBench } from './opened-bench.ts';

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

const ask = <T>(path: string, body: object): Promise<T> => bench.asked(path, { unsaved: {}, ...body });

const search = (query: string, more: object = {}): Promise<WireSearch> => ask('search', { query, ...more });

describe('completion', () => {
  const complete = async (text: string) =>
    completed(text, (await ask<WireTypes>('search/types', {})).types, async type => {
      const { parameters } = await ask<WireParameters>('search/parameters', { type });
      return parameters;
    });
  const labels = async (text: string): Promise<readonly string[]> =>
    (await complete(text))?.choices.map(({ label }) => label) ?? [];

  test('offers what the mappings offer, and nothing else', async () => {
    expect(await labels('Pat')).toEqual(expect.arrayContaining(['Observation', 'Patient']));
    expect(await labels('Pat')).not.toContain('Practitioner');
    expect((await complete('http://localhost/fhir/Pat'))?.from).toBe('http://localhost/fhir/'.length);
    expect(await labels('Patient?')).toEqual(
      expect.arrayContaining(['birthdate', 'family', 'gender', '_has', '_sort']),
    );
    expect(await labels('Patient?')).not.toContain('address');
    expect(await labels('Observation?code=1&')).toEqual(expect.arrayContaining(['subject', 'subject.', 'date']));
    expect(await labels('Practitioner?')).not.toContain('name');
  });

  test('offers modifiers, chains and referring types', async () => {
    expect(await labels('Patient?family:')).toEqual(expect.arrayContaining(['exact', 'contains', 'missing']));
    expect(await labels('Observation?subject:')).toEqual(expect.arrayContaining(['Patient']));
    expect(await labels('Observation?subject.')).toEqual(expect.arrayContaining(['family', 'birthdate']));
    expect(await labels('Observation?subject:Patient.fam')).toContain('family');
    expect(await labels('Observation?subject.')).not.toContain('_sort');
    expect(await labels('Patient?_has:')).toEqual(['Observation']);
    expect(await labels('Patient?_has:Observation:')).toEqual(expect.arrayContaining(['patient', 'subject']));
    expect(await labels('Patient?_has:Observation:patient:')).toContain('value-quantity');
    const { from } = (await complete('Patient?_has:Observation:pa')) ?? {};
    expect(from).toBe('Patient?_has:Observation:'.length);
  });

  test('offers values defined by FHIR: prefixes, directions, includes', async () => {
    expect(await labels('Patient?birthdate=')).toEqual(['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'sa', 'eb', 'ap']);
    expect(await labels('Observation?subject.birthdate=')).toContain('ge');
    expect(await labels('Patient?birthdate=ge1970')).toEqual([]);
    expect(await labels('Patient?gender=')).toEqual([]);
    expect(await labels('Patient?gender:missing=')).toEqual(['true', 'false']);
    expect(await labels('Patient?_sort=')).toEqual(expect.arrayContaining(['birthdate', '-birthdate']));
    expect((await complete('Patient?_sort=family,-b'))?.from).toBe('Patient?_sort=family,'.length);
    expect(await labels('Observation?_include=')).toContain('Observation:subject');
    expect(await labels('Patient?_revinclude=')).toContain('Observation:subject');
    expect(await labels('Patient?_total=')).toEqual(['accurate', 'estimate', 'none']);
  });
});

describe('a search', () => {
  test('shows the Bundle, the SQL of the engine, its plan and the time', async () => {
    const found = await search('Patient?family=kowalski&_total=accurate');
    expect(found).toMatchObject({ issues: [], engine: 'SQLite', mappings: ['people'], stale: false });
    expect(found.bundle).toMatchObject({ resourceType: 'Bundle', total: 1, entry: [{ resource: { id: '1' } }] });
    expect(found.query[0]).toBe('family (string) is "kowalski"');
    const sql = found.statements.map(one => one.sql.join('\n')).join('\n');
    expect(sql).toMatch(/SELECT[\s\S]+FROM PERSON/);
    expect(found.statements.every(({ served }) => served.length > 0)).toBe(true);
    expect(found.statements.flatMap(({ parameters }) => parameters).join()).toContain('kowalski');
  });

  test('runs on the unsaved texts, or on the last valid ones', async () => {
    const text = readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8');
    const other = { 'person.yaml': text.replace('gender: { from: SEX, via: sex }', 'gender: male') };
    const males = async (unsaved: object): Promise<unknown> =>
      ((await search('Patient?gender=male&_summary=count', { unsaved })).bundle as { total: number }).total;
    expect([await males({}), await males(other)]).toEqual([1, 2]);
    const broken = await search('Patient?gender=male', { unsaved: { 'person.yaml': 'mapping: [' } });
    expect(broken).toMatchObject({ stale: true, bundle: { resourceType: 'Bundle' } });
  });

  test('that is invalid has a reason', async () => {
    for (const [query, text] of [
      ['Patient?famly=x', /famly/],
      ['Patient?birthdate=yesterday', /birthdate/],
      ['Nothing?a=b', /Nothing/],
      ['Patient?family=%', /percent-encoded/],
      ['', /no {2}resources/],
    ] as const) {
      const { issues, bundle, statements } = await search(query);
      expect([query, bundle, statements]).toEqual([query, undefined, []]);
      expect(issues).toEqual([{ severity: 'error', text: expect.stringMatching(text) }]);
    }
  });

  test('returns one page, whatever _count', async () => {
    const { query } = await search('Observation?_count=100000');
    expect(query.at(-1)).toMatch(/^at most 1000 on a page/);
  });
});

describe('indexes', () => {
  test('are shown with purpose and predicted plan, and none is created', async () => {
    const { advice, statements } = await search('Observation?date=ge2024-03-01&subject.gender=female');
    const taken = advice.find(({ statement }) => statement.includes('(TAKEN'));
    expect(taken?.serves).toEqual(['Observation?date']);
    expect(taken?.statement).toMatch(/^CREATE INDEX LINTEL_WEIGHING_TAKEN\S* ON WEIGHING \(TAKEN/);
    const used = advice.flatMap(({ effects }) => effects ?? []);
    expect(used.length).toBeGreaterThan(0);
    expect(used.flatMap(({ after }) => after).join()).toMatch(/USING (?:COVERING )?INDEX LINTEL_/);
    expect(statements.flatMap(({ served }) => served).join()).not.toContain('LINTEL_');
    const database = new DatabaseSync(join(bench.clinic.folder, 'clinic.sqlite'), { readOnly: true });
    expect(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").all()).toEqual([
      { name: 'WEIGHING_PERSON' },
    ]);
    database.close();
  });

  test('are tried for schema-qualified tables, too', async () => {
    const text = readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8').replace(
      'table: PERSON',
      'table: dbo.PERSON',
    );
    const { advice } = await search('Patient?gender=female', { unsaved: { 'person.yaml': text } });
    expect(advice).toMatchObject([
      { effects: [{ before: ['SCAN p'], after: [expect.stringMatching(/INDEX LINTEL_PERSON_SEX/)] }] },
    ]);
  });

  test('do not help computed values, and that is reported', async () => {
    const { advice, computed } = await search('Patient?name=kow&birthdate=1970-02-03&_sort=family');
    expect(computed).toEqual(['Patient?name', 'Patient?_sort=family']);
    expect(advice.flatMap(({ serves }) => serves)).toEqual(['Patient?birthdate']);
    const { query } = await search('Observation?value-quantity=gt50');
    expect(query.join()).toMatch(/value-quantity \(quantity\) is gt 50(?:,|$)/);
    expect((await search('Observation?value-quantity=gt50||kg')).query.join()).toContain('is gt 50 |kg');
  });

  test('of other searches are omitted', async () => {
    const { advice, words } = await search('Observation?_id=w-7');
    expect(words).toEqual([]);
    expect(advice.flatMap(({ serves }) => serves)).not.toContain('Observation?date');
  });

  test('name the command that makes a table of words', async () => {
    const { words } = await search('Patient?name=kow');
    expect(words).toEqual([
      expect.stringMatching(/^no index has the words of PERSON\.SURNAME: .*`lintel words PERSON SURNAME`/),
    ]);
  });

  test('that no index serves is reported if its plan scans all rows', async () => {
    const all = await search('Observation?status=final');
    expect(all).toMatchObject({ advice: [], words: [], computed: [], isAdvised: true, scans: ['SCAN w'] });
    expect(await search('Observation?patient=1')).toMatchObject({ advice: [], scans: [] });
    // A page of a whole type has no condition: its scan ends with the page.
    expect(await search('Observation')).toMatchObject({ advice: [], scans: [] });
  });
});
