/** Tables with several kinds of records, distinguished by a column: `lintel init` proposes a mapping for each kind. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { lintel } from './lintel.ts';

interface Proposed {
  readonly kind: string;
  readonly table: string;
  readonly reasons: readonly string[];
  readonly only?: { readonly column: string; readonly values: readonly string[] };
  readonly elements: readonly { readonly path: string; readonly column: string }[];
}

interface Begun {
  readonly out: string;
  readonly proposals: readonly Proposed[];
  readonly undecided: readonly string[];
  /** Text of a file of the pack. */
  file(name: string): string;
  /** Errors of `check` after the first candidate in each of these files is uncommented. */
  errors(...files: readonly string[]): Promise<readonly string[]>;
  /** The resource that a mapping makes of the row with this key. */
  preview(mapping: string, key: string): Promise<unknown>;
}

const PATIENTS = `CREATE TABLE PATIENT (PID INTEGER PRIMARY KEY, LNAME VARCHAR(40), FNAME VARCHAR(40), DOB DATE, SEX CHAR(1));
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  INSERT INTO PATIENT SELECT i, 'Quxfamily', 'Quxgiven', '1970-04-25', 'F' FROM n;`;

/** Rows of a table: for each value this number, one for each patient. */
function rowsOf(
  table: string,
  columns: string,
  values: Readonly<Record<string, number>>,
  row: (value: string) => string,
) {
  let key = 0;
  const all = Object.entries(values).flatMap(([value, count]) =>
    Array.from({ length: count }, (_, i) => `(${++key}, ${(i % 40) + 1}, ${row(value)})`),
  );
  return `INSERT INTO ${table} (${columns}) VALUES ${all.join()};`;
}

async function begun(sql: string, ...options: readonly string[]): Promise<Begun> {
  const folder = temporaryFolder();
  const [file, pack] = [join(folder, 'some.sqlite'), join(folder, 'pack')];
  const environment = { DATABASE_URL: `sqlite:${file}`, DATA_DIR: join(folder, 'data'), PORT: '0' };
  const database = new DatabaseSync(file);
  database.exec(PATIENTS + sql);
  database.close();
  const { code, out } = await lintel(environment, 'init', pack, '--zone', 'UTC', '--json', ...options);
  expect(code).toBe(0);
  const { proposals, undecided }: Pick<Begun, 'proposals' | 'undecided'> = JSON.parse(out);
  const uncommented = new Set<string>();
  const take = (name: string): void => {
    if (uncommented.has(name)) return;
    uncommented.add(name);
    const [first = ''] = readFileSync(join(pack, name), 'utf8').split('# ---\n');
    writeFileSync(join(pack, name), first.replace(/^# ?(?!#)/gm, ''));
  };
  return {
    ...{ out, proposals, undecided },
    file: name => (existsSync(join(pack, name)) ? readFileSync(join(pack, name), 'utf8') : ''),
    async errors(...files) {
      for (const name of files) take(name);
      if (readdirSync(pack).includes('codes.yaml')) {
        const codes = readFileSync(join(pack, 'codes.yaml'), 'utf8');
        writeFileSync(join(pack, 'codes.yaml'), codes.replace(/^# ?(?!#)/gm, ''));
      }
      const checked = await lintel({ ...environment, MAPPINGS: pack }, 'check', '--json', '--all');
      const { problems } = JSON.parse(checked.out) as {
        problems: readonly { severity: string; message: string; file?: string }[];
      };
      return problems.filter(({ severity }) => severity === 'error').map(one => `${one.file}: ${one.message}`);
    },
    async preview(mapping, key) {
      const { out: shown } = await lintel(
        { ...environment, MAPPINGS: pack },
        'preview',
        mapping,
        key,
        '--values',
        '--json',
      );
      return JSON.parse(shown).resource;
    },
  };
}

/** Kinds proposed for a table, with the values of each. */
function splitOf({ proposals }: Begun, table: string): Readonly<Record<string, readonly string[] | undefined>> {
  return Object.fromEntries(proposals.filter(one => one.table === table).map(one => [one.kind, one.only?.values]));
}

const LISTS = `CREATE TABLE lists (id INTEGER PRIMARY KEY, date DATETIME, pid BIGINT NOT NULL, type VARCHAR(255), title VARCHAR(255), begdate DATETIME, enddate DATETIME, modifydate TIMESTAMP, diagnosis VARCHAR(255));`;
const LIST_ROWS = { allergy: 20, medical_problem: 30, medication: 25, surgery: 8, dental: 5, Quxrare: 2 };
const lists = (values: Readonly<Record<string, number>>): string =>
  LISTS +
  rowsOf('lists', 'id, pid, type, title, begdate, modifydate', values, value => {
    return `'${value}', 'Title of ${value.slice(0, 3)}', '2024-03-10 08:00:00', '2024-03-11 08:00:00'`;
  });

test('a table of problems, allergies, medications and surgeries gives a mapping of each', async () => {
  const made = await begun(lists(LIST_ROWS));
  expect(splitOf(made, 'lists')).toEqual({
    conditions: ['medical_problem'],
    allergies: ['allergy'],
    medications: ['medication'],
    procedures: ['surgery'],
  });
  const allergies = made.file('allergies.yaml');
  expect(allergies).toContain('#   where: { type: allergy }');
  // Not the date of recording.
  expect(made.file('procedures.yaml')).toContain('#   performedDateTime: { from: begdate }');
  expect(allergies).toContain('#   code:\n#     text: { from: title }');
  expect(allergies).toMatch(/^## {3}type is "allergy" in 20 of 90 rows$/m);
  expect(allergies).toMatch(
    /^## {3}mappings of their own: medical_problem \(30 rows\), medication \(25 rows\), surgery \(8 rows\)$/m,
  );
  expect(allergies).toMatch(/^## {3}not mapped: dental \(5 rows\); 1 value in fewer rows$/m);
  expect(made.out + allergies).not.toContain('Quxrare');
  const files = ['patients.yaml', 'conditions.yaml', 'allergies.yaml', 'medications.yaml', 'procedures.yaml'];
  expect(await made.errors(...files)).toEqual([]);
  expect(await made.preview('allergies', '1')).toMatchObject({
    resourceType: 'AllergyIntolerance',
    code: { text: 'Title of all' },
    patient: { reference: 'Patient/1' },
  });
});

test('a value that is no allergy is in no proposal of allergies', async () => {
  const made = await begun(
    lists({ 'allergy test': 20, 'no allergy': 20, family_history_problem: 9, allergy: 9, problem: 9 }),
  );
  expect(splitOf(made, 'lists')).toEqual({ conditions: ['problem'], allergies: ['allergy'] });
});

test('kinds of a large table are sampled along its key, not along the index that has them', async () => {
  const made = await begun(
    `${lists({ allergy: 6000, medical_problem: 3000, surgery: 900 })} CREATE INDEX lists_type ON lists (type);`,
  );
  expect(Object.keys(splitOf(made, 'lists')).toSorted()).toEqual(['allergies', 'conditions', 'procedures']);
});

test('codes of known words are proposed, others are named in the comment', async () => {
  const made = await begun(
    `CREATE TABLE CLINICAL_ITEM (ITEM_ID INTEGER PRIMARY KEY, PATIENT_ID INTEGER NOT NULL, KIND CHAR(5), ITEM_TEXT VARCHAR(60), START_DT DATE);${rowsOf(
      'CLINICAL_ITEM',
      'ITEM_ID, PATIENT_ID, KIND, ITEM_TEXT, START_DT',
      { ALG: 12, PRB: 30, MED: 11, DX: 10, PROB: 4, 'Prob ': 4 },
      value => `'${value}', 'Words', '2024-03-10'`,
    )}`,
  );
  expect(splitOf(made, 'CLINICAL_ITEM')).toEqual({
    allergies: ['ALG'],
    medications: ['MED'],
    conditions: ['DX', 'PROB', 'Prob'],
  });
  expect(made.file('conditions.yaml')).toContain('#   where: { KIND: [DX, PROB, Prob] }');
  expect(made.file('allergies.yaml')).toMatch(/not mapped: PRB \(30 rows\)/);
  expect(await made.errors('patients.yaml', 'allergies.yaml', 'medications.yaml', 'conditions.yaml')).toEqual([]);
});

test('if fewer than two values are known, a comment lists the values and nothing is proposed', async () => {
  const made = await begun(
    `CREATE TABLE EVENT (NO INTEGER PRIMARY KEY, PATIENT_ID INTEGER NOT NULL, EVENT_TYPE CHAR(1), DESCR VARCHAR(60), START_DT DATE);${rowsOf(
      'EVENT',
      'NO, PATIENT_ID, EVENT_TYPE, DESCR, START_DT',
      { A: 12, P: 30, M: 11 },
      value => `'${value}', 'Words', '2024-03-10'`,
    )}`,
  );
  expect(splitOf(made, 'EVENT')).toEqual({});
  expect(made.undecided).toEqual([expect.stringContaining('EVENT_TYPE of EVENT')]);
  expect(made.file('undecided.yaml')).toContain('P (30 rows), A (12 rows), M (11 rows)');
  expect(await made.errors('patients.yaml')).toEqual([]);
});

test('a table of facts whose codes have their systems before them gives a line with these', async () => {
  const codes = (i: number): string =>
    ['LOINC:2345-7', 'LOINC:718-7', 'ICD10CM:E11.9', 'ICD10CM:I10', 'CPT4:93000'][i % 5] ?? '';
  const rows = Array.from(
    { length: 90 },
    (_, i) => `(${i}, ${(i % 40) + 1}, '${i % 45 === 0 ? '@' : `${codes(i)}${i % 7}`}')`,
  );
  const made = await begun(
    `CREATE TABLE OBSERVATION_FACT (NO INTEGER PRIMARY KEY, PID INTEGER NOT NULL REFERENCES PATIENT (PID), CONCEPT_CD VARCHAR(50), START_DATE DATETIME);
     INSERT INTO OBSERVATION_FACT (NO, PID, CONCEPT_CD) VALUES ${rows.join()};`,
  );
  expect(made.undecided).toEqual([
    'CONCEPT_CD of OBSERVATION_FACT has a code system before each code: ICD10CM: (36 rows), LOINC: (34 rows), CPT4: (18 rows). ' +
      'Write a mapping of each kind, with `where: { CONCEPT_CD: { matches: "ICD10CM:*" } }` in its source and ' +
      '`code: { from: CONCEPT_CD, via: [{ prefix: "ICD10CM:" }, code] }` in the coding',
  ]);
});

test('a unique number is the key where an id of the declared key may be too long', async () => {
  const table = (more: string): string =>
    `CREATE TABLE LAB_RESULT (PID INTEGER NOT NULL REFERENCES PATIENT (PID), TEST_CODE VARCHAR(50) NOT NULL, TEST_NAME VARCHAR(40), RESULT_VALUE DECIMAL(9,2), UNITS VARCHAR(9), RESULT_DATE DATETIME NOT NULL, SEARCH_NO INT NOT NULL, PRIMARY KEY (PID, TEST_CODE, RESULT_DATE));${more}
     INSERT INTO LAB_RESULT SELECT PID, '2345-7', 'Glucose', 99.5, 'mg/dL', '2024-03-10 08:00:00', PID + 7 FROM PATIENT;`;
  const idOf = async (more: string) => /id: "(.*)"/.exec((await begun(table(more))).file('results.yaml'))?.[1];
  expect(await idOf('')).toBe('{PID}-{TEST_CODE}-{RESULT_DATE}');
  expect(await idOf('CREATE UNIQUE INDEX LAB_NO ON LAB_RESULT (SEARCH_NO);')).toBe('{SEARCH_NO}');
});

test('results and vital signs of one table have ids of their own', async () => {
  const made = await begun(
    `CREATE TABLE OBS (OBS_ID INTEGER PRIMARY KEY, PATIENT_ID INTEGER NOT NULL, OBS_TYPE VARCHAR(10), OBS_NAME VARCHAR(60), VALUE DECIMAL(9,2), UNITS VARCHAR(9), OBS_DT DATETIME);${rowsOf(
      'OBS',
      'OBS_ID, PATIENT_ID, OBS_TYPE, OBS_NAME, VALUE, UNITS, OBS_DT',
      { lab: 30, vital: 30 },
      value => `'${value}', 'Sodium', 140, 'mmol/L', '2024-03-10 08:00:00'`,
    )}`,
  );
  expect(splitOf(made, 'OBS')).toEqual({ results: ['lab'], vitals: ['vital'] });
  expect(await made.errors('patients.yaml', 'results.yaml', 'vitals.yaml')).toEqual([]);
  expect(await made.preview('vitals', '31')).toMatchObject({ id: 'v-31', code: { text: 'Sodium' }, status: 'unknown' });
});

test.each([
  ['a declared foreign key', 'INTEGER NOT NULL REFERENCES ITEM_KIND (KIND_ID)'],
  ['the names alone', 'INTEGER NOT NULL'],
])('kinds as numbers with a list of their names, by %s', async (_, declared) => {
  const names = ['Allergy', 'Problem', 'Medication', 'Quxother'];
  const made = await begun(
    `CREATE TABLE ITEM_KIND (KIND_ID INTEGER PRIMARY KEY, NAME VARCHAR(20));
     INSERT INTO ITEM_KIND VALUES ${names.map((name, i) => `(${i + 1}, '${name}')`).join()};
     CREATE TABLE PATIENT_ITEM (ITEM_ID INTEGER PRIMARY KEY, PATIENT_ID INTEGER NOT NULL, KIND_ID ${declared}, TITLE VARCHAR(60), START_DT DATE);${rowsOf(
       'PATIENT_ITEM',
       'ITEM_ID, PATIENT_ID, KIND_ID, TITLE, START_DT',
       { 1: 12, 2: 30, 3: 11, 4: 6 },
       value => `${value}, 'Words', '2024-03-10'`,
     )}`,
  );
  expect(splitOf(made, 'PATIENT_ITEM')).toEqual({ allergies: ['1'], conditions: ['2'], medications: ['3'] });
  expect(made.file('allergies.yaml')).toContain('#   where: { KIND_ID: "1" }  ## Allergy in ITEM_KIND');
  expect(made.file('allergies.yaml')).not.toContain('Quxother');
  expect(await made.errors('patients.yaml', 'allergies.yaml', 'conditions.yaml', 'medications.yaml')).toEqual([]);
});

test.each([
  ['orders', 'MED_ORDER', 'ORDER_TYPE'],
  ['documents', 'DOCUMENT', 'DOC_TYPE'],
  ['visits', 'VISIT', 'VISIT_TYPE'],
  ['kinds of an allergy', 'ALLERGY', 'ALLERGY_TYPE'],
  ['another column', 'CLINICAL_ITEM', 'BILLING_TYPE'],
])('a table of %s is not split', async (_, table, column) => {
  const made = await begun(
    `CREATE TABLE ${table} (NO INTEGER PRIMARY KEY, PATIENT_ID INTEGER NOT NULL, ${column} VARCHAR(20), TITLE VARCHAR(60), START_DT DATE);${rowsOf(
      table,
      `NO, PATIENT_ID, ${column}, TITLE, START_DT`,
      { allergy: 12, medication: 30, procedure: 11 },
      value => `'${value}', 'Words', '2024-03-10'`,
    )}`,
  );
  expect(Object.values(splitOf(made, table)).filter(values => values !== undefined)).toEqual([]);
  expect(made.undecided).toEqual([]);
});

test('without rows no table is split', async () => {
  const made = await begun(lists(LIST_ROWS), '--no-rows');
  expect(Object.values(splitOf(made, 'lists')).filter(values => values !== undefined)).toEqual([]);
});
