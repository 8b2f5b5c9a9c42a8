/**
 * `lintel indexes` prints an index that the database accepts and the planner uses; once it exists, it is not printed
 * any more.
 */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { type SmallClinic, smallClinic } from './small-clinic.ts';

interface Shown {
  readonly engine: string;
  readonly indexes: readonly {
    readonly table: string;
    readonly columns: string[];
    readonly statement: string;
    readonly serves: string[];
    readonly tried: {
      readonly search: string;
      readonly effects: readonly { readonly purpose: string; readonly before: string[]; readonly after: string[] }[];
    } | null;
  }[];
}

async function shown({ environment }: SmallClinic): Promise<Shown> {
  const { code, out, notes } = await lintel(environment, 'indexes', '--json');
  expect([code, notes]).toEqual([0, '']);
  return JSON.parse(out);
}

function execute({ environment }: SmallClinic, ...statements: readonly string[]): void {
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  for (const statement of statements) database.exec(statement);
  database.close();
}

test('the engine accepts and uses each proposed index, and then no more are proposed', async () => {
  const clinic = smallClinic();
  const { engine, indexes } = await shown(clinic);
  expect(engine).toBe('sqlite');
  const of = (column: string) => indexes.find(({ columns }) => columns[0] === column);
  expect(of('TAKEN')).toMatchObject({
    table: 'WEIGHING',
    statement: 'CREATE INDEX LINTEL_WEIGHING_TAKEN ON WEIGHING (TAKEN);',
    serves: ['Observation?_sort=date', 'Observation?date'],
  });
  // The clinic already has an index on this column.
  expect(of('PERSON_ID')).toBeUndefined();
  const explained = async () => (await lintel(clinic.environment, 'explain', 'Observation?date=2024-03-10')).out;
  expect(await explained()).not.toContain('LINTEL_WEIGHING_TAKEN');
  execute(clinic, ...indexes.map(({ statement }) => statement));
  expect(await explained()).toContain('LINTEL_WEIGHING_TAKEN');
  expect((await shown(clinic)).indexes).toEqual([]);
});

const VISITS = `mapping: notes
resource: Observation
source:
  table: WEIGHING
  as: w
  key: [NO]
  lookup: { k: { table: KIND, on: { CODE: KG }, where: { LIST: W } } }
id: "n-{NO}"
elements:
  status: final
  code: loinc#29463-7
  note: [ { text: { from: k.WORDS } } ]
  subject: { ref: people, on: { ID: PERSON_ID } }
`;

test('for a lookup the fixed columns come before the join columns, unless an index has both', async () => {
  const clinic = smallClinic({ 'notes.yaml': VISITS });
  execute(clinic, 'CREATE TABLE KIND (LIST CHAR(1) COLLATE RTRIM, CODE DECIMAL(6,2), WORDS VARCHAR(20) COLLATE RTRIM)');
  const wanted = (await shown(clinic)).indexes.find(({ serves }) => serves.includes('lookup k of notes'));
  expect(wanted?.statement).toBe('CREATE INDEX LINTEL_KIND_LIST_CODE ON KIND (LIST COLLATE RTRIM, CODE);');
  execute(clinic, 'CREATE UNIQUE INDEX KIND_KEY ON KIND (LIST, CODE)');
  expect((await shown(clinic)).indexes.flatMap(({ serves }) => serves)).not.toContain('lookup k of notes');
});

test('an index on one column is left out where another begins with it', async () => {
  const clinic = smallClinic({ 'notes.yaml': VISITS.replace('{ LIST: W }', '{ LIST: W, WORDS: x }') });
  execute(clinic, 'CREATE TABLE KIND (LIST CHAR(1) COLLATE RTRIM, CODE DECIMAL(6,2), WORDS VARCHAR(20) COLLATE RTRIM)');
  const { indexes } = await shown(clinic);
  const keys = indexes.map(({ table, columns }) => `${table}:${columns.join(',')}`);
  for (const key of keys) expect(keys.filter(other => other !== key && other.startsWith(`${key},`))).toEqual([]);
  expect(keys).toContain('KIND:LIST,WORDS,CODE');
});

test('the text has each statement with what it serves, ready to be run', async () => {
  const clinic = smallClinic();
  const { out } = await lintel(clinic.environment, 'indexes');
  expect(out).toMatch(/^-- \d+ indexes that the pack small would use\n/);
  expect(out).toContain(
    '-- Observation?_sort=date, Observation?date\nCREATE INDEX LINTEL_WEIGHING_TAKEN ON WEIGHING (TAKEN);',
  );
  execute(clinic, out);
  expect((await lintel(clinic.environment, 'indexes')).out).toBe('-- 0 indexes that the pack small would use');
});

test('a view cannot have an index: its columns are reported, and the SQL runs', async () => {
  const clinic = smallClinic({
    'person.yaml': `mapping: people
resource: Patient
source: { table: V_PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
  gender: { from: SEX, via: sex }
`,
  });
  execute(clinic, 'CREATE VIEW V_PERSON AS SELECT * FROM PERSON');
  const { out } = await lintel(clinic.environment, 'indexes');
  expect(out).not.toMatch(/ON V_PERSON/);
  expect(out).toMatch(/^-- V_PERSON is a view and cannot have an index; the tables behind it should have: .*\(SEX\)/m);
  execute(clinic, out);
});

const CLIENTS = `mapping: people
resource: Patient
source: { table: CLIENTS, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
`;

const STAYS = `mapping: stays
resource: Encounter
source: { table: STAYS, as: s, key: [NO] }
id: "{NO}"
elements:
  status: finished
  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#IMP
  subject: { ref: people, on: { ID: CLIENT } }
`;

test('a large table whose text key has the default collation of SQLite is reported with the index that helps', async () => {
  const clinic = smallClinic({ 'person.yaml': CLIENTS, 'weighing.yaml': STAYS });
  execute(
    clinic,
    'CREATE TABLE CLIENTS (ID TEXT NOT NULL PRIMARY KEY, SURNAME TEXT)',
    'CREATE TABLE STAYS (NO INTEGER NOT NULL PRIMARY KEY, CLIENT TEXT NOT NULL)',
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999) ' +
      "INSERT INTO CLIENTS SELECT 'c' || i, 'Name' FROM n",
    'INSERT INTO STAYS SELECT rowid, ID FROM CLIENTS',
  );
  const told = async () => (await lintel(clinic.environment, 'check', '--rows')).out;
  execute(clinic, "UPDATE CLIENTS SET ID = ID || ' '");
  expect(await told()).not.toContain('LNT-712');
  execute(clinic, "INSERT INTO CLIENTS VALUES ('c1000', 'Name')");
  expect(await told()).toMatch(
    /person\.yaml:1:1: warning: no index finds a row of CLIENTS \(1000 rows\) by ID; expected an index in the collation RTRIM, as `lintel indexes` prints it; found \S+ in BINARY \[LNT-712\]/,
  );
  const wanted = (await shown(clinic)).indexes.find(({ table }) => table === 'CLIENTS');
  expect(wanted?.statement).toBe('CREATE INDEX LINTEL_CLIENTS_ID ON CLIENTS (ID COLLATE RTRIM);');
  expect(wanted?.serves).toContain('references of stays to people');
  execute(clinic, wanted?.statement ?? '');
  expect(await told()).not.toContain('LNT-712');
  execute(clinic, `DROP INDEX LINTEL_CLIENTS_ID`, 'UPDATE CLIENTS SET ID = rtrim(ID)');
  expect(await told()).not.toContain('LNT-712');
});

test('for a pack of many files the command prints that it is checked', async () => {
  const mapping = (i: number): string => `mapping: people-${i}
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "p${i}-{ID}"
elements: { birthDate: { from: BORN } }
`;
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`person-${i}.yaml`, mapping(i)]));
  const { environment } = smallClinic(many);
  expect((await lintel(environment, 'indexes')).notes).toContain('Checking 202 files of mappings …');
  expect((await lintel(smallClinic().environment, 'indexes')).notes).toBe('');
});

test('below each index stands the plan that the engine predicts, as in the view Search', async () => {
  const clinic = smallClinic();
  const { out } = await lintel(clinic.environment, 'indexes');
  expect(out).toContain(
    `CREATE INDEX LINTEL_WEIGHING_TAKEN ON WEIGHING (TAKEN);
-- Observation?_sort=date, page of weights, now: SCAN w; USE TEMP B-TREE FOR ORDER BY
-- with it: SEARCH w USING INDEX LINTEL_WEIGHING_TAKEN (TAKEN>?)`,
  );
  const { indexes } = await shown(clinic);
  const taken = indexes.find(({ columns: [first] }) => first === 'TAKEN');
  expect(taken?.tried?.search).toBe('Observation?_sort=date');
  expect(taken?.tried?.effects[0]).toEqual({
    purpose: 'page of weights',
    before: ['SCAN w', 'USE TEMP B-TREE FOR ORDER BY'],
    after: ['SEARCH w USING INDEX LINTEL_WEIGHING_TAKEN (TAKEN>?)'],
  });
  // The search uses a code of the map: no row can have another code.
  const sex = indexes.find(({ columns: [first] }) => first === 'SEX');
  expect(sex?.tried?.effects[0]?.after.join()).toContain('LINTEL_PERSON_SEX');
  const inTime = await lintel(clinic.environment, 'indexes', '--budget', '0', '--json');
  expect(inTime.notes).toMatch(/^0 of \d+ indexes were tried in 0 s; --budget gives more time$/);
  expect(JSON.parse(inTime.out).indexes[0].tried).toBeNull();
});

const factsOf = (name: string, kind: string, code: string): string => `mapping: ${name}
resource: Observation
source: { table: FACT, as: f, key: [NO], where: { KIND: ${kind}, VOID: N } }
id: "${name}-{NO}"
elements:
  status: final
  code: loinc#${code}
  subject: { ref: people, on: { ID: PERSON_ID } }
`;

const FACT = `CREATE TABLE FACT (NO VARCHAR(9) COLLATE RTRIM NOT NULL PRIMARY KEY, KIND CHAR(1) COLLATE RTRIM NOT NULL,
  VOID CHAR(1) COLLATE RTRIM NOT NULL, PERSON_ID VARCHAR(9) COLLATE RTRIM NOT NULL)`;

test('where mappings divide a table by a column, an index on it and the key serves their pages', async () => {
  const clinic = smallClinic({
    'facts.yaml': `${factsOf('heights', 'H', '8302-2')}---\n${factsOf('pulses', 'P', '8867-4')}`,
  });
  execute(clinic, FACT.replace('PRIMARY KEY', 'UNIQUE'), 'CREATE INDEX FACT_KIND ON FACT (KIND)');
  const pages = async () => (await shown(clinic)).indexes.find(({ serves }) => serves.includes('pages of heights'));
  const wanted = await pages();
  expect(wanted).toMatchObject({
    // VOID has one value in both mappings: it divides nothing.
    statement: 'CREATE INDEX LINTEL_FACT_KIND_NO ON FACT (KIND COLLATE RTRIM, [NO] COLLATE RTRIM);',
    serves: ['pages of heights', 'pages of pulses'],
  });
  const [effect] = wanted?.tried?.effects ?? [];
  expect(effect?.before).toContain('USE TEMP B-TREE FOR ORDER BY');
  expect(effect?.after.join()).toMatch(/LINTEL_FACT_KIND_NO \(KIND=\?/);
  execute(clinic, wanted?.statement ?? '');
  expect(await pages()).toBeUndefined();
});

test('an index on texts has the collation that searches compare them in', async () => {
  const clinic = smallClinic({
    'facts.yaml': `${factsOf('heights', 'H', '8302-2')}---\n${factsOf('pulses', 'P', '8867-4')}`,
  });
  // With a binary index, and without blanks at their end, texts are compared in BINARY.
  execute(
    clinic,
    FACT.replaceAll(' COLLATE RTRIM', '').replace('PRIMARY KEY', 'UNIQUE'),
    'CREATE INDEX FACT_KIND ON FACT (KIND)',
    "INSERT INTO FACT VALUES ('1', 'H', 'N', '1'), ('2', 'P', 'N', '1')",
  );
  const pages = async () => (await shown(clinic)).indexes.find(({ serves }) => serves.includes('pages of heights'));
  const wanted = await pages();
  expect(wanted?.statement).toContain('(KIND COLLATE BINARY, [NO] COLLATE BINARY)');
  expect(wanted?.tried?.effects[0]?.after.join()).toMatch(/LINTEL_FACT_KIND_NO \(KIND=\?/);
  execute(clinic, wanted?.statement ?? '');
  expect(await pages()).toBeUndefined();
});

test('an index on the dividing columns serves pages where it ends with the primary key or with the key', async () => {
  const clinic = smallClinic({
    'facts.yaml': `${factsOf('heights', 'H', '8302-2')}---\n${factsOf('pulses', 'P', '8867-4')}`,
  });
  const served = async () => (await shown(clinic)).indexes.every(({ serves }) => !serves.includes('pages of heights'));
  execute(clinic, FACT);
  expect(await served()).toBe(false);
  for (const columns of ['KIND', 'VOID, KIND', 'KIND, VOID, NO', 'KIND, NO, PERSON_ID']) {
    execute(clinic, `CREATE INDEX FACT_PAGES ON FACT (${columns})`);
    expect([columns, await served()]).toEqual([columns, true]);
    execute(clinic, 'DROP INDEX FACT_PAGES');
  }
  for (const columns of ['PERSON_ID, KIND', 'KIND, PERSON_ID', 'NO']) {
    execute(clinic, `CREATE INDEX FACT_PAGES ON FACT (${columns})`);
    expect([columns, await served()]).toEqual([columns, false]);
    execute(clinic, 'DROP INDEX FACT_PAGES');
  }
});
