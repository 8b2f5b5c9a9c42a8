/**
 * Queries the catalog for many names or ids. In: a function that runs SELECTs, a statement with a list, its values.
 * Out: the rows of as many statements as the list needs.
 */
import { type ColumnType, INTEGER } from '../column-type.ts';
import { padded } from '../padded.ts';
import type { Row, Statement } from '../plan.ts';

export type Run = (statement: Statement) => Promise<readonly Row[]>;

/** Values per statement, below its 2,100 parameters. */
const AT_ONCE = 500;
/** The type `sysname`. */
const NAME: ColumnType = { kind: 'text', unicode: true, fixed: false, length: 128 };

/** Runs the statements. `text` gets the parameters, separated by commas. */
export async function askOf(
  run: Run,
  text: (marks: string) => string,
  values: readonly string[] | readonly number[],
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let start = 0; start < values.length; start += AT_ONCE) {
    const parameters = padded<string | number>(values.slice(start, start + AT_ONCE)).map((value, i) => ({
      name: `p${i}`,
      value,
      type: typeof value === 'string' ? NAME : INTEGER,
    }));
    rows.push(...(await run({ text: text(parameters.map(({ name }) => `@${name}`).join(', ')), parameters })));
  }
  return rows;
}
