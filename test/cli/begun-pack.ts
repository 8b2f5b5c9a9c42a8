/**
 * Runs `lintel init` on the database of a test, and `lintel check` on the pack. In: tables and rows. Out: the files of
 * the pack, and the errors.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '../temporary-folder.ts';
import { lintel } from './lintel.ts';

interface Element {
  readonly path: string;
  readonly column: string;
  readonly why: string;
  readonly join?: readonly { readonly table: string; readonly declared: boolean }[];
}

interface Proposed {
  readonly kind: string;
  readonly table: string;
  readonly score: number;
  readonly key: readonly string[];
  readonly reasons: readonly string[];
  readonly elements: readonly Element[];
}

/** Runs init on a database of these tables; `fill` adds rows. */
export async function begun(
  schema: string,
  fill: (insert: (table: string, ...row: (string | number | null)[]) => void) => void,
) {
  const folder = temporaryFolder();
  const file = join(folder, 'some.sqlite');
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA foreign_keys = OFF; BEGIN; ${schema}`);
  fill((table, ...row) => {
    database.prepare(`INSERT INTO "${table}" VALUES (${row.map(() => '?').join()})`).run(...row);
  });
  database.exec('COMMIT');
  database.close();
  const pack = join(folder, 'pack');
  const environment = { DATABASE_URL: `sqlite:${file}`, DATA_DIR: join(folder, 'data') };
  const { out, notes } = await lintel(environment, 'init', pack, '--json', '--zone', 'UTC');
  const { proposals } = JSON.parse(out) as { readonly proposals: readonly Proposed[] };
  const first = (kind: string): Proposed => {
    const found = proposals.find(one => one.kind === kind);
    if (!found) throw new Error(`${kind} was not found`);
    return found;
  };
  const columns = (kind: string): Readonly<Record<string, string>> =>
    Object.fromEntries(first(kind).elements.map(({ path, column }) => [path, column]));
  const text = (name: string): string => readFileSync(join(pack, name), 'utf8');
  /** Errors of `check` after the first candidate of each file is uncommented. */
  const errors = async (): Promise<readonly string[]> => {
    for (const name of readdirSync(pack).filter(one => one !== 'pack.yaml')) {
      const [mapping = ''] = text(name).split('# ---\n');
      writeFileSync(join(pack, name), mapping.replace(/^# ?(?!#)/gm, ''));
    }
    const checked = await lintel({ ...environment, MAPPINGS: pack }, 'check', '--json');
    const { problems } = JSON.parse(checked.out) as { problems: readonly { severity: string; message: string }[] };
    return problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  };
  return { proposals, first, columns, text, errors, told: `${out}${notes}` };
}

export const day = (i: number): string => `2023-0${1 + (i % 9)}-${10 + (i % 18)}`;
export const instant = (i: number): string => `${day(i)} 08:30:00.000`;
