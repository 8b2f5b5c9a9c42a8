/**
 * Part of `npm run bench -- workbench`: response times of the view Tables on generated SQLite files: 300 and 5,000
 * tables of 40 columns, and one table of 10 million rows. Each figure is a row of FIGURES.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { type BenchOver, openBenchOn } from '../workbench/opened-bench.ts';
import { median } from './clock.ts';
import { printTable } from './table.ts';

const ROUNDS = 5;
const ROWS = 10_000_000;

interface Figure {
  readonly what: string;
  readonly mark: string;
  readonly database: 'large' | 300 | 5000;
  /** Below `api/`. */
  readonly path: string;
  readonly body: object;
}

const FIGURES: readonly Figure[] = [
  ...([300, 5000] as const).flatMap((database): readonly Figure[] => [
    { what: `list of ${database} tables`, mark: 'at once', database, path: 'tables', body: { again: false } },
    { what: `the same, schema read anew`, mark: '', database, path: 'tables', body: { again: true } },
    { what: 'their sizes', mark: '', database, path: 'tables/sizes', body: {} },
  ]),
  ...(
    [
      ['profile of 10 million rows', '2 s', 'tables/profile'],
      ['likely keys of the same table', '2 s', 'tables/likely'],
    ] as const
  ).map(([what, mark, path]): Figure => ({ what, mark, database: 'large', path, body: { table: 'visit_log' } })),
];

export async function benchTables(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-bench-'));
  try {
    const rows: string[][] = [];
    for (const [database, figures] of Map.groupBy(FIGURES, one => one.database)) {
      const bench = await openOver(join(folder, String(database)), database);
      for (const { what, mark, path, body } of figures) {
        const times: number[] = [];
        let told = '';
        for (let round = -1; round < ROUNDS; round++) {
          const begun = performance.now();
          told = await ask(bench, path, body);
          if (round >= 0) times.push(performance.now() - begun);
        }
        rows.push([what, mark, `${median(times).toFixed(0)} ms`, `${Math.max(...times).toFixed(0)} ms`, told]);
      }
      await bench.close();
    }
    printTable(['what the page asks', 'mark', `median of ${ROUNDS}`, 'most', 'answer'], rows);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function ask(bench: BenchOver, path: string, body: object): Promise<string> {
  const sent = path === 'tables/sizes' ? body : { unsaved: {}, ...body };
  const response = await bench.ask(`${bench.base}/api/${path}`, { method: 'POST', body: sent });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  const { read, sample } = JSON.parse(text) as { readonly read?: number; readonly sample?: string };
  return read === undefined ? `${(text.length / 1024).toFixed(0)} kB` : `${read} rows read, ${sample ?? 'all'}`;
}

function openOver(folder: string, database: Figure['database']): Promise<BenchOver> {
  const pack = join(folder, 'pack');
  mkdirSync(pack, { recursive: true });
  writeFileSync(join(pack, 'pack.yaml'), 'name: bench\ntitle: Bench\nzone: UTC\n');
  const file = join(folder, 'bench.sqlite');
  const made = new DatabaseSync(file);
  made.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  if (database === 'large') makeLarge(made);
  else makeMany(made, database);
  made.close();
  const environment = { DATABASE_URL: `sqlite:${file}`, MAPPINGS: pack, DATA_DIR: join(folder, 'data'), PORT: '0' };
  return openBenchOn(environment);
}

/** Names as products have them, of 40 columns each and 50 rows. */
function makeMany(database: DatabaseSync, tables: number): void {
  database.exec('BEGIN');
  for (let i = 0; i < tables; i++) {
    const name = `T${i}_${['VISIT', 'ORDER', 'RESULT', 'STAFF', 'WARD'][i % 5]}`;
    const columns = Array.from({ length: 39 }, (_, c) => `C${c}_${['DATE', 'CODE', 'NAME', 'ID'][c % 4]} VARCHAR(40)`);
    database.exec(`CREATE TABLE ${name} (${name}_ID INTEGER PRIMARY KEY, ${columns.join(', ')})`);
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
      INSERT INTO ${name} (${name}_ID, C0_DATE, C1_CODE) SELECT i, '2024-01-' || (10 + i % 20), 'A' || (i % 7) FROM n`);
  }
  database.exec('COMMIT');
}

function makeLarge(database: DatabaseSync): void {
  database.exec(`CREATE TABLE PERSON (PERSON_ID INTEGER PRIMARY KEY, NAME VARCHAR(40));
    CREATE TABLE VISIT_LOG (VISIT_ID INTEGER PRIMARY KEY, PERSON_ID INTEGER, NAME VARCHAR(40), BORN CHAR(8), SEEN DATETIME,
      STATUS CHAR(1), WARD VARCHAR(8), SCORE NUMERIC, NOTE VARCHAR(200), CLOSED DATE);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
      INSERT INTO PERSON SELECT i, 'DOE^' || i FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
      INSERT INTO VISIT_LOG SELECT i, 1 + i * 7 % 50000, 'DOE^JANE', 19500101 + i % 70 * 10000, '2024-03-' || (10 + i % 20) || ' 09:15:00',
        substr('AIXD', 1 + i % 4, 1), 'W' || (i % 30), i % 97, NULL, CASE WHEN i % 5 THEN '9999-12-31' ELSE '2024-02-30' END FROM n`);
}
