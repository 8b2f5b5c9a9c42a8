/**
 * A third engine, added as docs/extending.md describes: node:sqlite under another name, which quotes every name with
 * double quotes and numbers its placeholders. In: `toy://<file>`. No code of src depends on it.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Catalog } from '../../src/sql/catalog.ts';
import { type Database, DatabaseError, type QueryOptions } from '../../src/sql/database.ts';
import type { Dialect } from '../../src/sql/dialect.ts';
import type { DatabaseAddress, Engine } from '../../src/sql/engine.ts';
import type { Row, SqlPlan } from '../../src/sql/plan.ts';
import { readCatalog } from '../../src/sql/sqlite/catalog.ts';
import { bindable } from '../../src/sql/sqlite/database.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { registerFunctions } from '../../src/sql/sqlite/functions.ts';
import { parseSqliteType, printSqliteType } from '../../src/sql/sqlite/types.ts';
import { renderedBy, statementsOf } from '../../src/sql/statement.ts';

interface ToyAddress extends DatabaseAddress {
  readonly engine: 'toy';
  readonly file: string;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const TOY_DIALECT: Dialect = {
  ...SQLITE,
  engine: 'toy',
  fragments: undefined,
  placeholder: position => `?${position + 1}`,
  nulls: descending => (descending ? ' NULLS LAST' : ' NULLS FIRST'),
  name: quoted,
  table: ({ name }) => quoted(name),
};

/** `sent`: receives the text of each statement. */
export function toyEngine(sent: string[]): Engine<ToyAddress> {
  return {
    name: 'toy',
    title: 'Toy',
    dialect: TOY_DIALECT,
    addressForm: 'toy://<file>',
    isAddress: text => text.startsWith('toy://'),
    readAddress: text => {
      const file = text.slice('toy://'.length);
      return file === '' ? { problems: ['no file after toy://'] } : { address: { engine: 'toy', file } };
    },
    describe: ({ file }) => file,
    open: async ({ file }) => openToy(file, sent),
    parseType: parseSqliteType,
    printType: printSqliteType,
    textType: 'TEXT',
    holdsAnything: false,
    digitsOfByte: 1,
    foldsWords: false,
    indexKey: sql => sql,
    isScan: () => false,
    wordTable: undefined,
    cures: { TOY_LOST: 'Look under the bed.' },
  };
}

function openToy(file: string, sent: string[]): Database {
  const connection = new DatabaseSync(file, { readOnly: true });
  registerFunctions(connection);
  const statementOf = statementsOf(TOY_DIALECT, bindable);
  const run = (text: string, parameters: readonly SQLInputValue[]): readonly Row[] => {
    sent.push(text);
    const statement = connection.prepare(text);
    statement.setReturnArrays(true);
    return statement.all(...parameters) as unknown as readonly Row[];
  };
  const query = (plan: SqlPlan, { placeholders, now }: QueryOptions = {}): readonly Row[] => {
    const { text, parameters } = statementOf(plan, placeholders, now);
    return run(text, parameters);
  };
  return {
    engine: 'toy',
    render: renderedBy(TOY_DIALECT),
    query,
    async *stream(plan, size, options) {
      const rows = query(plan, options);
      for (let at = 0; at === 0 || at < rows.length; at += size) yield rows.slice(at, at + size);
    },
    catalog: async (part): Promise<Catalog> => ({ ...readCatalog(connection, part), engine: 'toy' }),
    permissions: async () => ({ unreadable: [], writes: [] }),
    async explain(plan, placeholders, now) {
      const { text, parameters } = statementOf(plan, placeholders, now);
      return run(`EXPLAIN QUERY PLAN ${text}`, parameters).map(row => String(row[3]));
    },
    load: () => ({ away: false, bulkheads: {} }),
    async ping() {
      if (!connection.isOpen) throw new DatabaseError('unavailable', 'the database was closed');
    },
    close: async () => connection.close(),
  };
}
