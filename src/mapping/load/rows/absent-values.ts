/**
 * Reads raw values that mean "no value": a binding's `none:` and the pack's `absent:` rules. Out: values typed by the
 * column, for bindings and for conditions on them. A rule for a kind of column holds for all columns of the kind, a
 * rule for dates also for columns of another kind with a date codec. Keys, ids and joins are not affected.
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

/** Records which columns of other types a date codec reads. */
export interface Dates {
  /** Records that a codec reads dates from the column. */
  learn(key: string, codec: Codec): void;
  /** Calls `listener` for each date codec of the column, now and later. */
  watch(key: string, listener: (codec: Codec) => void): void;
}

/** The date columns of a whole pack, and the callbacks that wait for them. */
export class DateColumns implements Dates {
  readonly #codecs = new Map<string, Codec[]>();
  readonly #waiting = new Map<string, ((codec: Codec) => void)[]>();

  learn(key: string, codec: Codec): void {
    const known = this.#codecs.get(key) ?? [];
    if (known.some(({ label }) => label === codec.label)) return;
    this.#codecs.set(key, [...known, codec]);
    for (const listener of this.#waiting.get(key) ?? []) listener(codec);
  }

  watch(key: string, listener: (codec: Codec) => void): void {
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), listener]);
    for (const codec of this.#codecs.get(key) ?? []) listener(codec);
  }

  /** Returns the labels of a column's codecs in the order of recording. */
  labels(key: string): readonly string[] {
    return (this.#codecs.get(key) ?? []).map(({ label }) => label);
  }
}

/**
 * Returns the values for the first column of a binding, in this order: `none:`, the column's rule, the rules of its
 * kind.
 */
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
  // A code map's row is more specific than a rule for all columns of a kind.
  const rules = sharedRules(first, context).filter(({ text }) => !keys.has(text));
  for (const value of typed(rules, first.column.type, context)) values.add(value);
  if (isDateCodec(codec)) {
    // A value that the codec cannot read is absent anyway. It is listed only if a rule names it literally.
    const written = new Set<string | number>(typed(context.settings.absent.date, first.column.type, context));
    for (const value of datesOf(first.column.type, codec, context))
      if (written.has(value) || codec.decode(value, null, null) !== undefined) values.add(value);
    for (const value of countedDates(first.column.type, codec, context)) values.add(value);
  }
  return [...values];
}

/** Returns the values of the rule that names the column: the only one for lines of a text. */
export function columnAbsent(found: Resolved, context: Context): readonly (string | number)[] {
  return columnRule(found, context);
}

/** Returns the days of the date rules as raw numbers, for a codec that computes on its column first. */
export function absentReads([first]: readonly Resolved[], codec: Codec, context: Context): readonly number[] {
  if (!first || !takesDates(first.column.type) || !codec.readsOf) return [];
  learnDates(first, codec, context);
  return ruledDays(context).flatMap(codec.readsOf);
}

/**
 * Adds a test that is false if the raw value means "no value". `codec`: the date codec that one of the tests reads the
 * column with. Not meant for literals that a condition is equal to, because they are named explicitly.
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
  add([...columnRule(resolved, context), ...typed(sharedRules(resolved, context), type, context)]);
  if (type.kind === 'instant') add(unreadEnds(type));
  const isOpen = table !== undefined && takesDates(type) && context.settings.absent.date.length > 0;
  if (isOpen)
    context.dates.watch(keyOf(resolved), found => {
      add([...datesOf(type, found, context), ...countedDates(type, found, context)]);
    });
  return isOpen || values.length > 0 ? [...tests, { kind: 'none', of: { kind: 'is', column, values } }] : tests;
}

/** False if an ordered comparison already excludes the value. */
function canPass(value: string | number, tests: readonly Condition[]): boolean {
  return tests.every(test => test.kind !== 'order' || !isOrdered(test.column.type) || passes(value, test));
}

/** Kinds of columns that hold dates. */
const TIMES: ReadonlySet<string> = new Set(['date', 'datetime', 'instant']);

/** True if JavaScript compares literals of the type as the engine does. */
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

/** Returns the values that mean "no value" if the column is read without a date codec. */
export function meansNone(resolved: Resolved, context: Context): readonly (string | number)[] {
  const { type } = resolved.column;
  return [...new Set([...columnRule(resolved, context), ...typed(sharedRules(resolved, context), type, context)])];
}

/** True if the rule for this very column says that the literal means "no value". */
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

/** Reports literals that the columns of the rules cannot hold. Unknown columns are reported elsewhere. */
export function checkAbsentColumns({ absent }: MappingSettings, catalog: Catalog, report: Report): void {
  for (const [key, { value }] of absent.columns) {
    const [table = '', name = ''] = key.split('.');
    const info = findTable(catalog, table);
    const column = info && findColumn(info, name);
    if (column?.type) checkAbsent(scalarsOf(value), column.name, column.type, catalog.engine, report);
  }
  for (const { matches, entry } of absent.patterns) {
    const types = [...catalog.tables.values()].flatMap(table =>
      [...table.columns.values()].flatMap(({ name, type }) =>
        type && matches(columnKey(`${table.name}.${name}`)) ? [type] : [],
      ),
    );
    // A pattern that matches no column is reported elsewhere.
    for (const { text, at } of types.length === 0 ? [] : scalarsOf(entry.value)) {
      if (
        types.some(type => HELD.has(type.kind) && readLiteral(text, declaredType(type), catalog.engine) !== undefined)
      )
        continue;
      report.error('wrong-condition', at, `no column of ${entry.key} can have this value`, {
        expected: 'a value of one of its columns, of texts, numbers or dates',
        found: text || 'nothing',
      });
    }
  }
}

/** Reports literals that the column cannot hold, because such a rule has no effect. */
function checkAbsent(
  trees: readonly ScalarTree[],
  column: string,
  type: ColumnType,
  engine: string,
  report: Report,
): void {
  for (const { text, at } of trees) {
    if (readLiteral(text, declaredType(type), engine) !== undefined) continue;
    // A date column may hold such a text. It is no date, so it is absent with or without a rule.
    if (engineNamed(engine).holdsAnything && isTimed(type) && dayOf(text) !== undefined) continue;
    report.error('wrong-condition', at, `literal not of the type of column ${column}`, {
      expected: literalForm(type),
      found: text || 'nothing',
    });
  }
}

/** Types the values of a rule. Drops those that this column cannot hold, because a rule may cover a kind of columns. */
function typed(rules: readonly ScalarTree[], type: ColumnType, { catalog }: Context): readonly (string | number)[] {
  return rules.flatMap(({ text }) => {
    const value = readLiteral(text, type, catalog.engine);
    if (value === undefined) return [];
    // Programs that store offsets mostly write "no date" in UTC: `9999-12-31 00:00:00 +00:00`.
    const inUtc = instantLiteral(text, type);
    return inUtc === undefined || inUtc === value ? [value] : [value, inUtc];
  });
}

/** Returns the rules that the column shares with others: those of its kind, and those whose pattern it matches. */
function sharedRules(resolved: Resolved, context: Context): readonly ScalarTree[] {
  const { column, table } = resolved;
  const own = kindRules(column.type, context);
  const { patterns } = context.settings.absent;
  if (patterns.length === 0 || !table || !HELD.has(column.type.kind)) return own;
  const key = keyOf(resolved);
  return [...own, ...patterns.flatMap(({ matches, entry }) => (matches(key) ? scalarsOf(entry.value) : []))];
}

/** Kinds of columns that a pattern reaches; 0 of a truth value is a value. */
const HELD: ReadonlySet<string> = new Set(['text', 'integer', 'decimal', 'float', 'date', 'datetime', 'instant']);

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

/** True for columns that hold dates only if a codec says so. */
function takesDates({ kind }: ColumnType): boolean {
  return kind === 'text' || kind === 'integer' || kind === 'decimal' || kind === 'float';
}

/** Returns the date rules for a column of another kind: as written, and each day in every form that the codec reads. */
function datesOf(type: ColumnType, codec: Codec, { settings, catalog }: Context): readonly (string | number)[] {
  if (!takesDates(type)) return [];
  return settings.absent.date.flatMap(({ text }) => {
    const day = dayOf(text);
    const forms = day === undefined ? [text] : [text, day, day.replaceAll('-', '')];
    return forms.flatMap(form => {
      const value = readLiteral(form, type, catalog.engine);
      if (value === undefined) return [];
      const read = codec.decode(value, null, null);
      // `17530101` read as seconds since 1970 is another day.
      return day === undefined || typeof read !== 'string' || read.startsWith(day) ? [value] : [];
    });
  });
}

/** Returns the ruled days for a codec that counts from another day or year: 2958465 is 9999-12-31 in Excel. */
function countedDates(type: ColumnType, codec: Codec, context: Context): readonly (string | number)[] {
  if (!takesDates(type) || !codec.rawsOf) return [];
  const raws = ruledDays(context).flatMap(codec.rawsOf);
  return raws.flatMap(raw => readLiteral(String(raw), type, context.catalog.engine) ?? []);
}

/** Returns the date rules that are days, as `2024-03-14`. */
function ruledDays({ settings }: Context): readonly string[] {
  return settings.absent.date.flatMap(({ text }) => dayOf(text) ?? []);
}
