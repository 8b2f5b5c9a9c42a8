/**
 * The view of code maps as the page requests it: values of the rows, suggestions, texts with changed rows, import and
 * export.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenedBench, openBench } from './opened-bench.ts';

/** A map without rows: only its system suggests the codes. */
const EMPTY = 'sex:\n  system: http://hl7.org/fhir/administrative-gender\n  rows: {}\n';
const FEMALE = `${EMPTY.replace(' {}', '')}    F: female Female\n`;

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
  const database = new DatabaseSync((bench.clinic.environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec(`INSERT INTO PERSON VALUES (3, 'A', NULL, 'X'), (4, 'B', NULL, 'F'), (5, 'C', NULL, ' ')`);
  database.close();
});
afterAll(() => bench.close());

async function ask(path: string, body: object): Promise<{ readonly status: number; readonly is: unknown }> {
  const answer = await bench.post(path, body);
  return { status: answer.status, is: await answer.json() };
}

test('maps are listed with their readers and the number of rows without a code', async () => {
  expect(await ask('codes', { unsaved: {} })).toMatchObject({
    status: 200,
    is: {
      maps: [
        { name: 'sex', kind: 'rows', fixed: false, rows: 2, readers: ['PERSON.SEX'], place: { file: 'codes.yaml' } },
      ],
      systems: ['loinc', 'ucum'],
    },
  });
  expect(await ask('codes/unmapped', { unsaved: {} })).toEqual({
    status: 200,
    is: { maps: [{ name: 'sex', values: 1, rows: 1 }], late: [] },
  });
});

test('a map shows the values of its columns, with and without a row, and suggestions', async () => {
  expect(await ask('codes/held', { unsaved: {}, map: 'sex' })).toMatchObject({
    is: {
      late: false,
      columns: [
        {
          ...{ table: 'PERSON', column: 'SEX', isCode: true, total: { values: 1, rows: 1 } },
          unknown: [{ value: 'X', rows: 1 }],
          known: [
            { value: 'F', rows: 2 },
            { value: 'M', rows: 1 },
          ],
        },
      ],
    },
  });
});

test('suggestions for an empty map come from its system', async () => {
  const { is } = await ask('codes/held', { unsaved: { 'codes.yaml': EMPTY }, map: 'sex' });
  expect(is).toMatchObject({
    columns: [
      {
        unknown: [
          { value: 'F', rows: 2, suggestions: [{ code: 'female', system: '', score: 0.85 }] },
          { value: 'M', suggestions: [{ code: 'male' }] },
          { value: 'X' },
        ],
      },
    ],
  });
});

test('values that fall back to `else` are shown, and not counted as missing', async () => {
  const person = readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8');
  const unsaved = {
    'codes.yaml': EMPTY,
    'person.yaml': person.replace('via: sex }', 'via: sex, else: unknown }'),
  };
  const { is } = await ask('codes/held', { unsaved, map: 'sex' });
  expect(is).toMatchObject({ columns: [{ hasElse: true, unknown: [{ value: 'F' }, { value: 'M' }, { value: 'X' }] }] });
  expect((await ask('codes/unmapped', { unsaved })).is).toEqual({
    maps: [{ name: 'sex', values: 0, rows: 0 }],
    late: [],
  });
});

test('values that use the `else` of the map are shown with its result, and count as missing', async () => {
  const unsaved = {
    'codes.yaml':
      'sex: { system: http://hl7.org/fhir/administrative-gender, else: { system: http://here.example/sex }, rows: { F: female } }\n',
    'person.yaml': readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8').replace('gender:', 'maritalStatus:'),
  };
  const { is } = await ask('codes/held', { unsaved, map: 'sex' });
  expect(is).toMatchObject({
    columns: [{ hasElse: false, ownElse: 'local codes of http://here.example/sex', total: { values: 2 } }],
  });
  expect((await ask('codes/unmapped', { unsaved })).is).toMatchObject({ maps: [{ name: 'sex', values: 2 }] });
});

test('an accepted code changes the unsaved text only', async () => {
  const before = readFileSync(join(bench.clinic.pack, 'codes.yaml'), 'utf8');
  const edits = [
    { raw: 'F', to: { code: 'female', display: 'Female', system: 'http://hl7.org/fhir/administrative-gender' } },
  ];
  expect(await ask('codes/edit', { unsaved: { 'codes.yaml': EMPTY }, map: 'sex', edits })).toEqual({
    status: 200,
    is: { texts: [{ path: 'codes.yaml', text: FEMALE }], changed: 1, problems: [] },
  });
  expect(readFileSync(join(bench.clinic.pack, 'codes.yaml'), 'utf8')).toBe(before);
  expect(await ask('codes/rows', { unsaved: { 'codes.yaml': FEMALE }, map: 'sex' })).toMatchObject({
    is: {
      total: 1,
      rows: [{ raw: 'F', code: 'female', display: 'Female', system: '', place: { line: 4, column: 5 } }],
    },
  });
});

test('a list is imported, or refused with line numbers', async () => {
  const list = (text: string): object => ({
    ...{ unsaved: { 'codes.yaml': EMPTY }, map: 'sex', file: 'list.csv', base64: Buffer.from(text).toString('base64') },
  });
  const { is } = await ask('codes/import', list('local;target;description\nF;female;Female\n'));
  expect(is).toEqual({ texts: [{ path: 'codes.yaml', text: FEMALE }], changed: 1, problems: [] });
  expect(await ask('codes/import', list('local,target\nF,\n'))).toMatchObject({
    is: { texts: [], problems: [expect.stringContaining('list.csv:2:1')] },
  });
  const { is: none } = await ask('codes/import', list('what,target\nF,female\n'));
  expect(none).toMatchObject({
    problems: [
      'list.csv:1:1: which column is the raw value is not known; expected a heading such as raw, key, local, localcode; ' +
        'found what, target [LNT-413]',
    ],
  });
});

test('a list can begin a new map, named like its file', async () => {
  const base64 = Buffer.from('local;target;description\n7;29463-7;Body weight\n').toString('base64');
  const asked = (file: string, unsaved = {}): Promise<unknown> => ask('codes/new', { unsaved, file, base64 });
  const text = 'raw,code,display\n7,29463-7,Body weight\n';
  expect(await asked('kind.csv')).toEqual({
    status: 200,
    is: { map: { name: 'kind', path: 'kind.csv', text, rows: 1 }, problems: [] },
  });
  expect(await ask('codes', { unsaved: { 'kind.csv': text } })).toMatchObject({
    is: { maps: [{ name: 'sex' }, { name: 'kind', rows: 1 }] },
  });
  expect(await asked('kind.csv', { 'kind.csv': text })).toMatchObject({ status: 409 });
  expect(await asked('sex.csv')).toMatchObject({ status: 409 });
  expect(await asked('../kind.csv')).toMatchObject({ status: 400 });
});

test('lists can be exported: the rows of a map, and values without a row', async () => {
  expect(await ask('codes/csv', { unsaved: {}, map: 'sex', of: 'rows' })).toMatchObject({
    is: {
      name: 'sex.csv',
      text:
        'raw,code,display,system\nF,female,,http://hl7.org/fhir/administrative-gender\n' +
        'M,male,,http://hl7.org/fhir/administrative-gender\n',
    },
  });
  const { is } = await ask('codes/csv', { unsaved: { 'codes.yaml': EMPTY }, map: 'sex', of: 'unmapped' });
  expect(is).toMatchObject({ name: 'sex-unmapped.csv', text: expect.stringMatching(/^raw,code,.*\nF,female,,http/) });
});

test('a refused change has a reason', async () => {
  const edits = [{ raw: 'F', to: { code: 'two words' } }];
  expect(await ask('codes/edit', { unsaved: {}, map: 'sex', edits })).toMatchObject({ status: 409 });
  expect(await ask('codes/edit', { unsaved: {}, map: 'none', edits })).toMatchObject({ status: 409 });
});
