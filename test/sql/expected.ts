/** Makes the expected result of a case in the form of cases.json: SQL by lines, parameters with their declarations. */
import type { Database } from '../../src/sql/database.ts';
import type { Dialect } from '../../src/sql/dialect.ts';
import { engineNamed } from '../../src/sql/engines.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import { render } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import type { Case } from './cases.ts';

export interface Rendered {
  readonly sql: readonly string[];
  readonly parameters: readonly string[];
}

export interface Expected {
  readonly title: string;
  readonly sqlite: Rendered;
  readonly mssql: Rendered;
  /** Rows of the sample; a binary value is in hexadecimal. */
  readonly rows: readonly string[] | 'not in the sample';
}

export function rendered(of: Case, dialect: Dialect): Rendered {
  const { text, parameters } = render(of.plan, dialect);
  return {
    sql: text.split('\n'),
    parameters: parameters.map(
      p => `${p.name} ${engineNamed(dialect.engine).printType(p.type)} = ${JSON.stringify(p.value)}`,
    ),
  };
}

export async function expectedOf(of: Case, database: Database): Promise<Expected> {
  const rows = of.plan.from.table.name === 'Order' ? undefined : await database.query(of.plan);
  return {
    title: of.title,
    sqlite: rendered(of, SQLITE),
    mssql: rendered(of, MSSQL),
    rows: rows?.map(row => JSON.stringify(row.map(printable))) ?? 'not in the sample',
  };
}

function printable(cell: unknown): unknown {
  return cell instanceof Uint8Array ? `0x${Buffer.from(cell).toString('hex')}` : cell;
}
