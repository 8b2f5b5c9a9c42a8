/**
 * Scripts the catalog and permissions of a server. In: tables by name with their columns, and the permissions of the
 * login. Out: a script that answers the queries of a start. It returns no rows for a SELECT, and error 208 for an
 * unknown table.
 */
import type { Answer, Asked, Script } from './endpoint.ts';
import type { Cell, Column } from './tds.ts';

export interface ScriptedTable {
  /** Types by name; the first column is the key. */
  readonly columns: Readonly<Record<string, 'int' | 'datetime' | 'varchar'>>;
  /** SELECT on all columns unless set otherwise. */
  readonly may?: readonly ('SELECT' | 'INSERT' | 'UPDATE' | 'DELETE')[];
  /** Readable columns, if it may not read all. */
  readonly readable?: readonly string[];
  /** Unreadable columns of a readable table. */
  readonly denied?: readonly string[];
  /** Masked columns, without UNMASK for the login. */
  readonly masked?: readonly string[];
  /** A security policy that may hide rows. */
  readonly policy?: string;
  /** A schema that is neither the login's own nor dbo: statements must name it. */
  readonly schema?: string;
}

export interface ScriptedSchema {
  readonly tables: Readonly<Record<string, ScriptedTable>>;
  readonly database?: readonly string[];
  /** The login lacks VIEW DEFINITION. */
  readonly blind?: true;
}

const answer = (...rows: readonly (readonly Cell[])[]): Answer => {
  const columns = (rows[0] ?? ['']).map(
    (cell, i): Column => ({ name: `c${i}`, type: typeof cell === 'number' ? 'int' : 'nvarchar' }),
  );
  return { columns, rows };
};

const LENGTHS = { int: 4, datetime: 8, varchar: 40 } as const;

/** `cdm.PLACE` distinguishes it from a `PLACE` in another schema. */
function tableIn(key: string): string {
  return key.replace(/^.*\./, '');
}

function isFound(asked: string | undefined, schema: string | undefined): boolean {
  return schema === undefined ? asked === undefined || asked === 'dbo' : asked === schema;
}

export function schemaScript({ tables, database = [], blind }: ScriptedSchema): Script {
  const named = Object.entries(tables);
  return ({ kind, text, bytes }: Asked): Answer | undefined => {
    if (kind !== 'rpc' && kind !== 'batch') return undefined;
    const names = (name: string): boolean => bytes.includes(Buffer.from(name, 'utf16le'));
    const asked = named.filter(([name]) => names(tableIn(name)));
    if (text.includes("'CREATE TABLE'")) return answer(...database.map(name => [name]));
    if (text.includes('AS may_view')) return answer([blind ? 0 : 1, 0, 1]);
    if (text.includes("'UNMASK'"))
      return answer(
        ...named.flatMap(([name, { masked = [], schema = 'dbo' }], id) =>
          masked.map(column => [id, column, 0, 0, schema, tableIn(name), 1]),
        ),
      );
    if (text.includes('FROM sys.security_predicates'))
      return answer(
        ...named.flatMap(([name, { policy, schema = 'dbo' }], id) =>
          policy === undefined ? [] : [[id, 'sec', policy, schema, tableIn(name)]],
        ),
      );
    if (text.includes("'COLUMN'"))
      return answer(
        ...named.flatMap(([, { columns, may = ['SELECT'], readable = [], denied = [] }], id) => {
          const allowed = may.includes('SELECT')
            ? Object.keys(columns).filter(name => !denied.includes(name))
            : readable;
          return Object.keys(columns).map(column => [id, column, allowed.includes(column) ? 1 : 0]);
        }),
      );
    if (text.includes("'OBJECT'"))
      return answer(
        ...asked.map(([name, { may = ['SELECT'], schema = 'dbo' }]) => [
          named.findIndex(([other]) => other === name),
          schema,
          tableIn(name),
          ...(['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const).map(one => (may.includes(one) ? 1 : 0)),
        ]),
      );
    if (text.includes('FROM sys.objects')) {
      const wanted = ([name, { columns }]: (typeof named)[number]): boolean => {
        if (text.includes('LOWER(o.name)')) return names(tableIn(name).toLowerCase());
        return !text.includes('LOWER(c.name)') || Object.keys(columns).some(column => names(column.toLowerCase()));
      };
      return answer(
        ...named.flatMap((table, id) => {
          const [name, { schema }] = table;
          return wanted(table) ? [[id, tableIn(name), schema === undefined ? 1 : 2, schema ?? 'dbo']] : [];
        }),
      );
    }
    if (text.includes('FROM sys.synonyms')) return { columns: [{ name: 'name', type: 'nvarchar' }], rows: [] };
    if (text.includes('FROM sys.indexes'))
      return answer(...named.map(([, { columns }], id) => [id, 'PK', 1, 1, Object.keys(columns)[0] ?? '']));
    if (text.includes('FROM sys.columns'))
      return answer(
        ...named.flatMap(([, { columns, masked = [] }], id) =>
          Object.entries(columns).map(([name, type], i) => {
            const nullable = i === 0 ? 0 : 1;
            const isMasked = masked.includes(name) ? 1 : 0;
            return [id, name, type, LENGTHS[type], 10, 0, nullable, '', 1252, isMasked, 0, 0];
          }),
        ),
      );
    if (text.includes('sys.databases') || text === 'SELECT 1') return undefined;
    const nobody = [...text.matchAll(/\b(?:FROM|JOIN) (?:(\w+)\.)?(\w+) AS/g)].some(
      ([, schema, table]) => !named.some(([name, of]) => tableIn(name) === table && isFound(schema, of.schema)),
    );
    if (nobody) return { error: 208 };
    return { columns: [{ name: 'n', type: 'int' }], rows: [] };
  };
}
