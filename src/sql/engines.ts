/**
 * Lists the database engines. In: a name, or the text of an address. Out: its Engine. A new engine is one more line
 * (docs/extending.md).
 */
import { type ColumnType, spelledAs } from './column-type.ts';
import type { Engine } from './engine.ts';
import { MSSQL_ENGINE } from './mssql/engine.ts';
import { SQLITE_ENGINE } from './sqlite/engine.ts';

export const ENGINES: Map<string, Engine> = new Map(
  [SQLITE_ENGINE, MSSQL_ENGINE].map((engine): [string, Engine] => [engine.name, engine]),
);

/** `sqlite:<file> or mssql://…`, for help texts. */
export const ADDRESS_FORMS = [...ENGINES.values()].map(({ addressForm }) => addressForm).join(' or ');

/** Returns an engine by name. Throws RangeError for an unknown name. */
export function engineNamed(name: string): Engine {
  const engine = ENGINES.get(name);
  if (engine === undefined) throw new RangeError('a database engine that is not in the table of engines');
  return engine;
}

/** Returns the engine whose address the text is. */
export function engineOfAddress(text: string): Engine | undefined {
  return [...ENGINES.values()].find(engine => engine.isAddress(text));
}

/** Returns the type for a column's declaration, with its spelling; undefined if no codec can read it. */
export function declaredType(engine: string, declared: string): ColumnType | undefined {
  return spelledAs(engineNamed(engine).parseType(declared), declared);
}
