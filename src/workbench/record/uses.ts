/**
 * Collects what a pack knows about the values of its columns, to invent replacements. In: a registry. Out: for each
 * column the texts that stay (codes, sentinels, constants of conditions), the codecs that read it as a date, and how it
 * is split. Columns that are compared with each other share this, so that equal values stay equal.
 */
import { getOrInsert } from '../../common/caches.ts';
import { eachColumn, type Reader } from '../../law/columns.ts';
import type { Codec } from '../../mapping/codecs/codec.ts';
import { upperAscii } from '../../mapping/codecs/text.ts';
import { codeMapOf } from '../../mapping/load/codes/origin.ts';
import type { Condition, Pieces, Registry } from '../../mapping/model.ts';
import type { ColumnType } from '../../sql/column-type.ts';
import { type TableName, tableKey } from '../../sql/identifier.ts';

export interface DateUse {
  readonly codec: Codec;
  readonly type: ColumnType;
}

export interface ColumnUses {
  /** Whole values that stay, in the form of `keptForm`. */
  readonly kept: Set<string>;
  /** Codes that stay within a value, in the same form. */
  readonly codes: Set<string>;
  readonly dates: DateUse[];
  /** Patterns of conditions, and prefixes of text steps: the beginning and end that they require stay. */
  readonly patterns: Set<string>;
  /** True if its values join rows. */
  isJoined: boolean;
  isTimeOfDay: boolean;
  /** Position among three columns that make a date; undefined otherwise. */
  dayPart: number | undefined;
  /** True if the values are HTML, so that tags stay. */
  isHtml: boolean;
  /** True for a code of a code map in a table. */
  isTableCode: boolean;
  pieces: Pieces | undefined;
}

/** Normalizes a text: ignores case and surrounding blanks. */
export function keptForm(text: string): string {
  return upperAscii(text.trim());
}

/** Returns the uses of a column. */
export type UsesOf = (table: TableName, column: string) => ColumnUses;

interface PackUses {
  readonly usesOf: UsesOf;
  /** Tables of code maps, by `tableKey`. */
  readonly codeTables: ReadonlySet<string>;
}

export function usesIn(registry: Registry): PackUses {
  const classes = new Map<string, ColumnUses>();
  const names = (table: TableName, column: string): string => `${tableKey(table)} ${column.toLowerCase()}`;
  const of = (name: string): ColumnUses => {
    return getOrInsert(classes, name, () => nothingKnown());
  };
  const compared = new Map<Reader, string>();
  const yieldCode = new Set<string>();
  const codeTables = new Set<string>();
  eachColumn(registry, (table, column, { by, ofCodeMap }) => {
    const name = names(table, column.column);
    const uses = of(name);
    if (by === undefined) return;
    if (!('kind' in by)) {
      uses.isJoined = true;
      if (ofCodeMap) uses.isTableCode = true;
      if (ofCodeMap && by.theirs === column) codeTables.add(tableKey(table));
    }
    if (!('kind' in by) || by.kind === 'same' || by.kind === 'ordered') {
      const other = compared.get(by);
      if (other === undefined) compared.set(by, name);
      else unite(classes, of(other), of(name));
    }
    if ('kind' in by) learn(of(name), by, column.type, registry, by.kind === 'value' ? by.from.indexOf(column) : -1);
    if ('kind' in by && by.kind === 'value' && by.codec.yields.includes('code')) yieldCode.add(name);
  });
  for (const name of yieldCode) {
    if (codeTables.has(name.slice(0, name.indexOf(' ')))) of(name).isTableCode = true;
  }
  return { usesOf: (table, column) => classes.get(names(table, column)) ?? nothingKnown(), codeTables };
}

function nothingKnown(): ColumnUses {
  return {
    ...{ kept: new Set(), codes: new Set(), dates: [], patterns: new Set() },
    ...{ isJoined: false, isTimeOfDay: false, dayPart: undefined, isHtml: false },
    ...{ isTableCode: false, pieces: undefined },
  };
}

/** Merges the uses of two columns that are compared. */
function unite(classes: Map<string, ColumnUses>, a: ColumnUses, b: ColumnUses): void {
  if (a === b) return;
  for (const text of b.kept) a.kept.add(text);
  for (const code of b.codes) a.codes.add(code);
  for (const pattern of b.patterns) a.patterns.add(pattern);
  a.dates.push(...b.dates);
  a.isJoined ||= b.isJoined;
  a.isTimeOfDay ||= b.isTimeOfDay;
  a.dayPart ??= b.dayPart;
  a.isHtml ||= b.isHtml;
  a.isTableCode ||= b.isTableCode;
  a.pieces ??= b.pieces;
  for (const [name, one] of classes) if (one === b) classes.set(name, a);
}

const DATES = ['date', 'dateTime', 'instant'];

function learn(
  uses: ColumnUses,
  by: Exclude<Reader, { readonly theirs: unknown }>,
  type: ColumnType,
  registry: Registry,
  place: number,
): void {
  const keep = (texts: Iterable<string | number>): void => {
    for (const text of texts) uses.kept.add(keptForm(String(text)));
  };
  if (by.kind === 'raw') {
    const written = by.parts.filter(part => typeof part === 'string').join(' ');
    keep([...written.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text.replaceAll("''", "'")));
    return;
  }
  if (by.kind === 'pieces') {
    uses.pieces = by;
    return;
  }
  if (by.kind !== 'value') {
    keep(constantsOf(by));
    if (by.kind === 'matches') uses.patterns.add(by.pattern);
    if (by.kind === 'now' && by.codec.columns === 1) uses.dates.push({ codec: by.codec, type });
    return;
  }
  const { codec, absent } = by;
  keep(absent);
  keep([...(codec.options?.true ?? []), ...(codec.options?.false ?? [])]);
  const [step] = codec.options?.steps ?? [];
  if (step?.step === 'prefix') for (const prefix of step.prefixes) uses.patterns.add(`${prefix}*`);
  if (/\bx?html\b/.test(codec.label)) uses.isHtml = true;
  const origin = codeMapOf(codec);
  const map = origin && registry.codeMaps.find(({ name }) => name === origin.name);
  if (map) {
    keep(map.rows.keys());
    if (!origin.isWhole) for (const key of map.rows.keys()) uses.codes.add(keptForm(key));
  }
  if (!codec.yields.some(one => DATES.includes(one))) return;
  if (codec.columns === 3) uses.dayPart = place;
  else if (place > 0) uses.isTimeOfDay = true;
  else if (place === 0 && codec.reads === undefined) uses.dates.push({ codec, type });
}

function constantsOf(condition: Condition): readonly (string | number)[] {
  if (condition.kind === 'is') return condition.values;
  return condition.kind === 'order' ? [condition.value] : [];
}
