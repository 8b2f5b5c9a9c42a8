/**
 * Makes the table of codecs in docs/mapping-language.md from the codecs themselves, by trying each with every kind of
 * column and every FHIR type. `npm run codecs` prints the tables.
 */
import { CODECS } from '../../src/mapping/codecs/table.ts';
import type { ColumnType } from '../../src/sql/column-type.ts';
import { declaredType } from '../../src/sql/engines.ts';

type Engine = 'sqlite' | 'mssql';

/** Kinds of columns as the tables name them, with declarations for each engine; the first one represents the kind. */
const KINDS: Readonly<Record<string, Readonly<Record<Engine, readonly string[]>>>> = {
  text: {
    mssql: ['VARCHAR(40)', 'NVARCHAR(40)', 'CHAR(8)', 'NCHAR(8)', 'VARCHAR(MAX)', 'TEXT', 'NTEXT'],
    sqlite: ['VARCHAR(40)', 'CHAR(8)', 'NVARCHAR(40)', 'TEXT', 'LONGTEXT', 'CLOB', 'VARCHAR2(40)', 'ENUM', 'JSON'],
  },
  'whole number': {
    mssql: ['INT', 'TINYINT', 'SMALLINT', 'BIGINT'],
    sqlite: ['INTEGER', 'INT', 'SMALLINT', 'BIGINT', 'INT UNSIGNED', 'SERIAL', 'YEAR'],
  },
  decimal: {
    mssql: ['DECIMAL(9,2)', 'NUMERIC(9,2)', 'MONEY', 'SMALLMONEY'],
    sqlite: ['DECIMAL(9,2)', 'NUMERIC', 'NUMBER(9,2)', 'MONEY'],
  },
  float: { mssql: ['FLOAT', 'REAL'], sqlite: ['REAL', 'FLOAT', 'DOUBLE PRECISION'] },
  'truth value': { mssql: ['BIT'], sqlite: ['BOOLEAN', 'BOOL', 'BIT'] },
  date: { mssql: ['DATE'], sqlite: ['DATE'] },
  datetime: {
    mssql: ['DATETIME', 'SMALLDATETIME', 'DATETIME2(7)', 'DATETIMEOFFSET(7)'],
    sqlite: ['DATETIME', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE', 'DATETIMEOFFSET(7)', 'DATETIME2(7)', 'SMALLDATETIME'],
  },
  time: { mssql: ['TIME'], sqlite: ['TIME'] },
  UUID: { mssql: ['UNIQUEIDENTIFIER'], sqlite: ['UUID', 'GUID', 'UNIQUEIDENTIFIER'] },
  bytes: {
    mssql: ['VARBINARY(MAX)', 'BINARY(16)', 'VARBINARY(16)', 'IMAGE', 'ROWVERSION'],
    sqlite: ['BLOB', 'BINARY(16)', 'VARBINARY(16)', 'BYTEA', 'RAW(16)'],
  },
};

const FHIR_TYPES = (
  'string code id uri url canonical markdown xhtml base64Binary boolean decimal integer positiveInt unsignedInt ' +
  'date dateTime instant time'
).split(' ');

/** Options of the codecs that require some. */
const OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  boolean: [undefined, { true: 'Y', false: 'N' }],
  'date-and-time': ['ymd8', 'date']
    .flatMap(date => ['hhmm', 'time'].map(time => ({ date, time })))
    .concat([{ date: 'date', time: 'seconds' }])
    .concat(['ymd8', 'date'].flatMap(date => ['hhmm', 'time'].map(time => ({ date, time, at: '00:00' })))),
  days: [{ since: '1899-12-30' }, { since: '1899-12-30', at: '00:00' }],
  horolog: [undefined, { at: '00:00' }],
  dtm: [undefined, { at: '00:00' }],
  iso: [undefined, { at: '00:00' }],
  time: [undefined, 'hhmm', 'seconds'],
  yddd: [undefined, { at: '00:00' }],
  zoned: [{ 1: 'America/Denver' }],
  ymd8: [undefined, { at: '00:00' }],
  ymd14: [undefined, { at: '00:00' }],
};

const SEARCH = { indexed: 'offered', computed: 'computed', none: 'none' } as const;

/** Makes the table of declarations by kind, from the parser of each engine. */
export function kindTable(): string {
  const rows = Object.entries(KINDS).map(([kind, { mssql, sqlite }]) => {
    const [like] = typesOf(kind, 'mssql');
    for (const type of [...typesOf(kind, 'mssql'), ...typesOf(kind, 'sqlite')]) {
      const kind = type.kind === 'instant' ? 'datetime' : type.kind;
      if (kind !== like?.kind) throw new Error(`${type.declared} is no ${kind}`);
    }
    const cell = (names: readonly string[]): string => names.map(name => `\`${name}\``).join(', ');
    return `| ${kind} | ${cell(mssql)} | ${cell(sqlite)} |`;
  });
  return ['| kind of column | SQL Server | SQLite |', '|---|---|---|', ...rows].join('\n');
}

function typesOf(kind: string, engine: Engine): readonly ColumnType[] {
  return (KINDS[kind]?.[engine] ?? []).map(declared => {
    const type = declaredType(engine, declared);
    if (type === undefined) throw new Error(`no type: ${declared}`);
    return type;
  });
}

/** The rows of the table: the codec, its columns, the FHIR types that it emits, and its searches. */
export function codecTable(engine: Engine): string {
  const rows = Object.entries(CODECS).map(([name, { facets }]) => {
    const columns = new Set<string>();
    const types = new Set<string>();
    const search = new Map<string, Set<string>>();
    for (const facet of facets.length > 0 ? facets : [undefined]) {
      for (const taken of combinations(name, facet, engine)) {
        columns.add(taken.columns);
        types.add(taken.fhirType);
        const by = search.get(taken.search) ?? new Set();
        search.set(taken.search, by.add(taken.columns));
      }
    }
    if (types.size === 0)
      throw new Error(`${name} takes nothing without options: give it some in OPTIONS of this file`);
    const names = facets.length > 0 ? facets.map(facet => `\`${name}.${facet}\``) : [`\`${name}\``];
    const sorted = FHIR_TYPES.filter(type => types.has(type));
    const searched = [...search].map(([how, by]) => (search.size > 1 ? `${how} (${[...by].join(', ')})` : how));
    return `| ${names.join(', ')} | ${[...columns].join('; ')} | ${sorted.join(', ')} | ${searched.join('; ')} |`;
  });
  return ['| codec | columns | FHIR types | search |', '|---|---|---|---|', ...rows].join('\n');
}

interface Taken {
  readonly columns: string;
  readonly fhirType: string;
  readonly search: string;
}

function combinations(name: string, facet: string | undefined, engine: Engine): readonly Taken[] {
  return (OPTIONS[name] ?? [undefined]).flatMap(options =>
    columnLists(engine).flatMap(list =>
      FHIR_TYPES.flatMap((fhirType): readonly Taken[] => {
        const columnTypes = list.map(({ type }) => type);
        const made = CODECS[name]?.make(options, facet, { zone: 'America/New_York', fhirType, columnTypes });
        if (made === undefined || !('codec' in made)) return [];
        const columns = list.map(({ label }) => label).join(' + ');
        return [{ columns, fhirType, search: SEARCH[made.codec.inverse] }];
      }),
    ),
  );
}

interface Column {
  readonly label: string;
  readonly type: ColumnType;
}

/** Single columns, all pairs, and three of a kind. */
function columnLists(engine: Engine): readonly (readonly Column[])[] {
  const single = Object.keys(KINDS).flatMap((label): readonly Column[] => {
    const [type] = typesOf(label, engine);
    return type ? [{ label, type }] : [];
  });
  return [
    ...single.map(column => [column]),
    ...single.flatMap(one => single.map(other => [one, other])),
    ...single.map(column => [column, column, column]),
  ];
}
