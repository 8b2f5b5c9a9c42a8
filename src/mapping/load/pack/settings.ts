/** Reads pack.yaml. In: its document. Out: settings: systems, zone, deny list, absence rules, lists, fragments. */
import type { Catalog } from '../../../sql/catalog.ts';
import { isZone } from '../../../time/zone.ts';
import type { Pack, Position } from '../../model.ts';
import { reportMisspelt } from '../codes/system.ts';
import type { Levels } from '../macros/extend.ts';
import type { Detail, Report } from '../problem.ts';
import { packSchema } from '../read/schema.ts';
import { checkShape } from '../read/shape.ts';
import { child, type Entry, entriesOf, plain, type ScalarTree, scalarsOf, type Tree, textOf } from '../read/tree.ts';
import { brandSchema } from './brand.ts';

export interface Settings {
  readonly pack: Pack;
  readonly schema: string | undefined;
  readonly deny: DenyList;
  readonly denyRules: readonly ScalarTree[];
  /** Column names that raw SQL must not contain. */
  readonly deniedNames: readonly string[];
  readonly absent: AbsentRules;
  readonly lists: ReadonlyMap<string, Entry>;
  readonly fragments: ReadonlyMap<string, Entry>;
  /** Tables of words, by the table that the words come from. */
  readonly words: readonly Entry[];
  /** CSV files by code system. */
  readonly hierarchies: readonly Entry[];
}

/** The settings that mappings use: fragments are already inserted, and code systems are looked up one by one. */
export type MappingSettings = Omit<Settings, 'pack' | 'fragments' | 'words' | 'hierarchies'> & {
  readonly zone: string;
};

/** Keys of pack.yaml that do not affect mappings. */
export const UNSEEN: ReadonlySet<string> = new Set([
  ...['name', 'title', 'publisher', 'oid', 'brand'],
  ...['systems', 'fragments', 'words', 'hierarchies'],
]);

/** Raw values that mean "no value", by kind of column and by columns (lower-case, without the schema). */
export interface AbsentRules {
  readonly text: readonly ScalarTree[];
  readonly number: readonly ScalarTree[];
  readonly date: readonly ScalarTree[];
  /** By `TABLE.COL`. */
  readonly columns: ReadonlyMap<string, Entry>;
  /** By `TABLE.*`, `*.COL`, `*.*_CD`. */
  readonly patterns: readonly ColumnPattern[];
}

/** A rule for all columns whose `columnKey` matches. */
export interface ColumnPattern {
  readonly matches: (key: string) => boolean;
  readonly entry: Entry;
}

/** Reads pack.yaml. Reports missing or wrong values and replaces them by harmless defaults. */
export function readSettings(document: Tree | undefined, file: string, report: Report): Settings {
  const at: Position = document?.at ?? { file, line: 1, column: 1 };
  if (!document) report.error('missing-key', at, 'the pack has no pack.yaml', { expected: 'name, title and zone' });
  else checkShape(document, packSchema, report);
  const text = (key: string): string | undefined => textOf(child(document, key));
  const zone = text('zone') ?? 'UTC';
  if (!isZone(zone)) {
    report.error('wrong-form', child(document, 'zone')?.at ?? at, 'unknown time zone', {
      found: zone,
      expected: 'the IANA name of a place, such as America/New_York, or UTC',
      among: Intl.supportedValuesOf('timeZone'),
    });
  }
  const systems: Record<string, string> = Object.create(null);
  for (const { key, value } of entriesOf(child(document, 'systems'))) {
    const uri = textOf(value) ?? '';
    if (!/^[a-z][a-z0-9+.-]*:\S+$/i.test(uri))
      report.error('wrong-form', value.at, 'not an absolute URI', { found: uri });
    else reportMisspelt(uri, value.at, report);
    systems[key] = uri;
  }
  const publisher = text('publisher');
  const brand = child(document, 'brand');
  const { data: shown } = brandSchema.safeParse(brand && plain(brand));
  const oid = readOid(child(document, 'oid'), report);
  const denyRules = scalarsOf(child(document, 'deny'));
  const deny = denyRules.map(rule => rule.text);
  const absent = child(document, 'absent');
  checkKindRules(absent, report);
  return {
    pack: {
      name: text('name') ?? '',
      title: text('title') ?? '',
      zone: isZone(zone) ? zone : 'UTC',
      ...(publisher === undefined ? {} : { publisher }),
      ...(oid === undefined ? {} : { oid }),
      ...(shown === undefined ? {} : { brand: shown }),
      systems,
    },
    schema: text('schema'),
    deny: denyList(deny),
    denyRules,
    deniedNames: deniedNames(deny),
    absent: {
      text: scalarsOf(child(absent, 'text')),
      number: scalarsOf(child(absent, 'number')),
      date: scalarsOf(child(absent, 'date')),
      ...columnRules(entriesOf(child(absent, 'columns'))),
    },
    lists: byKey(child(document, 'lists')),
    fragments: byKey(child(document, 'fragments')),
    words: entriesOf(child(document, 'words')),
    hierarchies: entriesOf(child(document, 'hierarchies')),
  };
}

function columnRules(entries: readonly Entry[]): Pick<AbsentRules, 'columns' | 'patterns'> {
  const isPattern = ({ key }: Entry): boolean => key.includes('*');
  return {
    columns: new Map(entries.filter(entry => !isPattern(entry)).map(entry => [columnKey(entry.key), entry])),
    patterns: entries.filter(isPattern).map(entry => {
      const parts = columnKey(entry.key).replace(/[.*+?^${}()|[\]\\]/g, sign => (sign === '*' ? '[^.]*' : `\\${sign}`));
      const form = new RegExp(`^${parts}$`);
      return { matches: key => form.test(key), entry };
    }),
  };
}

/** Leaves room for the number of a system after it: C-CDA allows OIDs of at most 64 characters. */
const OID_LENGTH = 48;

function readOid(written: Tree | undefined, report: Report): string | undefined {
  const oid = textOf(written);
  if (written === undefined || oid === undefined) return undefined;
  if (/^[0-2](?:\.(?:0|[1-9]\d*))+$/.test(oid) && oid.length <= OID_LENGTH) return oid;
  report.error('wrong-form', written.at, '`oid` is no OID', {
    found: oid,
    expected: `numbers with points between them, of at most ${OID_LENGTH} characters, such as 2.16.840.1.113883.3.9999`,
  });
  return undefined;
}

/** The form of the rules of each kind. A rule in another form would silently have no effect. */
const KINDS = [
  {
    kind: 'number',
    form: /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i,
    called: 'a number',
    expected: 'a number, such as 0 or -1',
  },
  {
    kind: 'date',
    form: /^-?\d[-\d./: T]*$/,
    called: 'a date',
    expected: 'a date as rows have it, such as 0000-00-00 or 17530101; words stand under `text`',
  },
] as const;

function checkKindRules(absent: Tree | undefined, report: Report): void {
  for (const { kind, form, called, expected } of KINDS) {
    for (const { text, at } of scalarsOf(child(absent, kind))) {
      if (!form.test(text))
        report.error('wrong-form', at, `rule of \`absent\` that is not ${called}`, { expected, found: text });
    }
  }
}

/**
 * Reports rules that name no column of the whole schema: a misspelled `deny` protects nothing. `before`: a schema whose
 * removed columns may still be named.
 */
export function checkColumnRules(
  settings: MappingSettings,
  catalog: Catalog,
  before: Catalog | undefined,
  levels: Levels,
  report: Report,
): void {
  // Rules of a pack below may name columns of other schemas.
  const reportName = (at: Position, message: string, detail: Detail): void =>
    levels(at.file) === 0
      ? report.error('unknown-column', at, message, detail)
      : report.warning('unknown-column', at, message, detail);
  const columns = [...catalog.tables.values(), ...(before?.tables.values() ?? [])].flatMap(table =>
    [...table.columns.values()].map(column => ({ table: table.name, column: column.name })),
  );
  for (const { text, at } of settings.denyRules) {
    const denies = denyList([text]);
    if (columns.some(({ table, column }) => denies(undefined, table, column) !== undefined)) continue;
    reportName(at, '`deny` names no column', { found: text, among: columns.map(c => `${c.table}.${c.column}`) });
  }
  const known = new Set(columns.map(c => columnKey(`${c.table}.${c.column}`)));
  const { columns: single, patterns } = settings.absent;
  const unknown = [
    ...[...single].flatMap(([key, entry]) => (known.has(key) ? [] : [entry])),
    ...patterns.flatMap(({ matches, entry }) => ([...known].some(matches) ? [] : [entry])),
  ];
  for (const entry of unknown) {
    reportName(entry.at, '`absent` names no column', {
      found: entry.key,
      among: columns.map(c => `${c.table}.${c.column}`),
    });
  }
}

/** Normalizes `dbo.PT.PHONE` and `PT.PHONE` to `pt.phone`. */
export function columnKey(name: string): string {
  return name.toLowerCase().split('.').slice(-2).join('.');
}

function byKey(tree: Tree | undefined): ReadonlyMap<string, Entry> {
  return new Map(entriesOf(tree).map(e => [e.key, e]));
}

/** Returns the rule that forbids a column, or undefined. */
export type DenyList = (schema: string | undefined, table: string, column: string) => string | undefined;

/**
 * Compiles the `deny:` list of pack.yaml: columns that must never be read. Out: a test of a column. It is used wherever
 * a mapping names a column, because conditions and lookups reveal values just as elements do. Rules: `COLUMN`,
 * `TABLE.COLUMN` or `schema.TABLE.COLUMN`, each part with `*`, case-insensitive.
 */
export function denyList(rules: readonly string[]): DenyList {
  const compiled = rules.map(rule => ({ rule, parts: rule.split('.').map(globPart).reverse() }));
  return (schema, table, column) =>
    compiled.find(({ parts }) => {
      const names = [column, table, schema];
      // A rule that names the schema also applies to a table written without it.
      return parts.every((part, i) => names[i] === undefined || part.test(names[i] ?? ''));
    })?.rule;
}

function globPart(part: string): RegExp {
  return new RegExp(`^${part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i');
}

/** Returns the column names (last parts) of the rules, to find them in raw SQL. */
export function deniedNames(rules: readonly string[]): readonly string[] {
  return rules.map(rule => rule.split('.').at(-1) ?? rule).filter(name => !name.includes('*'));
}
