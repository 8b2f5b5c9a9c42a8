/**
 * Adds the defects of old data to the fixture: a share of the values of nullable columns becomes NULL, blanks, padding,
 * sentinels, wildcards and broken codes. Keys and join columns stay unchanged, so that rows still join.
 */
import { DatabaseSync } from 'node:sqlite';

export interface SpoilOptions {
  readonly file: string;
  readonly seed: number;
  /** Number of spoiled values in 1,000. */
  readonly perMille: number;
  /** `TABLE.COLUMN` of columns that must stay unchanged. */
  readonly keep: ReadonlySet<string>;
  /** Adds dates in forms that only SQLite stores, and texts that are no dates. */
  readonly anyForm: boolean;
}

/** Spoils a copy of the database in place; returns how many values were changed. */
export function spoil({ file, seed, perMille, keep, anyForm }: SpoilOptions): number {
  const database = new DatabaseSync(file);
  let state = seed >>> 0;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  let changed = 0;
  database.exec('BEGIN');
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  for (const { name } of tables) {
    const table = String(name);
    for (const column of database.prepare(`PRAGMA table_info("${table}")`).all()) {
      const columnName = String(column['name']);
      if (column['pk'] !== 0 || column['notnull'] !== 0 || keep.has(`${table}.${columnName}`)) continue;
      // Every second column of dates keeps a single form; its other values are no dates, and sort before or after all
      // dates.
      const isApart = Number(column['cid']) % 2 === 1;
      const type = String(column['type']);
      const spoils = [...spoilsFor(type), ...(anyForm ? formsFor(type, isApart) : [])];
      if (spoils.length === 0) continue;
      const update = database.prepare(`UPDATE "${table}" SET "${columnName}" = ? WHERE rowid = ?`);
      for (const { rowid, v } of database.prepare(`SELECT rowid, "${columnName}" AS v FROM "${table}"`).all()) {
        if (random() * 1000 >= perMille) continue;
        const make = spoils[Math.floor(random() * spoils.length)];
        if (!make) continue;
        update.run(make(v ?? null), Number(rowid));
        changed++;
      }
    }
  }
  database.exec('COMMIT');
  database.close();
  return changed;
}

/** Values that sort before or after all dates. */
const APART: readonly Spoil[] = [
  () => 'unknown',
  () => '',
  () => '0000-00-00',
  () => 1_710_059_400,
  () => 2_460_380.5,
  () => Buffer.from('2024-03-10'),
];

const JUNK: readonly Spoil[] = [...APART, () => '2024-02-30 08:00:00'];

/** The same instants as other programs write them, and texts that SQLite stores in a column of numbers. */
function formsFor(declared: string, isApart: boolean): readonly Spoil[] {
  if (/^((SMALL|TINY|BIG)?INT|DECIMAL|NUMERIC|MONEY|FLOAT|REAL)/i.test(declared)) return NUMBERS;
  if (!declared.toUpperCase().startsWith('DATE')) return [];
  if (isApart) return APART;
  if (declared.toUpperCase() === 'DATE') {
    const more =
      (rest: string): Spoil =>
      v =>
        text(v) === '' ? null : text(v) + rest;
    return [...JUNK, more(' 00:00:00'), more('T08:30'), more('T00:00:00Z'), more(' ')];
  }
  const cut =
    (length: number, more = '', separator = ' '): Spoil =>
    v =>
      text(v) === '' ? null : text(v).slice(0, length).replace(' ', separator) + more;
  const plain = [cut(10), cut(16), cut(19), cut(19, '', 'T'), cut(19, '.123456'), cut(16, ' ')];
  const instants = [
    cut(19, 'Z', 'T'),
    cut(19, '.250Z', 'T'),
    cut(19, '-05:00'),
    cut(16, '+0530', 'T'),
    () => '2023-11-05T06:30:00Z',
  ];
  return [...JUNK, ...plain, ...instants];
}

type Value = string | number | bigint | null | Uint8Array;
type Spoil = (value: unknown) => Value;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Values that SQLite stores in a column of numbers, whatever its declared type. */
const NUMBERS: readonly Spoil[] = [
  v => (typeof v === 'number' ? v + 0.125 : 1.5),
  () => 97.6,
  () => 1e-7,
  () => -0.30000000000000004,
  () => 9_007_199_254_740_993n,
  () => Number.POSITIVE_INFINITY,
  () => 'N/A',
  () => '<5',
  () => '12,5',
  () => new Uint8Array([49]),
];

function spoilsFor(declared: string): readonly Spoil[] {
  const name = declared.toUpperCase();
  if (/^N?(VAR)?CHAR/.test(name)) {
    const length = Number(/\((\d+)\)/.exec(name)?.[1] ?? 4000);
    const fixed = /^N?CHAR/.test(name);
    const sized = (s: string): string => (fixed ? s.slice(0, length).padEnd(length) : s.slice(0, length));
    return [
      () => null,
      () => sized(''),
      () => sized('   '),
      v => sized(`${text(v).trimEnd()}  `),
      v => sized(` ${text(v)}`),
      v => sized(text(v).toLowerCase()),
      v => sized(text(v).toUpperCase()),
      () => sized('%'),
      () => sized('_'),
      () => sized("'"),
      () => sized('N/A'),
      () => sized('00000000'),
      () => sized('99991231'),
      () => sized('20230230'),
      () => sized('<5'),
      () => sized('1e2'),
      () => sized('+5'),
      () => sized('5.'),
      () => sized('Zz9'),
      () => sized('\\'),
    ];
  }
  if (/^(SMALL|TINY|BIG)?INT/.test(name)) return [() => null, () => 0, () => 1];
  if (name.startsWith('BIT')) return [() => null, () => 0, () => 1];
  if (/^(DECIMAL|NUMERIC|MONEY|FLOAT|REAL)/.test(name))
    return [() => null, () => 0, v => (typeof v === 'number' ? -v : 0)];
  if (/^DATETIME/.test(name)) {
    const fraction = name.startsWith('DATETIME2') ? '0'.repeat(Number(/\((\d)\)/.exec(name)?.[1] ?? 7)) : '000';
    const at = (s: string): string => (fraction === '' ? s : `${s}.${fraction}`);
    return [
      () => null,
      () => at('1753-01-01 00:00:00'),
      () => at('9999-12-31 00:00:00'),
      () => at('2024-03-10 02:30:00'),
      () => at('2023-11-05 01:30:00'),
      () => at('2024-02-29 00:00:00'),
    ];
  }
  if (name.startsWith('DATE')) return [() => null, () => '1753-01-01', () => '9999-12-31', () => '2024-02-29'];
  return [() => null];
}
