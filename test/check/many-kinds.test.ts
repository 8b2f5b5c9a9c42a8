/**
 * Many mappings of one table, as of vital signs, are checked without a count of rows for each pair of them, and what
 * is wrong with all of them is told once. In: a table of kinds of measurements, keyed by a text and a line.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { checkLive } from '../../src/mapping/check/live.ts';
import { loadPackFiles } from '../../src/mapping/load/pack/pack.ts';
import { createReport, formatProblem } from '../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { rowReaders } from '../../src/plan/row-readers.ts';
import { render } from '../../src/sql/render.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';

const KINDS = ['6', '8', '9', '10', '11', '14'];

/** `key`: of the table. Without one two kinds share an id. */
function clinicOfKinds(key: string) {
  const clinic = smallClinic({
    'kinds.yaml': `mapping: kind-$kind
resource: Observation
with: [$kind]
rows: [${KINDS.map(kind => `["${kind}"]`).join()}]
source: { table: MEASURED, as: m, key: [ID, LINE], where: { KIND: $kind } }
id: "m-{ID}-{LINE}"
elements:
  status: final
  code: { text: $kind }
  subject: { ref: people, on: { ID: PERSON_ID } }
  valueQuantity: { value: { from: VAL, via: number } }
`,
  });
  const file = join(clinic.folder, 'clinic.sqlite');
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE MEASURED (ID VARCHAR(18) COLLATE RTRIM NOT NULL, LINE INTEGER NOT NULL,
    KIND VARCHAR(18) COLLATE RTRIM, PERSON_ID INTEGER, VAL VARCHAR(20)${key})`);
  const insert = database.prepare('INSERT INTO MEASURED VALUES (?, ?, ?, 1, ?)');
  for (const kind of KINDS) for (let i = 0; i < 3; i++) insert.run(`R${i}`, Number(kind), kind, String(i));
  if (key === '') database.exec("INSERT INTO MEASURED VALUES ('R0', 6, '8', 1, '1')");
  database.close();
  return { ...clinic, file };
}

/** Problems that rows show, and the statements that compare rows of the table with others of it. */
async function checked(key: string) {
  const clinic = clinicOfKinds(key);
  const opened = openSqlite(clinic.file);
  const statements: string[] = [];
  try {
    const { registry, problems: wrong } = loadPackFiles(readPackFiles(clinic.pack), await opened.catalog());
    if (!registry) throw new Error(wrong.map(formatProblem).join('\n'));
    const recording: typeof opened = {
      ...opened,
      query(plan, how) {
        statements.push(render(plan, SQLITE).text);
        return opened.query(plan, how);
      },
    };
    const asking = { registry, database: recording, readers: rowReaders(registry, 0) };
    const problems = await checkLive(asking);
    return { problems: problems.map(formatProblem), pairs: statements.filter(one => one.includes('MEASURED AS m_1')) };
  } finally {
    await opened.close();
  }
}

test('rows that two mappings can never share are not counted for each pair', async () => {
  const { problems, pairs } = await checked(', PRIMARY KEY (ID, LINE)');
  expect(problems).toEqual([]);
  expect(pairs).toEqual([]);
});

test('without a unique index ids are counted for each pair, by the columns that an index has', async () => {
  const { problems, pairs } = await checked('');
  expect(problems.filter(one => one.includes('are equal for 1 row'))).toHaveLength(1);
  expect(pairs).toHaveLength(15);
  for (const pair of pairs) expect(pair).not.toContain('||');
});

test('with --all each row is compared once for all mappings of its table, and --budget ends it', async () => {
  const { environment } = clinicOfKinds(', PRIMARY KEY (ID, LINE)');
  const whole = await lintel(environment, 'check', '--all');
  expect(whole.out).toContain('0 errors');
  // With the two people and the two weights of the small clinic.
  expect(whole.notes).toContain('Values: 22 rows compared with 22 resources');
  expect(whole.notes).not.toContain('Not reached');
  const ended = await lintel(environment, 'check', '--all', '--budget', '0');
  expect(ended.notes).toMatch(/Values: Not reached within the time budget: .*kind-6/);
});

test('a problem of several rows of a macro is reported once, whatever the numbers of rows', () => {
  const report = createReport();
  const at = (line: number) => ({
    ...{ file: 'm.yaml', line: 9, column: 4 },
    by: { what: 'row' as const, at: { file: 'm.yaml', line, column: 5 } },
  });
  for (const [line, rows] of [
    [3, 20],
    [4, 31],
    [5, 1],
  ] as const)
    report.warning('never-used', at(line), 'VAL is never read', { found: `${rows} ${rows === 1 ? 'row' : 'rows'}` });
  report.warning('never-used', at(6), 'another is never read', { found: '20 rows' });
  expect(report.problems().map(formatProblem)).toEqual([
    'm.yaml:9:4: warning: VAL is never read; found 20 rows; in the row m.yaml:3:5 and 2 more',
    'm.yaml:9:4: warning: another is never read; found 20 rows; in the row m.yaml:6:5',
  ]);
});
