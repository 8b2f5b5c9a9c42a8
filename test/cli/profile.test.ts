import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

/** A table typical of old products: 3,000 rows. */
function uglyClinic() {
  const clinic = smallClinic();
  const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
  database.exec(`CREATE TABLE VISIT (VID INTEGER PRIMARY KEY, PNAME TEXT, dob, BORN8 CHAR(8), SEEN DATETIME, CLOSED TEXT,
    STS VARCHAR(2), SCORE NUMERIC, PHONE TEXT, NOTE CLOB, IMG BLOB, SECRET TEXT, "odd;name" TEXT)`);
  const insert = database.prepare(`INSERT INTO VISIT VALUES (${Array(13).fill('?').join(', ')})`);
  database.exec('BEGIN');
  for (let i = 0; i < 3000; i++) {
    const day = `${1950 + (i % 70)}-${String(1 + (i % 12)).padStart(2, '0')}-${String(1 + (i % 28)).padStart(2, '0')}`;
    const values = [i * 3, ['KOWALSKI^ANNA', 'DOE^JANE'][i % 2], i % 10 ? day : '1753-01-01', day.replaceAll('-', '')];
    const times = [i % 2 ? `${day} 09:15:00` : `${day}T09:15:00Z`, i % 5 ? '12/31/9999' : '03/14/2020'];
    const rest = [['A', 'I', 'X ', ' ', null][i % 5], i % 50 ? (i % 97) + 0.5 : 999, `555-${i % 7}000`];
    insert.run(
      ...[...values, ...times, ...rest].map(value => value ?? null),
      ...[i % 2 ? 'Zebra was seen today and is fine' : null, new Uint8Array([1, i % 256]), 'canary', 'x'],
    );
  }
  database.exec('COMMIT');
  database.close();
  return clinic;
}

test('without a table there is a line for each, with the mappings that read it', async () => {
  const { environment } = smallClinic();
  const { code, out } = await lintel(environment, 'profile');
  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    'table             rows  columns  key; read by',
    'PERSON               2        4  ID; people',
    'WEIGHING             2        4  NO; weights',
    '2 tables; lintel profile TABLE lists its columns',
  ]);
});

test('bytes are no codes, and numbers at the right of their column have leading blanks', async () => {
  const { environment, folder } = smallClinic();
  const database = new DatabaseSync(join(folder, 'clinic.sqlite'));
  database.exec('CREATE TABLE CHARTED (UID BINARY(16), KIND BINARY(1), NBR CHAR(8))');
  const insert = database.prepare('INSERT INTO CHARTED VALUES (?, ?, ?)');
  for (let i = 0; i < 60; i++)
    insert.run(new Uint8Array(16).fill(27 + (i % 3)), new Uint8Array([27 + (i % 2)]), String(1000 + i).padStart(8));
  database.close();
  const { out } = await lintel(environment, 'profile', 'charted');
  expect(out).not.toMatch(/[^ -~\n]/);
  expect(out).toMatch(/UID .*\n {4}forms {2}16 bytes 100%\nKIND/);
  expect(out).toMatch(/KIND .*\n {4}forms {2}bytes 100%\n {4}codes {2}0x1B 50%, 0x1C 50%\n/);
  expect(out).toMatch(/NBR .*\n {4}forms {2}whole number 100%\n {4}leading blanks {2}100%/);
});

test('a table is reported column by column, in lines that fit', async () => {
  const { environment } = uglyClinic();
  const { code, out } = await lintel(environment, 'profile', 'visit');
  expect(code).toBe(0);
  expect(out).toContain('VISIT: 3,000 rows (all read)\nkey VID; read by no mapping\n');
  const of = (column: string): string =>
    out.match(new RegExp(`^${column} (?:.*)(?:\\n {4}.*)*`, 'm'))?.[0] ?? `no column ${column}`;
  expect(of('PNAME')).toMatch(/forms {2}ABC\^ABC 100%/);
  expect(of('dob')).toMatch(/range {2}1951 to 2019\n {4}none\? {2}1753-01-01 10%/);
  expect(of('BORN8')).toMatch(/CHAR\(8\) .* 8\n {4}forms {2}yyyymmdd 100%/);
  expect(of('SEEN')).toMatch(/forms {2}yyyy-mm-dd hh:mm:ss 50%, yyyy-mm-ddThh:mm:ssZ 50%/);
  expect(of('CLOSED')).toMatch(/none\? {2}12\/31\/9999 80%/);
  expect(of('STS')).toMatch(/20% +20% +3 {2}1\n/);
  expect(of('STS')).toMatch(/codes {2}A 20%, I 20%, X 20%\n {4}trailing blanks {2}20%/);
  expect(of('SCORE')).toMatch(/range {2}0\.5 to 96\.5\n {4}none\? {2}999 2%/);
  expect(of('NOTE')).toMatch(/50% .*\n {4}forms {2}several words 50%/);
  expect(of('odd;name')).toMatch(/not read: no mapping can name it/);
  expect(Math.max(...out.split('\n').map(line => line.length))).toBeLessThanOrEqual(100);
});

test('no name, number or note is shown unless its column is asked for', async () => {
  const { environment } = uglyClinic();
  const { out } = await lintel(environment, 'profile', 'VISIT');
  expect(out).not.toMatch(/KOWALSKI|DOE|Zebra|555-/);
  const asked = await lintel(environment, 'profile', 'VISIT', '--values', 'PNAME');
  expect(asked.out).toContain('codes  DOE^JANE 50%, KOWALSKI^ANNA 50%');
  expect(asked.out).not.toMatch(/Zebra|555-/);
  const unknown = await lintel(environment, 'profile', 'VISIT', '--values', 'PNAM');
  expect([unknown.code, unknown.notes]).toEqual([1, '--values names no column of VISIT: pnam']);
});

test('denied columns are not read, even with broken mappings; without a readable pack nothing is shown', async () => {
  const { environment, pack } = uglyClinic();
  const write = (text: string): void => writeFileSync(join(pack, 'pack.yaml'), text);
  write('name: small\ntitle: Small\nzone: UTC\ndeny: ["*.SECRET"]\n');
  writeFileSync(join(pack, 'broken.yaml'), 'mapping: [');
  const { out } = await lintel(environment, 'profile', 'VISIT', '--values', 'SECRET');
  expect(out).toMatch(/^SECRET .*not read: `deny` of pack\.yaml/m);
  expect(out).not.toContain('canary');
  write('name: small\ndeny: ["*.SECRET"\n');
  const refused = await lintel(environment, 'profile', 'VISIT');
  expect([refused.code, refused.out]).toEqual([1, '']);
  expect(refused.notes).toMatch(/^pack\.yaml:2:7: .*\nThe pack cannot be read/s);
});

test('it needs no pack, and --json has the same content', async () => {
  const { environment, pack } = uglyClinic();
  rmSync(pack, { recursive: true });
  const { MAPPINGS: _, ...without } = environment;
  const { code, out } = await lintel(without, 'profile', 'VISIT', '--json');
  expect(code).toBe(0);
  const told = JSON.parse(out);
  expect(told).toMatchObject({ table: 'VISIT', rows: 3000, read: 3000, key: ['VID'], mappings: [] });
  expect(told.columns[6]).toMatchObject({
    name: 'STS',
    profile: { values: 3000, nulls: 600, blanks: 600, distinct: { count: 3, atLeast: false } },
  });
});

test('the sample of a large table is spread over its key', async () => {
  const { environment } = uglyClinic();
  const { out } = await lintel(environment, 'profile', 'VISIT', '--rows', '200');
  expect(out).toContain('VISIT: 3,000 rows (200 read, from 20 places along VID: shares are estimates)');
  const [, least, greatest] = /^VID .*\n.*\n {4}range {2}(\d+) to (\d+)/m.exec(out) ?? [];
  expect(Number(least)).toBeLessThan(100);
  expect(Number(greatest)).toBeGreaterThan(8500);
});

test('outliers among the keys do not empty the sample', async () => {
  const clinic = uglyClinic();
  const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
  database.exec("INSERT INTO VISIT (VID, STS) VALUES (2000000000, 'A')");
  database.close();
  const { out } = await lintel(clinic.environment, 'profile', 'VISIT', '--rows', '200');
  expect(out).toContain('VISIT: 3,001 rows (200 read, ');
});

test('an unknown table is reported with the nearest', async () => {
  const { code, notes } = await lintel(smallClinic().environment, 'profile', 'PERSN');
  expect([code, notes]).toEqual([1, 'There is no table PERSN; did you mean PERSON?']);
});

test('repeated patient keys are not taken for codes, coded numbers are', async () => {
  const { environment, folder } = smallClinic();
  const database = new DatabaseSync(join(folder, 'clinic.sqlite'));
  database.exec('CREATE TABLE STAY (NO INTEGER PRIMARY KEY, PID INTEGER, WARD INTEGER)');
  const insert = database.prepare('INSERT INTO STAY VALUES (?, ?, ?)');
  for (let i = 0; i < 300; i++) insert.run(i, 1000 + (i % 60), i % 3 ? 7 : i % 40);
  database.close();
  const { out } = await lintel(environment, 'profile', 'STAY');
  expect(out).not.toMatch(/\b10[0-5]\d \d+%/);
  expect(out).toMatch(/codes +7 \d+%/);
});
