/**
 * Makes two small tables with typical legacy values: NULL, blanks, padding, wildcards, case variants, quotes, broken
 * dates and numbers; CHAR is padded, as on SQL Server. `A` is the parent, `B` its children. Out: a SQLite file opened
 * as the server opens it, and the same rows as objects for the evaluator.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Database } from '../../src/sql/database.ts';
import type { ColumnExpression, SqlValue } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { parseMssqlType } from '../../src/sql/mssql/types.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';

export type Cells = Readonly<Record<string, SqlValue>>;
export type Tables = Readonly<Record<string, readonly Cells[]>>;

export const COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  A: {
    ID: 'INT',
    CD: 'CHAR(8)',
    TXT: 'VARCHAR(60)',
    NAM: 'NVARCHAR(60)',
    QTY: 'INT',
    AMT: 'DECIMAL(9,2)',
    DT8: 'CHAR(8)',
    DTI: 'INT',
    DTM: 'DATETIME',
    DAY: 'DATE',
    BIG: 'BIGINT',
    FLG: 'BIT',
    GID: 'UNIQUEIDENTIFIER',
    BIN: 'VARBINARY(8)',
  },
  B: { SEQ: 'INT', A_ID: 'INT', CD: 'VARCHAR(8)', KEY_TXT: 'VARCHAR(10)', VAL: 'VARCHAR(20)' },
};

export const ROWS: Tables = {
  A: [
    row(1, 'M', 'abc', 'Élodie Ångström', 5, 12.5, '20240310', 20240310, '2024-03-10 02:30:00.000', '2024-03-10'),
    row(2, 'm', 'ABC', 'elodie', -3, -0.75, '20230230', 20230230, '2024-03-10 00:00:00.000', '2024-03-11'),
    row(3, 'M       ', 'a;b;c', 'ELODIE  DE LA CRUZ', 0, 0, '20240300', 20240300, null, null),
    row(4, '', '', '', null, null, '00000000', 0, '1753-01-01 00:00:00.000', '1753-01-01'),
    row(5, '   ', '   ', '   ', null, 100, '        ', null, '9999-12-31 23:59:59.997', '9999-12-31'),
    row(6, null, null, null, null, null, null, null, null, null),
    row(7, '50%', '50% off', 'a_b', 50, 50, '20240000', 20240000, '2020-02-29 12:00:00.000', '2020-02-29'),
    row(8, 'a_b', ' <5 ', 'a*b?[c]', 1, 1.25, '20240229', 10101, '2020-01-01 00:00:00.000', '2020-01-01'),
    row(9, 'Z', '12.50 ', "O'Brien", 2, 2, '20230229', 99991231, '2020-01-01 00:00:00.000', '2020-01-01'),
    row(
      10,
      '[x]',
      ' x ; "y\\z" ;; \tw ',
      'one\ttwo',
      3,
      3.1,
      '2024031',
      2024031,
      '2020-01-01 00:00:00.000',
      '2020-01-01',
    ),
  ],
  B: [
    { SEQ: 1, A_ID: 1, CD: 'M', KEY_TXT: '1', VAL: 'x' },
    { SEQ: 2, A_ID: 1, CD: 'm ', KEY_TXT: '01', VAL: 'y' },
    { SEQ: 3, A_ID: 1, CD: 'M ', KEY_TXT: 'abc', VAL: 'z' },
    { SEQ: 4, A_ID: 2, CD: null, KEY_TXT: null, VAL: null },
    { SEQ: 5, A_ID: 3, CD: '', KEY_TXT: '', VAL: '' },
    { SEQ: 6, A_ID: null, CD: 'Z', KEY_TXT: '2 ', VAL: 'w' },
    { SEQ: 7, A_ID: 99, CD: 'Q', KEY_TXT: '-3', VAL: '-3' },
  ],
};

function row(id: number, ...cells: readonly SqlValue[]): Cells {
  const [CD, TXT, NAM, QTY, AMT, DT8, DTI, DTM, DAY] = cells;
  const hex = id.toString(16).padStart(12, '0').toUpperCase();
  const fixed = (text: SqlValue | undefined): SqlValue => (typeof text === 'string' ? text.padEnd(8) : (text ?? null));
  return {
    ...{ ID: id, CD: fixed(CD), TXT: TXT ?? null, NAM: NAM ?? null, QTY: QTY ?? null, AMT: AMT ?? null },
    ...{ DT8: fixed(DT8), DTI: DTI ?? null, DTM: DTM ?? null, DAY: DAY ?? null },
    ...{ BIG: 5_000_000_000 + id, FLG: id % 2, GID: `00000000-0000-0000-0000-${hex}`, BIN: Buffer.from([id, 0]) },
  };
}

/** A column of the sample, with its declared type. */
export function column(alias: string, name: string, table = alias.startsWith('b') ? 'B' : 'A'): ColumnExpression {
  const type = parseMssqlType(COLUMNS[table]?.[name] ?? '');
  if (!type) throw new Error(`the sample has no column ${table}.${name}`);
  return { kind: 'column', alias: identifier(alias), column: identifier(name), type };
}

/** The rows in a SQLite file, which `remove` deletes. Text is declared COLLATE RTRIM, as in the fixture. */
export function openSample(tables: Tables = ROWS): {
  readonly file: string;
  readonly database: Database;
  readonly remove: () => Promise<void>;
} {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-sql-'));
  const file = join(folder, 'sample.db');
  const raw = new DatabaseSync(file);
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const declared = Object.entries(columns).map(([n, t]) => `${n} ${t}${t.includes('CHAR') ? ' COLLATE RTRIM' : ''}`);
    raw.exec(`CREATE TABLE ${table} (${declared.join(', ')}, PRIMARY KEY (${Object.keys(columns)[0]}))`);
    const names = Object.keys(columns);
    const insert = raw.prepare(`INSERT INTO ${table} VALUES (${names.map(() => '?').join()})`);
    for (const cells of tables[table] ?? []) insert.run(...names.map(n => cells[n] ?? null));
  }
  raw.exec('CREATE INDEX A_CD ON A (CD, ID); CREATE INDEX A_DT8 ON A (DT8); CREATE INDEX B_A ON B (A_ID, SEQ)');
  raw.close();
  const database = openSqlite(file);
  return {
    file,
    database,
    remove: async () => {
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
