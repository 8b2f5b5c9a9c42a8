/**
 * Reads raw values that mean "no value": a binding's `none:` and the pack's `absent:` rules. Out: values typed by the
 * column, for bindings and for conditions on them. A rule for a kind of column holds for all columns of the kind, a
 * rule for dates also where a date codec reads another kind. Keys, ids and joins are not affected.
 */
import { type Catalog, findColumn, findTable } from '../../../sql/catalog.ts';
import type { ColumnType } from '../../../sql/column-type.ts';
import { engineNamed } from '../../../sql/engines.ts';
import type { Codec } from '../../codecs/codec.ts';
import { unreadEnds } from '../../codecs/instant.ts';
import { isTimed } from '../../codecs/stored-time.ts';
import type { Condition } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { columnKey, type MappingSettings } from '../pack/settings.ts';
import type { Report } from '../problem.ts';
import { type ScalarTree, scalarsOf } from '../read/tree.ts';
import type { Resolved } from './columns.ts';
import { dayOf, declaredType, instantLiteral, literalForm, readLiteral } from './literal.ts';

const DATES: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant']);

/** Which columns of other kinds date codecs read. */
export interface Dates {
  /** A codec reads dates out of the column. */
  learn(key: string, codec: Codec): void;
  /** Calls back for each date codec of the column, now and later. */
  watch(key: string, tell: (codec: Codec) => void): void;
}

/** Likewise of a whole pack, and who waits for them to be known. */
export class DateColumns implements Dates {
  readonly #codecs = new Map<string, Codec[]>();
  readonly #waiting = new Map<string, ((codec: Codec) => void)[]>();

  learn(key: string, codec: Codec): void {
    const known = this.#codecs.get(key) ?? [];
    if (known.some(({ label }) => label === codec.label)) return;
    this.#codecs.set(key, [...known, codec]);
    for (const tell of this.#waiting.get(key) ?? []) tell(codec);
  }

  watch(key: string, tell: (codec: Codec) => void): void {
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), tell]);
    for (const codec of this.#codecs.get(key) ?? []) tell(codec);
  }

  /** Of the codecs of a column, in the order in which they were learnt. */
  labels(key: string): readonly string[] {
    return (this.#codecs.get(key) ?? []).map(({ label }) => label);
  }
}

/** The values for the first column of a binding, in the order: `none:`, the column's rule, the rules of its kind. */
export function absentValues(
  found: readonly Resolved[],
  codec: Codec,
  none: readonly ScalarTree[],
  context: Context,
  keys: ReadonlySet<string> = new Set(),
): readonly (string | number)[] {
  const [first] = found;
  if (!first) return [];
  learnDates(first, codec, context);
  checkAbsent(none, first.column.column, first.column.type, context.catalog.engine, context.report);
  const values = new Set([...typed(none, first.column.type, context), ...columnRule(first, context)]);
  // A code map's row is more exact than a rule for all columns of a kind.
  const rules = kindRules(first.column.type, context).filter(({ text }) => !keys.has(text));
  for (const value of typed(rules, first.column.type, context)) values.add(value);
  if (isDateCodec(codec)) {
    // What the codec does not read is absent as it is, and has to be named only where it was written.
    const written = new Set<string | number>(typed(context.settings.absent.date, first.column.type, context));
    for (const value of datesOf(first.column.type, codec, context))
      if (written.has(value) || codec.decode(value, null, null) !== undefined) values.add(value);
    for (const value of countedDates(first.column.type, codec, context)) values.add(value);
  }
  return [...values];
}

/** Likewise of a codec that computes on its column first: the days of the rules for dates, as it computes them. */
export function absentReads([first]: readonly Resolved[], codec: Codec, context: Context): readonly number[] {
  if (!first || !takesDates(first.column.type) || !codec.readsOf) return [];
  learnDates(first, codec, context);
  return ruledDays(context).flatMap(codec.readsOf);
}

/**
 * Tests of a column's value that all hold, false where the raw value means "no value". `codec`: the date codec that one
 * of them reads the column with. Literals that a condition is equal to are no such test: what it names it means.
 */
export function onlyPresent(
  tests: readonly Condition[],
  resolved: Resolved,
  context: Context,
  codec?: Codec,
): readonly Condition[] {
  const { column, table } = resolved;
  const { type } = column;
  if (codec) learnDates(resolved, codec, context);
  const values: (string | number)[] = [];
  const add = (more: readonly (string | number)[]): void => {
    for (const value of more) if (!values.includes(value) && canPass(value, tests)) values.push(value);
  };
  add([...columnRule(resolved, context), ...typed(kindRules(type, context), type, context)]);
  if (type.kind === 'instant') add(unreadEnds(type));
  const isOpen = table !== undefined && takesDates(type) && context.settings.absent.date.length > 0;
  if (isOpen)
    context.dates.watch(keyOf(resolved), found => {
      add([...datesOf(type, found, context), ...countedDates(type, found, context)]);
    });
  return isOpen || values.length > 0 ? [...tests, { kind: 'none', of: { kind: 'is', column, values } }] : tests;
}

/** False where an ordered comparison alone keeps the value out. */
function canPass(value: string | number, tests: readonly Condition[]): boolean {
  return tests.every(test => test.kind !== 'order' || !isOrdered(test.column.type) || passes(value, test));
}

/** Kinds of columns that hold dates. */
const TIMES: ReadonlySet<string> = new Set(['date', 'datetime', 'instant']);

/** Literals of the type compare in JavaScript as the engine compares them. */
function isOrdered(type: ColumnType): boolean {
  return TIMES.has(type.kind) || (type.kind === 'integer' && type.bits < 64);
}

function passes(value: string | number, { op, value: bound }: Condition & { readonly kind: 'order' }): boolean {
  switch (op) {
    case '<':
      return value < bound;
    case '<=':
      return value <= bound;
    case '>':
      return value > bound;
    case '>=':
      return value >= bound;
  }
}

/** Values that mean "no value" wherever the column is read without a codec of dates. */
export function meansNone(resolved: Resolved, context: Context): readonly (string | number)[] {
  const { type } = resolved.column;
  return [...new Set([...columnRule(resolved, context), ...typed(kindRules(type, context), type, context)])];
}

/** The rule for this very column says that the literal means "no value". */
export function isRuledOut(literal: string | number, resolved: Resolved, context: Context): boolean {
  return columnRule(resolved, context).includes(literal);
}

function learnDates(resolved: Resolved, codec: Codec, { dates }: Context): void {
  const { column, table } = resolved;
  if (table && takesDates(column.type) && isDateCodec(codec)) dates.learn(keyOf(resolved), codec);
}

function isDateCodec({ yields }: Codec): boolean {
  return yields.some(type => DATES.has(type));
}

function keyOf({ column, table }: Resolved): string {
  return columnKey(`${table?.name}.${column.column}`);
}

function columnRule(resolved: Resolved, context: Context): readonly (string | number)[] {
  const rule = resolved.table && context.settings.absent.columns.get(keyOf(resolved));
  return typed(scalarsOf(rule?.value), resolved.column.type, context);
}

/** Reports rules for columns whose values they can never be. A column that is not there is reported elsewhere. */
export function checkAbsentColumns({ absent }: MappingSettings, catalog: Catalog, report: Report): void {
  for (const [key, { value }] of absent.columns) {
    const [table = '', name = ''] = key.split('.');
    const info = findTable(catalog, table);
    const column = info && findColumn(info, name);
    if (column?.type) checkAbsent(scalarsOf(value), column.name, column.type, catalog.engine, report);
  }
}

/** Reports literals that the column cannot hold: as rules they would mean nothing. */
function checkAbsent(
  trees: readonly ScalarTree[],
  column: string,
  type: ColumnType,
  engine: string,
  report: Report,
): void {
  for (const { text, at } of trees) {
    if (readLiteral(text, declaredType(type), engine) !== undefined) continue;
    // A column of dates may hold such a text, which is no date and so no value whether or not a rule says so.
    if (engineNamed(engine).holdsAnything && isTimed(type) && dayOf(text) !== undefined) continue;
    report.error('wrong-condition', at, `literal not of the type of column ${column}`, {
      expected: literalForm(type),
      found: text || 'nothing',
    });
  }
}

/** A rule for all columns of a kind may name values that one of them cannot hold. */
function typed(rules: readonly ScalarTree[], type: ColumnType, { catalog }: Context): readonly (string | number)[] {
  return rules.flatMap(({ text }) => {
    const value = readLiteral(text, type, catalog.engine);
    if (value === undefined) return [];
    // Programs that store offsets mostly write "no date" by the clock of UTC: `9999-12-31 00:00:00 +00:00`.
    const inUtc = instantLiteral(text, type);
    return inUtc === undefined || inUtc === value ? [value] : [value, inUtc];
  });
}

function kindRules(type: ColumnType, { settings: { absent } }: Context): readonly ScalarTree[] {
  switch (type.kind) {
    case 'text':
      return absent.text;
    case 'integer':
    case 'decimal':
    case 'float':
      return absent.number;
    case 'date':
    case 'datetime':
    case 'instant':
      return absent.date;
    default:
      return [];
  }
}

/** Columns that hold dates only where a codec says so. */
function takesDates({ kind }: ColumnType): boolean {
  return kind === 'text' || kind === 'integer' || kind === 'decimal' || kind === 'float';
}

/**
 * The rules for dates on a column of another kind: as they are written, and a day in each form that the codec reads.
 */
function datesOf(type: ColumnType, codec: Codec, { settings, catalog }: Context): readonly (string | number)[] {
  if (!takesDates(type)) return [];
  return settings.absent.date.flatMap(({ text }) => {
    const day = dayOf(text);
    const forms = day === undefined ? [text] : [text, day, day.replaceAll('-', '')];
    return forms.flatMap(form => {
      const value = readLiteral(form, type, catalog.engine);
      if (value === undefined) return [];
      const read = codec.decode(value, null, null);
      // `17530101` seconds since 1970 are another day.
      return day === undefined || typeof read !== 'string' || read.startsWith(day) ? [value] : [];
    });
  });
}

/** Likewise days as a codec finds them whose numbers count from another day or year: 2958465 is 9999-12-31 in Excel. */
function countedDates(type: ColumnType, codec: Codec, context: Context): readonly (string | number)[] {
  if (!takesDates(type) || !codec.rawsOf) return [];
  const raws = ruledDays(context).flatMap(codec.rawsOf);
  return raws.flatMap(raw => readLiteral(String(raw), type, context.catalog.engine) ?? []);
}

/** The rules for dates that are a day, as `2024-03-14`. */
function ruledDays({ settings }: Context): readonly string[] {
  return settings.absent.date.flatMap(({ text }) => dayOf(text) ?? []);
}
