import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

/** A clinic with a list of codes beside its pack. */
function withList(list: string | Uint8Array, files: Readonly<Record<string, string>> = {}) {
  const clinic = smallClinic(files);
  const file = join(clinic.folder, 'list.csv');
  writeFileSync(file, list);
  const run = (...more: string[]) => lintel(clinic.environment, 'codes', 'import', file, ...more);
  const written = (name: string) => {
    const path = join(clinic.pack, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  };
  return { ...clinic, file, run, written };
}

const LIST =
  'Description;Local Code;LOINC\nBody weight;WT;29463-7\n"Height; standing";HT;8302-2\nBody weight;WT;29463-7\n';

test('a list in any order becomes a code map, and nothing is written without --write', async () => {
  const { run, written, file } = withList(LIST);
  const { code, out } = await run('--name', 'measures', '--code', 'loinc', '--system', 'loinc');
  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    'measures.csv: 2 rows, 1 repeated left out; utf-8, separated by ;',
    'raw from Local Code, code from LOINC, display from Description',
    '  raw,code,display',
    '  WT,29463-7,Body weight',
    '  HT,8302-2,Height; standing',
    'codes.yaml:',
    '  measures:',
    '    system: loinc',
    'Nothing is written; --write does it.',
  ]);
  expect(written('measures.csv')).toBeUndefined();
  expect(readFileSync(file, 'utf8')).toBe(LIST);
});

test('--write writes the file and declares the map, so that the pack reads it', async () => {
  const { run, written, environment } = withList(LIST, {
    'weighing.yaml': `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
elements:
  status: final
  code: { from: NO, via: measures }
  subject: { ref: people, on: { ID: PERSON_ID } }
needs: [code]
`,
  });
  const before = written('codes.yaml') ?? '';
  const { code } = await run('--name', 'measures', '--code', 'LOINC', '--system', 'loinc', '--write');
  expect(code).toBe(0);
  expect(written('measures.csv')).toBe('raw,code,display\nWT,29463-7,Body weight\nHT,8302-2,Height; standing\n');
  expect(written('codes.yaml')).toBe(`${before}measures:\n  system: loinc\n`);
  const { out } = await lintel(environment, 'check');
  expect(out).toMatch(/code map measures has no row for 2 values of NO in 2 rows/);
  expect(out).toMatch(/; 0 errors, \d+ warnings?$/);
});

test('an existing file is replaced only on request, and a declared map is unchanged', async () => {
  const files = {
    'codes.yaml': 'sex:\n  system: loinc\n  rows: { F: female, M: male }\n',
    'sex.csv': 'raw,code\nX,other\n',
  };
  const { run, written } = withList('key,target\nU,unknown\n', files);
  const refused = await run('--name', 'sex', '--write');
  expect(refused.code).toBe(1);
  expect(refused.notes).toMatch(/sex\.csv is there already; --replace replaces it\.$/);
  expect(written('sex.csv')).toBe(files['sex.csv']);
  const replaced = await run('--name', 'sex', '--write', '--replace');
  expect(replaced.out).toContain('codes.yaml has a map sex already');
  expect(written('sex.csv')).toBe('raw,code\nU,unknown\n');
  expect(written('codes.yaml')).toBe(files['codes.yaml']);
});

test('blank keys, rows without a code and two codes for one key are reported by their lines, and nothing is written', async () => {
  const { run, written } = withList('raw,code\nA,1\n,2\nB,\nA,3\n\nC,4\nc,5\nA,1\n');
  const { code, out } = await run('--name', 'x', '--write');
  expect(code).toBe(1);
  const told = out.split('\n').map(line => line.replace(/^.*list\.csv:/, ''));
  expect(told).toEqual([
    '3:1: blank key; expected a raw value; what a blank means is `blank:` in codes.yaml [LNT-413]',
    '4:1: no code; expected a code, or `absent` where the value means none [LNT-413]',
    '5:1: two codes for one key, the other in line 2; found A: 1 and 3 [LNT-413]',
    '8:1: warning: two keys that differ in case alone; found C and c [LNT-413]',
  ]);
  expect(written('x.csv')).toBeUndefined();
});

test('a list is read with a BOM, in UTF-16, in Windows-1252 or tab-separated', async () => {
  const text = 'key\tcode\tname\nB\tb\tBüro\n';
  const latin = Buffer.from(text, 'latin1');
  for (const [bytes, encoding] of [
    [Buffer.from(`\uFEFF${text}`), 'utf-8'],
    [Buffer.from(`\uFEFF${text}`, 'utf16le'), 'utf-16le'],
    [latin, 'windows-1252'],
  ] as const) {
    const { out } = await withList(bytes).run('--name', 'x');
    expect(out).toContain(`x.csv: 1 row; ${encoding}, separated by tab`);
    expect(out).toContain('  B,b,Büro');
  }
  const wrong = await withList(latin).run('--name', 'x', '--encoding', 'utf-8');
  expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining('the bytes are not utf-8; expected --encoding')]);
});

test('a missing column is reported with the existing ones; numbers select columns of a list without headings', async () => {
  const { out, code } = await withList('a,b,c\n1,2,3\n').run('--name', 'x', '--raw', 'aa', '--code', 'b');
  expect(code).toBe(1);
  expect(out).toContain('list.csv:1:1: no column for --raw; expected a, b, c; found aa; did you mean a?');
  const unknown = await withList('a,b,c\n1,2,3\n').run('--name', 'x');
  expect(unknown.out).toContain('which column is the raw value is not known; expected --raw with one of a, b, c');
  const headless = await withList('Weight,WT,29463-7\n').run(
    '--name',
    'x',
    '--no-header',
    '--raw',
    '2',
    '--code',
    '3',
    '--display',
    '1',
  );
  expect(headless.out).toContain('  WT,29463-7,Weight');
});

test.each([
  ['Código local;LOINC;Descripción', 'GLU;2345-7;Glucosa', 'raw from Código local, code from LOINC, display from Desc'],
  ['Prueba;Código LOINC', 'GLU;2345-7', 'raw from Prueba, code from Código LOINC'],
  ['Loinc code;Prueba', '2345-7;GLU', 'raw from Prueba, code from Loinc code'],
])('the heading %s names the system of the map', async (headings, row, taken) => {
  const files = { 'codes.yaml': 'lab:\n  system: loinc\n  rows: {}\n' };
  const declared = await withList(`${headings}\n${row}\n`, files).run('--name', 'lab');
  expect([declared.code, declared.out]).toEqual([0, expect.stringContaining(taken)]);
  const asked = await withList(`${headings}\n${row}\n`).run('--name', 'x', '--system', 'http://loinc.org');
  expect(asked.out).toContain(taken);
  const more = await withList(`${headings};Unidad\n${row};mg\n`, files).run('--name', 'lab');
  expect(more.out).toContain('which column is the raw value is not known; expected --raw with one of ');
  expect(more.out).toContain(', Unidad [LNT-413]');
});

test('unknown systems and codes that their system cannot have are reported', async () => {
  const { out, code } = await withList('raw,code,system\nA,29463-8,loinc\nB,x,lonic\n').run('--name', 'x');
  expect(code).toBe(1);
  expect(out).toMatch(/^x\.csv:2:1: warning: a code that is invalid in its system/m);
  expect(out).toMatch(/^x\.csv:3:1: unknown system; .*did you mean loinc\? \[LNT-405\]$/m);
});

test('invalid arguments and the demo pack are refused', async () => {
  const { environment } = smallClinic();
  expect((await lintel(environment, 'codes', 'export', 'x.csv')).code).toBe(2);
  expect((await lintel(environment, 'codes', 'import', 'x y.csv')).code).toBe(2);
  expect((await lintel(environment, 'codes', 'import', '/nowhere/x.csv')).notes).toBe(
    'There is no file /nowhere/x.csv.',
  );
  expect((await lintel({}, 'codes', 'import', 'x.csv')).notes).toContain('a pack of your own');
});
