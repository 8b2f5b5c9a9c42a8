/**
 * Refuses statements that read columns whose values the login does not get, as the server refuses statements with a
 * missing column. Reason: if a mask is added while mappings are served, statements still succeed. In: a function that
 * reads the catalog (altered-reads.ts), and plans. Out: an error for a plan that reads such a column. While plans
 * arrive, the catalog is read again each minute.
 */
import { memoized } from '../../common/caches.ts';
import { type Catalog, type CatalogPart, findTable, type TableInfo } from '../catalog.ts';
import { DatabaseError } from '../database.ts';
import type { TableName } from '../identifier.ts';
import type { SqlPlan } from '../plan.ts';
import { walk } from '../walk.ts';

export interface Withheld {
  /** Reads the catalog; the last reading of each table counts. */
  catalog(part?: CatalogPart): Promise<Catalog>;
  /** Refuses a plan that reads such a column. Throws DatabaseError. */
  check(plan: SqlPlan): void;
}

interface WithheldOptions {
  readonly read: (part?: CatalogPart) => Promise<Catalog>;
  readonly clock?: () => number;
}

/** Milliseconds that a catalog stays valid. */
const FRESH = 60_000;

interface Read {
  /** By alias; nested relations may use an alias for another table. */
  readonly tables: ReadonlyMap<string, readonly TableName[]>;
  /** By alias, in lower case. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** SQL of mappings, which may name a column without its alias. */
  readonly texts: readonly string[];
}

export function createWithheld({ read, clock = () => performance.now() }: WithheldOptions): Withheld {
  /** Tables with such columns. */
  const tables = new Map<string, TableInfo>();
  /** The part that a pack names. A whole schema is read once to resolve a name, and is too large for every minute. */
  let known: CatalogPart | undefined;
  let since = 0;
  let unexpected: { readonly error: unknown } | undefined;

  const catalog = async (part?: CatalogPart): Promise<Catalog> => {
    known = part ?? known;
    since = clock();
    const found = await read(part);
    for (const [key, table] of found.tables) {
      if (namesIn(table).length > 0) tables.set(key, table);
      else tables.delete(key);
    }
    return found;
  };
  const refresh = (): void => {
    if (known === undefined || clock() - since < FRESH) return;
    catalog(known).catch((error: unknown) => {
      // Other code reports an unreachable database. A bug is kept and fails the next statement, which is logged; thrown
      // here it would end the process, because nobody awaits this.
      if (!(error instanceof DatabaseError)) unexpected = { error };
    });
  };

  return {
    catalog,
    check(plan) {
      refresh();
      const failed = unexpected;
      unexpected = undefined;
      if (failed) throw failed.error;
      if (tables.size === 0) return;
      const { tables: named, columns, texts } = readBy(plan);
      for (const [alias, names] of named) {
        const read = columns.get(alias);
        const hidden = names.flatMap(name => namesIn(findTable({ engine: 'mssql', tables }, name)));
        if (hidden.some(column => read?.has(column) || texts.some(text => isNamed(column, text)))) throw refusal();
      }
    },
  };
}

/** Returns the error of a missing column, so that the schema is checked and the mapping's line reported. */
function refusal(): DatabaseError {
  return new DatabaseError('failed', 'the login would read a mask or ciphertext of a column', { missing: true });
}

function isNamed(column: string, text: string): boolean {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}_$#@]+/u)
    .includes(column);
}

/** Returns such columns, in lower case. */
function namesIn(table: TableInfo | undefined): readonly string[] {
  return [...(table?.columns ?? [])].flatMap(([key, { denied }]) => (typeof denied === 'object' ? [key] : []));
}

/** Computed once per plan, and only while there are such columns. */
const readBy = memoized((plan: SqlPlan): Read => {
  const tables = new Map<string, TableName[]>();
  const columns = new Map<string, Set<string>>();
  const texts: string[] = [];
  const named = (alias: string, table: TableName): void => {
    tables.set(alias, [...(tables.get(alias) ?? []), table]);
  };
  walk(
    { relations: [plan.from], expressions: [...plan.columns, ...plan.orderBy.map(({ by }) => by)] },
    {
      column: ({ alias, column }) =>
        void columns.set(alias, (columns.get(alias) ?? new Set()).add(column.toLowerCase())),
      raw: text => void texts.push(text),
      enter({ table, alias, joins }) {
        named(alias, table);
        for (const join of joins) named(join.alias, join.table);
        return true;
      },
    },
  );
  return { tables, columns, texts };
});
