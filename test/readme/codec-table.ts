/**
 * The table of codecs in docs/mapping-language.md, from the codecs themselves: each is offered every kind of column and every
 * FHIR type, and what it takes is written down. To print it:
 * `npx node -e "import('./test/readme/codec-table.ts').then(t => console.log(t.codecTable()))"`
 */
import { CODECS } from '../../src/mapping/codecs/table.ts';
import type { ColumnType } from '../../src/sql/column-type.ts';
import { parseMssqlType } from '../../src/sql/mssql/types.ts';

const COLUMNS = [
  ['text', 'VARCHAR(40)'],
  ['integer', 'INT'],
  ['decimal', 'DECIMAL(9,2)'],
  ['float', 'FLOAT'],
  ['BIT', 'BIT'],
  ['DATE', 'DATE'],
  ['DATETIME', 'DATETIME'],
  ['TIME', 'TIME'],
  ['UNIQUEIDENTIFIER', 'UNIQUEIDENTIFIER'],
  ['VARBINARY(16)', 'VARBINARY(16)'],
  ['VARBINARY', 'VARBINARY(MAX)'],
] as const;

const FHIR_TYPES = (
  'string code id uri url canonical markdown xhtml base64Binary boolean decimal integer positiveInt unsignedInt ' +
  'date dateTime instant'
).split(' ');

/** Options for codecs that cannot do without. */
const OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  boolean: [undefined, { true: 'Y', false: 'N' }],
  'date-and-time': ['ymd8', 'date'].flatMap(date => ['hhmm', 'time'].map(time => ({ date, time }))),
};

const SEARCH = { indexed: 'offered', computed: 'computed', none: 'none' } as const;

/** The rows of the table: the codec, columns it takes, FHIR types it gives, and what its searches are. */
export function codecTable(): string {
  const rows = Object.entries(CODECS).map(([name, { facets }]) => {
    const columns = new Set<string>();
    const types = new Set<string>();
    const search = new Map<string, Set<string>>();
    for (const facet of facets.length > 0 ? facets : [undefined]) {
      for (const taken of combinations(name, facet)) {
        columns.add(taken.columns);
        types.add(taken.fhirType);
        const by = search.get(taken.search) ?? new Set();
        search.set(taken.search, by.add(taken.columns));
      }
    }
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

function combinations(name: string, facet: string | undefined): readonly Taken[] {
  return (OPTIONS[name] ?? [undefined]).flatMap(options =>
    columnLists().flatMap(list =>
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
function columnLists(): readonly (readonly Column[])[] {
  const single = COLUMNS.flatMap(([label, declared]): readonly Column[] => {
    const type = parseMssqlType(declared);
    return type ? [{ label, type }] : [];
  });
  return [
    ...single.map(column => [column]),
    ...single.flatMap(one => single.map(other => [one, other])),
    ...single.map(column => [column, column, column]),
  ];
}
