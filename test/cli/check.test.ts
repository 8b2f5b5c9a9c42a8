import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

const BROKEN = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAM } } ]
  gendre: { from: SEX, via: sex }
  birthDate: { from: BORN }
`;

const PEOPLE_BY_SEX = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [SEX] }
id: "{SEX}"
elements:
  name: [ { family: { from: SURNAME } } ]
`;

test('a valid pack has a summary and exit code 0', async () => {
  const { pack, environment } = smallClinic();
  const { code, out } = await lintel(environment, 'check', pack);
  expect(out).toBe('small: 2 mappings of 2 types; 0 errors, 0 warnings');
  expect(code).toBe(0);
});

test('an optional part that a pack lacks is a notice', async () => {
  const { pack, environment } = smallClinic({ 'ccds.yaml': 'lists: {}\n' });
  const { code, out } = await lintel(environment, 'check', pack);
  expect(out).toMatch(/^ccds\.yaml:1:1: notice: .*no mapping is of Encounter/m);
  expect(out).toContain('0 errors, 0 warnings, 1 notice');
  expect(code).toBe(0);
});

test('an assembled text is reported if it prevents searches that its columns could serve', async () => {
  const pack = (family: string, value: string) =>
    smallClinic({
      'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  identifier:
    - { system: "urn:number", value: { from: ID } }
    - { system: "urn:both", value: ${value} }
  name: [ { family: ${family} } ]
  gender: { from: SEX, via: sex }
`,
    });
  const { environment } = pack('{ join: [{ from: SURNAME }, { from: SEX }] }', '{ template: "{SEX}-{ID}" }');
  const { code, out } = await lintel(environment, 'check');
  expect(out).toMatch(
    /^person\.yaml:8:\d+: notice: Patient cannot be searched by identifier; .*`sql`.*`template`.*\[LNT-514\]$/m,
  );
  expect(out).toMatch(/^person\.yaml:9:\d+: notice: Patient cannot be searched by family, name; .*`join`/m);
  expect(out).toMatch(/0 errors, \d+ warnings?, 2 notices/);
  expect(code).toBe(0);
  const sql = '{ sql: "{SURNAME} || {SEX}", type: text }';
  const computed = await lintel(pack(sql, sql).environment, 'check');
  expect(computed.out).not.toContain('LNT-514');
});

test('every problem is reported at once, with its place and the nearest right spelling, and the exit code is 1', async () => {
  const { environment } = smallClinic({ 'person.yaml': BROKEN });
  const { code, out } = await lintel(environment, 'check');
  expect(out).toMatch(/^person\.yaml:6:\d+: .*SURNAM.*did you mean SURNAME\?/m);
  expect(out).toMatch(/^person\.yaml:7:\d+: .*did you mean gender\?/m);
  expect(out).toMatch(/^\d+ errors, \d+ warnings?$/m);
  expect(code).toBe(1);
});

test('--parameters lists what can be searched, how, and what cannot', async () => {
  const { environment } = smallClinic();
  const { out } = await lintel(environment, 'check', '--parameters');
  const lines = out.split('\n');
  const of = (type: string, offset: number) => lines[lines.indexOf(type) + offset];
  expect(of('Patient', 1)).toMatch(/^ {2}offered .*\bgender\b/);
  expect(of('Patient', 3)).toMatch(/^ {2}none .*\baddress-city\b/);
  expect(of('Observation', 1)).toMatch(/\bpatient\b/);
});

test('--parameters names the columns without an index that searches and sorts of a whole type read', async () => {
  const { environment } = smallClinic();
  const { out } = await lintel(environment, 'check', '--parameters');
  const observation = out.slice(out.indexOf('Observation\n'), out.indexOf('Patient\n'));
  expect(observation).toMatch(/^ {2}no index .*\bdate \(WEIGHING\.TAKEN\)/m);
  expect(observation).toMatch(/^ {2}full sort .*\bdate \(WEIGHING\.TAKEN\)/m);
  expect(observation).toMatch(/^ {2}no index .*\bcode-value-quantity \(WEIGHING\.KG\)/m);
  expect(observation).not.toContain('WEIGHING.PERSON_ID');
  const indexed = smallClinic();
  const database = new DatabaseSync(join(indexed.folder, 'clinic.sqlite'));
  database.exec('CREATE INDEX WEIGHING_TAKEN ON WEIGHING (TAKEN)');
  database.close();
  expect((await lintel(indexed.environment, 'check', '--parameters')).out).not.toContain('WEIGHING.TAKEN');
});

test('an index whose collation no comparison can use counts as none, in check and in explain', async () => {
  const advice = async (collation: string, change = '') => {
    const clinic = smallClinic();
    const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
    database.exec(`CREATE INDEX BY_SEX ON PERSON (SEX ${collation});
      CREATE INDEX BY_SURNAME ON PERSON (SURNAME COLLATE NOCASE); ${change}`);
    database.close();
    const { out } = await lintel(clinic.environment, 'check', '--parameters');
    const [explained, missing] = await Promise.all(
      ['gender=female', 'family:missing=false'].map(query => lintel(clinic.environment, 'explain', `Patient?${query}`)),
    );
    return { out: out.slice(out.indexOf('Patient\n')), explained: explained?.out ?? '', missing: missing?.out ?? '' };
  };
  const binary = await advice('', "UPDATE PERSON SET SEX = SEX || ' '");
  expect(binary.out).toMatch(/no index .*\bgender \(PERSON\.SEX \(index BY_SEX is BINARY, comparisons are RTRIM\)\)/);
  expect(binary.explained).toContain(
    'index BY_SEX of PERSON (SEX) is not used: it is COLLATE BINARY, comparisons are RTRIM; an index on (SEX COLLATE RTRIM) would serve',
  );
  // No index serves a test for any value.
  expect(binary.missing).toContain('SCAN');
  expect(binary.missing).not.toContain('is not used');
  // A binary index serves if no text ends in a blank.
  for (const fit of [await advice('COLLATE RTRIM'), await advice('')]) {
    expect(fit.out).not.toMatch(/no index .*PERSON\.SEX/);
    expect(fit.explained).not.toContain('is not used');
    expect(fit.explained).toContain('USING INDEX BY_SEX');
  }
});

test('a unique index that distinguishes trailing blanks does not prove a key unique', async () => {
  const text = PEOPLE_BY_SEX.replaceAll('SEX', 'SURNAME').replace('"{SURNAME}"', '"x-{SURNAME}"');
  const clinic = smallClinic({ 'person.yaml': text });
  const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
  database.exec("UPDATE PERSON SET SURNAME = 'A' || substr('  ', 1, ID)");
  database.exec('CREATE UNIQUE INDEX NAMES ON PERSON (SURNAME COLLATE BINARY)');
  database.close();
  const { out } = await lintel(clinic.environment, 'check');
  expect(out).toMatch(/^person\.yaml:1:1: the key of people is not unique under `where`: 1 value in several rows/m);
});

test('rows that contradict the pack are reported, as errors if answers would be wrong', async () => {
  const { folder, environment } = smallClinic();
  const database = new DatabaseSync(join(folder, 'clinic.sqlite'));
  database.exec("INSERT INTO PERSON VALUES (3, 'Nowak', NULL, 'X')");
  database.close();
  const coded = await lintel(environment, 'check');
  expect(coded.out).toMatch(/^person\.yaml:7:\d+: warning: code map sex has no row for 1 value of SEX in 1 row/m);
  expect(coded.code).toBe(0);
  const doubled = smallClinic({ 'person.yaml': PEOPLE_BY_SEX });
  const other = new DatabaseSync(join(doubled.folder, 'clinic.sqlite'));
  other.exec("INSERT INTO PERSON VALUES (3, 'Nowak', NULL, 'M')");
  other.close();
  const { out, code } = await lintel(doubled.environment, 'check');
  expect(out).toMatch(/^person\.yaml:1:1: the key of people is not unique/m);
  expect(code).toBe(1);
});

test('tests beside the mappings run, and failed expectations are reported by line', async () => {
  const rows = "rows: { PERSON: [{ ID: '5', SURNAME: Nowak, SEX: F }] }";
  const good = `mapping: people\n${rows}\nresource: { gender: female }\nmatches: [gender=female]\nmisses: [gender=male]\n`;
  const sound = await lintel(smallClinic({ 'person.test.yaml': good }).environment, 'check');
  expect(sound.out).toBe('1 test of mappings ran\nsmall: 2 mappings of 2 types; 0 errors, 0 warnings');
  const bad = `mapping: people\n${rows}\nresource: { gender: male }\nmatches: [gender=male]\nmisses: [gender=female]\n`;
  const { out, code } = await lintel(smallClinic({ 'person.test.yaml': bad }).environment, 'check');
  expect(out).toContain('person.test.yaml:3:21: Patient.gender is another; expected male; found female');
  expect(out).toContain('person.test.yaml:4:11: finds no Patient, and should');
  expect(out).toContain('person.test.yaml:5:10: finds a Patient, and should not');
  expect(code).toBe(1);
});

test('a test that cannot be read is reported by its line, and the others run', async () => {
  const told = async (text: string) => (await lintel(smallClinic({ 'a.test.yaml': text }).environment, 'check')).out;
  const bad: readonly (readonly [text: string, line: RegExp])[] = [
    ['- mapping: people\n', /^a\.test\.yaml:1:1: not in the right form; expected a map; found a list \[LNT-402\]$/m],
    ['just words\n', /^a\.test\.yaml:1:1: not in the right form; expected a map; found just words \[LNT-402\]$/m],
    ['mapping: people\nrow: {}\n', /^a\.test\.yaml:2:1: unknown key; found row; did you mean rows\? \[LNT-403\]$/m],
    ['maping: people\n', /^a\.test\.yaml:1:1: unknown key; found maping; did you mean mapping\? \[LNT-403\]$/m],
    [
      'mapping: people\nrows: { PERSON: 5 }\n',
      /^a\.test\.yaml:2:17: not in the right form; expected a map or a list; found 5 \[LNT-402\]$/m,
    ],
    [
      'mapping: people\nrows: [PERSON]\n',
      /^a\.test\.yaml:2:7: not in the right form; expected a map; found a list \[LNT-402\]$/m,
    ],
    [
      'mapping: people\nrows: { PERSON: [{ ID: { a: b } }] }\n',
      /^a\.test\.yaml:2:24: not in the right form; expected a single value; found a map \[LNT-402\]$/m,
    ],
    [
      'mapping: people\nrows: { PERSON: [{ IDD: "1" }] }\n',
      /^a\.test\.yaml:2:20: unknown column; found IDD; did you mean ID\? \[LNT-507\]$/m,
    ],
    [
      'mapping: people\nresource: words\n',
      /^a\.test\.yaml:2:11: not in the right form; expected a map; found words \[LNT-402\]$/m,
    ],
    [
      'mapping: people\nmatches: { a: b }\n',
      /^a\.test\.yaml:2:10: not in the right form; expected a single value or a list; found a map \[LNT-402\]$/m,
    ],
    ['mapping: people\nmatches: ["gendre=male"]\n', /^a\.test\.yaml:2:11: this search is refused: /m],
    [
      'mapping: people\nrows: { PERSON: [{ ID: x, SEX: M }] }\nresource: { gender: male }\n',
      /^a\.test\.yaml:3:11: the rows make no Patient \[LNT-801\]$/m,
    ],
    ['mapping: peple\n', /^a\.test\.yaml:1:10: a test of no mapping; found peple; did you mean people\? \[LNT-801\]$/m],
    ['mapping: [\n', /^a\.test\.yaml:1:10: `\[` is not closed; expected `\]` at its end/m],
  ];
  for (const [text, line] of bad) expect(await told(text), text).toMatch(line);
  const both = await told(`mapping: peple\n---\nmapping: people\nrows: { PERSON: [{ ID: "5" }] }\nmatches: [_id=5]\n`);
  expect(both).toContain('2 tests of mappings ran');
  expect(both).toContain('1 error, 0 warnings');
});

test('bytes of a test are written as hexadecimal digits, and NULL as null', async () => {
  const uid = '6fa459ea-ee8a-3ca4-894e-db77e160355e';
  const person = `mapping: people
resource: Patient
source: { table: PICTURE, as: p, key: [NO] }
id: "{NO}"
elements:
  identifier: [ { system: "urn:x", value: { from: UID, via: uuid } } ]
  photo: [ { contentType: image/png, data: { from: IMG, via: base64 } } ]
`;
  const of = async (uidText: string) => {
    const row = `{ NO: "1", UID: ${uidText}, IMG: 0xCAFE }`;
    const text = `mapping: people\nrows: { PICTURE: [${row}] }\nresource: { photo: [{ data: yv4= }] }\nmatches: ["identifier=${uid}"]\n`;
    const clinic = smallClinic({ 'person.yaml': person, 'weighing.yaml': '', 'a.test.yaml': text, 'codes.yaml': '' });
    const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
    database.exec('CREATE TABLE PICTURE (NO INTEGER PRIMARY KEY, UID BLOB, IMG BLOB)');
    database.close();
    return (await lintel(clinic.environment, 'check')).out;
  };
  expect(await of('0x6FA459EAEE8A3CA4894EDB77E160355E')).toContain(
    '1 test of mappings ran\nsmall: 1 mapping of 1 type; 0 errors',
  );
  expect(await of('null')).toMatch(/^a\.test\.yaml:4:11: finds no Patient, and should \[LNT-801\]$/m);
  expect(await of(uid)).toMatch(
    /^a\.test\.yaml:2:30: column UID \(BLOB\) holds bytes; expected 0x and hexadecimal digits/m,
  );
});

test('a locked pack is checked without a database, and the lock holds only the tables that are used', async () => {
  const { pack, environment } = smallClinic();
  expect((await lintel({ MAPPINGS: pack }, 'check', '--locked')).code).toBe(1);
  expect((await lintel(environment, 'lock')).code).toBe(0);
  const checked = await lintel({ MAPPINGS: pack }, 'check', '--locked');
  expect(checked.out).toBe('small: 2 mappings of 2 types; 0 errors, 0 warnings');
  const lock = JSON.parse(readFileSync(join(pack, 'schema.lock.json'), 'utf8'));
  expect(Object.keys(lock.tables)).toEqual(['PERSON', 'WEIGHING']);
  writeFileSync(join(pack, 'person.yaml'), BROKEN);
  const broken = await lintel({ MAPPINGS: pack }, 'check', '--locked');
  expect(broken.out).toMatch(/\n2 errors, 0 warnings, against schema\.lock\.json, which lintel lock writes anew$/);
});

test('ccds.yaml is checked against the lock, too', async () => {
  const { pack, environment } = smallClinic({ 'ccds.yaml': 'lists: { vital-signs: Observation }\n' });
  expect((await lintel(environment, 'lock')).code).toBe(0);
  expect((await lintel({ MAPPINGS: pack }, 'check', '--locked')).code).toBe(0);
  writeFileSync(join(pack, 'ccds.yaml'), 'custodian: Organization?_id=x\nlists: { vital-signs: Observation?cod=1 }\n');
  const { out, code } = await lintel({ MAPPINGS: pack }, 'check', '--locked');
  expect(code).toBe(1);
  expect(out).toMatch(/^ccds\.yaml:1:12: .*Organization/m);
  expect(out).toMatch(/^ccds\.yaml:2:23: .*cod/m);
});

test('a pack with errors is not locked', async () => {
  const { environment } = smallClinic({ 'person.yaml': BROKEN });
  const { code, notes } = await lintel(environment, 'lock');
  expect(code).toBe(1);
  expect(notes).toContain('SURNAM');
});

test('a missing folder is reported without a stack trace', async () => {
  const { environment } = smallClinic();
  const { code, notes } = await lintel(environment, 'check', '/nowhere/at/all');
  expect(code).toBe(1);
  expect(notes).toBe('MAPPINGS: the folder /nowhere/at/all is not there (ENOENT). [LNT-905]');
});

test('an explicit schema version overrides that of the pack', async () => {
  const { environment } = smallClinic({
    'other.yaml':
      `${PEOPLE_BY_SEX.replace('people', 'others').replace('"{SEX}"', '"o-{SEX}"')}only: { schema: "2" }\n`.replace(
        'name: [',
        'nmae: [',
      ),
  });
  expect((await lintel(environment, 'check')).out).toContain('small: 2 mappings of 2 types; 0 errors, 1 warning');
  for (const { out, code } of [
    await lintel(environment, 'check', '--schema', '2'),
    await lintel({ ...environment, SCHEMA: '2' }, 'check'),
  ]) {
    expect(out).toMatch(/^other\.yaml:6:3: unknown element of Patient; found nmae; did you mean name\? \[LNT-501\]$/m);
    expect(code).toBe(1);
  }
});

test('a pack that extends another is checked with its own tests and lock', async () => {
  const { folder, pack, environment } = smallClinic({ 'wrong.test.yaml': 'mapping: nobody\n' });
  const site = join(folder, 'site');
  mkdirSync(site);
  writeFileSync(join(site, 'pack.yaml'), `extends: ../${basename(pack)}\nname: site\n`);
  expect((await lintel(environment, 'check', pack)).out).toContain('a test of no mapping');
  expect((await lintel(environment, 'check', site)).out).toBe('site: 2 mappings of 2 types; 0 errors, 0 warnings');
  await lintel(environment, 'lock', site);
  expect(readdirSync(site).sort()).toEqual(['mapping.schema.json', 'pack.yaml', 'schema.lock.json']);
  expect((await lintel(environment, 'check', site, '--locked')).code).toBe(0);
});

test('the check compares rows case-insensitively where a lookup does', async () => {
  const { environment } = smallClinic({
    'other.yaml': `mapping: others
resource: Practitioner
compartment: { none: the same people as staff }
source:
  table: PERSON
  as: p
  key: [ID]
  lookup: { o: { table: PERSON, on: { SURNAME: { from: SURNAME, via: upper } }, fold: true } }
id: "{ID}"
elements:
  name: [ { family: { from: o.SURNAME } } ]
`,
  });
  const { out, code } = await lintel(environment, 'check');
  expect(out).toContain('small: 3 mappings of 3 types; 0 errors');
  expect(code).toBe(0);
});

test('--mapping checks rows and searches of that mapping only', async () => {
  const { environment } = smallClinic();
  const json = async (...args: readonly string[]) => {
    const { code, out } = await lintel(environment, 'check', '--json', ...args);
    const { sections }: { sections: { name: string; notes: string[]; tables: { rows: string[][] }[] }[] } =
      JSON.parse(out);
    const of = (name: string) => sections.find(section => section.name === name);
    return { code, rows: of('rows')?.tables[0]?.rows.map(([name]) => name), searches: of('searches')?.notes[0] };
  };
  const [all, one] = [await json(), await json('--mapping', 'weights')];
  expect(all).toMatchObject({ code: 0, rows: ['people', 'weights'] });
  expect(one).toMatchObject({ code: 0, rows: ['weights'] });
  expect(Number(/of (\d+)/.exec(one.searches ?? '')?.[1])).toBeLessThan(
    Number(/of (\d+)/.exec(all.searches ?? '')?.[1]),
  );
  const unknown = await lintel(environment, 'check', '--mapping', 'weigths');
  expect(unknown).toMatchObject({ code: 2, notes: expect.stringContaining('did you mean weights?') });
});
