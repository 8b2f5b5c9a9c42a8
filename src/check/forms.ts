/**
 * Reports in which form the rows of date, time, number and UUID columns are written, and which of them are not read.
 * In: the values of the mappings, and the catalog with the forms of its rows. Out: a warning per column with rows that
 * its codec does not read, with the form and never the value; a table with the choice for each column and its reason.
 */
import { plural } from '../common/plural.ts';
import { partsOf } from '../mapping/check/parts.ts';
import { childrenOf } from '../mapping/children.ts';
import { createReport } from '../mapping/load/problem.ts';
import type { Node, Position, Registry, Scope, ValueNode } from '../mapping/model.ts';
import { type Catalog, type ColumnInfo, findColumn, findTable } from '../sql/catalog.ts';
import type { ColumnType } from '../sql/column-type.ts';
import type { ColumnExpression } from '../sql/expression.ts';
import { isReadForm } from '../time/written.ts';
import type { CheckSection } from './section.ts';

interface UsedColumn {
  readonly name: string;
  readonly info: ColumnInfo;
  readonly column: ColumnExpression;
  readonly at: Position;
  /** The label of the codec that reads it there; empty for an instant, which requires a time. */
  readonly codec: string;
  /** An earlier alternative computes a time from its numbers, or a value from all it holds. */
  readonly read: 'numbers' | 'all' | undefined;
}

export const FORMS: CheckSection = {
  name: 'forms',
  title: 'How dates, times, numbers and UUIDs are written',
  weight: 0,
  async run({ registry, catalog }) {
    const report = createReport();
    const used = columnsOf(registry, catalog);
    for (const { name, info, column, at, read } of used) {
      if (ODD.has(column.type.kind)) {
        const { what, expected, isNone } = NONE[column.type.kind] ?? NUMBERS;
        const none = (info.written ?? []).filter(({ form }) => isNone.has(form));
        if (none.length === 0) continue;
        const rows = none.reduce((sum, { rows: more }) => sum + more, 0);
        report.warning(
          'wrong-values',
          at,
          `column ${name} holds no ${what} in ${plural(rows, 'row')}, where it is absent`,
          {
            expected,
            found: none.map(({ form, rows: of }) => `${form} (${of})`).join(', '),
          },
        );
        continue;
      }
      const isRead = (form: string): boolean => read === 'all' || (read === 'numbers' && form.includes('number'));
      const odd = (info.written ?? []).filter(({ form }) => !isReadForm(form) && !MEANT[form] && !isRead(form));
      if (odd.length === 0) continue;
      const rows = odd.reduce((sum, { rows: more }) => sum + more, 0);
      const numbers = odd.some(({ form }) => form.includes('number'));
      report.warning(
        'wrong-values',
        at,
        `column ${name} holds no ${info.type?.kind === 'time' ? 'time' : 'date'} in ${plural(rows, 'row')}, where it is absent`,
        {
          expected: numbers
            ? '`via: epoch` or `via: julian`, which say what the numbers count'
            : 'dates such as 2024-01-31 08:30:00',
          found: odd.map(({ form, rows: of }) => `${form} (${of})`).join(', '),
        },
      );
    }
    for (const { name, info, at, codec } of used) {
      const days = info.written?.find(({ form }) => form === 'YYYY-MM-DD')?.rows ?? 0;
      if (days === 0 || info.type?.kind !== 'datetime' || codec !== 'datetime') continue;
      report.warning(
        'wrong-values',
        at,
        `column ${name} holds a day alone in ${plural(days, 'row')}, which is served with the time 00:00:00`,
        { expected: '`via: {datetime: {midnight: date}}`, or `via: date` where no row has a time' },
      );
    }
    const rows = used.map(({ name, info, column }) => [
      ...[name, info.declared, formsOf(info), choiceOf(info, column), reasonOf(info, column)],
    ]);
    const table = { name: 'forms', title: 'Forms of dates, times, numbers and UUIDs', columns: COLUMNS, rows };
    const unseen = used.filter(({ info }) => info.unseen);
    const notes =
      unseen.length > 0
        ? [
            `The rows of ${plural(unseen.length, 'column')} were not all looked at in time: no index serves them, and NOT NULL is believed.`,
          ]
        : [];
    return { problems: report.problems(), notes, tables: rows.length === 0 ? [] : [table] };
  },
};

const COLUMNS = ['column', 'declared', 'written as (rows)', 'compared', 'because'];

/** Forms by which programs mean "no value". */
const MEANT: Readonly<Record<string, true>> = { 'a zero date': true, 'a blank text': true };

/** Forms in a column of numbers, of UUIDs or of texts that are not of that kind. */
const NUMBERS = { what: 'number', expected: 'numbers', isNone: new Set(['a text', 'bytes', 'an infinite number']) };
const UUIDS = {
  what: 'UUID',
  expected: 'UUIDs such as 6fa459ea-ee8a-3ca4-894e-db77e160355e',
  isNone: new Set(['a text that is no UUID', 'bytes', 'a number']),
};

/** Types whose columns are reported only if they hold more than the type says. */
const ODD: ReadonlySet<ColumnType['kind']> = new Set(['integer', 'decimal', 'float', 'bit', 'uuid', 'text']);

const NONE: Readonly<Partial<Record<ColumnType['kind'], typeof NUMBERS>>> = {
  uuid: UUIDS,
  text: { what: 'text', expected: 'texts, or numbers, which are read as texts', isNone: new Set(['bytes']) },
};

function isNumber({ type }: ColumnExpression): boolean {
  return type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float' || type.kind === 'bit';
}

/**
 * Returns each column once, at its first use; columns of numbers, UUIDs and texts only if some rows differ from the
 * declared type.
 */
function columnsOf(registry: Registry, catalog: Catalog): readonly UsedColumn[] {
  const found = new Map<string, UsedColumn>();
  const add = (scope: Scope, { from, at, codec, type }: ValueNode, earlier: readonly Node[] = []): void => {
    for (const column of from) {
      if (column.kind !== 'column') continue;
      const { table } = scope.lookups.find(lookup => lookup.alias === column.alias) ?? scope;
      const inTable = findTable(catalog, table);
      const info = inTable && findColumn(inTable, column.column);
      const isTime = column.type.kind === 'date' || column.type.kind === 'datetime' || column.type.kind === 'time';
      const name = `${table.name}.${column.column}`;
      const isOdd = ODD.has(column.type.kind) && info?.form === 'any';
      if (info?.form && (isTime || isOdd) && !found.has(name))
        found.set(name, {
          ...{ name, info, column, at, codec: type === 'instant' ? '' : codec.label },
          read: readBy(earlier, column),
        });
    }
  };
  for (const mapping of registry.mappings) if (mapping.changed) add(mapping.source, mapping.changed);
  for (const { scope, node, way } of partsOf(registry).values) add(scope, node, way.earlier);
  return [...found.values()];
}

/** Returns what nodes compute from a column: times from numbers by `epoch` and `julian`, anything by `sql`. */
function readBy(nodes: readonly Node[], column: ColumnExpression): UsedColumn['read'] {
  const found = nodes.flatMap((node): readonly UsedColumn['read'][] => {
    if (node.kind !== 'value') return [readBy(childrenOf(node), column)];
    return node.from.map(from => {
      if (from.kind !== 'function' && from.kind !== 'raw') return undefined;
      const parts = from.kind === 'raw' ? from.parts : from.args;
      const isOfColumn = parts.some(
        part =>
          typeof part === 'object' &&
          part.kind === 'column' &&
          part.alias === column.alias &&
          part.column === column.column,
      );
      return isOfColumn ? (from.kind === 'raw' ? 'all' : 'numbers') : undefined;
    });
  });
  return found.includes('all') ? 'all' : found.find(one => one !== undefined);
}

function formsOf({ written }: ColumnInfo): string {
  if (written === undefined) return 'not looked at';
  return written.map(({ form, rows }) => `${form} (${rows})`).join(', ') || 'no row has a value';
}

function choiceOf({ form }: ColumnInfo, column: ColumnExpression): string {
  if (typeof form === 'object' && form.utc) return 'as it stands, in UTC; in conditions through its canonical text';
  if (form !== 'any') return 'as it stands';
  if (column.type.kind === 'text') return 'as a text';
  return isNumber(column) ? 'as its number, or none' : 'through its canonical text';
}

function reasonOf({ form, written }: ColumnInfo, column: ColumnExpression): string {
  if (typeof form === 'object' && form.mixed)
    return 'all dates and times have one form, and what is none sorts apart from them: an index serves';
  if (form !== 'any') return 'all rows have one form, which sorts as text: an index serves';
  if (written === undefined) return 'the rows were not all looked at in time: no index serves';
  if (written.length === 0) return 'nothing shows how it will be written';
  if (isNumber(column))
    return 'rows hold more than the type says, but numbers have their place among it: an index serves';
  if (column.type.kind === 'text') return 'rows hold numbers too, which SQLite keeps as such: no index serves';
  if (column.type.kind === 'uuid') return 'rows are not all in upper case, or all in lower case: no index serves';
  return written.length > 1
    ? 'rows have several forms: no index serves'
    : 'this form does not sort as text, or not for this type: no index serves';
}
