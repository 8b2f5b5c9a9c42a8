/**
 * Reads `via:`: text steps and then a codec or code map. In: the node as written, the columns' types and the possible
 * FHIR types. Out: the codec. Reports what does not fit.
 */
import type { ColumnType } from '../../../sql/column-type.ts';
import { nameOfType } from '../../../sql/column-type.ts';
import type { Facet } from '../../codecs/code-map.ts';
import type { Codec } from '../../codecs/codec.ts';
import type { CodecContext, MadeCodec } from '../../codecs/entry.ts';
import {
  afterSteps,
  CODE_MAP_FACETS,
  CODECS,
  codeMapFacet,
  defaultCodec,
  NOTES,
  noteAsFile,
  TEXT_STEPS,
} from '../../codecs/table.ts';
import type { TextStep } from '../../codecs/text-step.ts';
import type { Position } from '../../model.ts';
import type { LoadedCodeMap } from '../codes/codes.ts';
import type { PackContext } from '../pack/context.ts';
import { checkShape } from '../read/shape.ts';
import { type Entry, itemsOf, nodeAt, plain, type Tree } from '../read/tree.ts';
import type { Slot } from './slot.ts';

/** A code map with the facet written after its name. */
export interface NamedCodeMap {
  readonly map: LoadedCodeMap;
  readonly facet: Facet | undefined;
  readonly steps: readonly TextStep[];
  readonly at: Position;
}

/** Returns the FHIR types that a place accepts. A part of a text accepts any primitive that a codec gives. */
export function typesOf(slot: Slot): readonly string[] {
  const isPartOfText = slot.element === undefined && slot.parent !== '';
  return isPartOfText
    ? ['string', 'markdown', 'code', 'uri', 'decimal', 'dateTime', 'date', 'time', 'boolean']
    : [slot.type];
}

/** Returns the code map that a `via` names, if any. */
export function codeMapIn({ steps, last }: ParsedVia, at: Position): NamedCodeMap | undefined {
  return last && 'map' in last ? { map: last.map, facet: last.facet, steps, at } : undefined;
}

/** Returns the codec for columns under an element of one of several types. Without `via`, the types determine it. */
export function readCodec(
  via: Tree | undefined,
  columnTypes: readonly ColumnType[],
  fhirTypes: readonly string[],
  at: Position,
  context: PackContext,
): Codec | undefined {
  if (!via) return readDefault(columnTypes, fhirTypes, at, context);
  const parsed = parseVia(via, context);
  if (!parsed) return undefined;
  const { steps, last } = parsed;
  const label = last ? last.name : 'text';
  return firstMade(columnTypes, fhirTypes, last?.options ?? via, label, context, codecContext =>
    afterSteps(steps, codecContext, inner => {
      if (!last) return CODECS['text']?.make(undefined, undefined, inner) ?? { problem: 'no codec' };
      if (!('map' in last)) {
        if (last.isFile) return noteAsFile(last.name, inner);
        return CODECS[last.name]?.make(optionsOf(last.options), last.facet, inner) ?? { problem: 'no codec' };
      }
      if (last.map.kind === 'table') return { problem: 'a code map in a table cannot be used here' };
      return codeMapFacet(last.map.map, last.facet ?? 'code', inner);
    }),
  );
}

/** Returns a facet of a code map for an element of some type. */
export function readFacet(
  named: NamedCodeMap,
  facet: Facet,
  columnType: ColumnType,
  fhirType: string,
  context: PackContext,
): Codec | undefined {
  const { map, steps, at } = named;
  if (map.kind === 'table') return undefined;
  const place = { kind: 'scalar' as const, text: map.name, at };
  return firstMade([columnType], [fhirType], place, `code map ${map.name}`, context, codecContext =>
    afterSteps(steps, codecContext, inner => codeMapFacet(map.map, facet, inner)),
  );
}

function readDefault(
  columnTypes: readonly ColumnType[],
  fhirTypes: readonly string[],
  at: Position,
  context: PackContext,
): Codec | undefined {
  const { zone } = context.settings;
  const [type] = columnTypes;
  for (const fhirType of columnTypes.length === 1 && type ? fhirTypes : []) {
    const codec = type && defaultCodec(type, fhirType, { zone });
    if (codec) return codec;
  }
  context.report.error('wrong-codec', at, 'no default codec for the types of column and element', {
    expected:
      type?.kind === 'date' && fhirTypes.includes('instant')
        ? '`via: {date: {at: "00:00"}}`, which sets the time of day that a DATE column lacks'
        : (fitting(columnTypes, fhirTypes, zone) ?? '`via:`'),
    found: `${columnTypes.map(nameOfType).join(', ')} for ${fhirTypes[0] ?? ''}`,
  });
  return undefined;
}

/** Returns the codec of the first FHIR type that allows one. Otherwise reports the problem of the first type. */
function firstMade(
  columnTypes: readonly ColumnType[],
  fhirTypes: readonly string[],
  written: Tree,
  label: string,
  context: PackContext,
  make: (context: CodecContext) => MadeCodec,
): Codec | undefined {
  const { zone } = context.settings;
  const tried = fhirTypes.map(fhirType => make({ zone, fhirType, columnTypes }));
  for (const made of tried) if ('codec' in made) return made.codec;
  const [problem] = tried;
  if (problem && 'problem' in problem) {
    const message = problem.problem.startsWith(label) ? problem.problem : `${label}: ${problem.problem}`;
    const expected = problem.expected ?? fitting(columnTypes, fhirTypes, zone);
    context.report.error(
      'wrong-codec',
      nodeAt(written, problem.path ?? []).at,
      message,
      expected === undefined ? {} : { expected },
    );
  }
  return undefined;
}

/**
 * Describes the codecs that turn such columns into one of these types, for a message; undefined if there are none.
 * Options and steps are examples.
 */
function fitting(columnTypes: readonly ColumnType[], fhirTypes: readonly string[], zone: string): string | undefined {
  const fits = (name: string, options?: unknown): boolean =>
    fhirTypes.some(fhirType => {
      const made = CODECS[name]?.make(options, undefined, { zone, fhirType, columnTypes });
      return made !== undefined && 'codec' in made;
    });
  const [type, ...others] = columnTypes;
  const isText = type?.kind === 'text' && others.length === 0;
  const names = Object.keys(CODECS).filter(name => fits(name));
  const several = names.length > 1 ? 'one of ' : '';
  const ways = names.length === 0 ? [] : [`\`via:\` ${several}${names.join(', ')}`];
  const daily = Object.keys(CODECS).filter(name => !names.includes(name) && fits(name, { at: '00:00' }));
  const [first, ...more] = daily;
  if (first !== undefined)
    ways.push(
      `\`via: { ${first}: { at: "00:00" } }\`${more.length > 0 ? ` (or ${more.join(', ')})` : ''} where a row has no time`,
    );
  if (isText && names.includes('ymd8')) ways.push('`via: [{ written: YYYY-MM-DD }, ymd8]` for dates with separators');
  if (isText && names.includes('ymd14'))
    ways.push('`via: [{ written: DD/MM/YYYY HH:mm }, ymd14]` for dates with times');
  if (!isText && fits('days', { since: '1899-12-30' }))
    ways.push('`via: { days: { since: 1899-12-30 } }` for days that count from one');
  if (!names.includes('boolean') && fits('boolean', { true: 'Y', false: 'N' }))
    ways.push('`via: { boolean: { true: Y, false: N } }` with the values of the column');
  if (ways.length > 0) return ways.join(', or ');
  return type?.kind === 'binary' && fhirTypes.includes('instant') ? TIME_NOT_BYTES : undefined;
}

/** What `changed` requires, for SQL Server's ROWVERSION columns. */
export const TIME_NOT_BYTES =
  'a column of times; bytes such as a ROWVERSION count changes and hold no time; without a time omit `changed`';

type Last =
  | {
      readonly name: string;
      readonly map: LoadedCodeMap;
      readonly facet: Facet | undefined;
      readonly options: undefined;
    }
  | {
      readonly name: string;
      readonly facet: string | undefined;
      readonly options: Tree | undefined;
      /** `base64` follows the codec of a note. */
      readonly isFile?: true;
    };

export interface ParsedVia {
  readonly steps: readonly TextStep[];
  readonly last: Last | undefined;
}

/** Parses the steps and the codec of a `via`. Reports unknown names and returns undefined. */
export function parseVia(via: Tree, context: PackContext): ParsedVia | undefined {
  const items = itemsOf(via).flatMap(item => namesIn(item, context));
  const steps: TextStep[] = [];
  for (const [i, item] of items.entries()) {
    const entry = Object.hasOwn(TEXT_STEPS, item.key) ? TEXT_STEPS[item.key] : undefined;
    if (!entry) {
      const further = items[i + 1];
      const isFile = NOTES.includes(item.key) && further?.key === 'base64' && i + 2 === items.length;
      if (further && !isFile)
        context.report.error('wrong-codec', further.at, 'text steps must come before the codec', {
          found: further.key,
        });
      const last = parseLast(item, context);
      return last && { steps, last: isFile && !('map' in last) ? { ...last, isFile } : last };
    }
    if (item.value && !checkShape(item.value, entry.options, context.report)) return undefined;
    const made = entry.make(optionsOf(item.value));
    if ('step' in made) steps.push(made.step);
    else {
      context.report.error(
        'wrong-codec',
        nodeAt(item.value ?? via, made.path ?? []).at,
        `${item.key}: ${made.problem}`,
      );
      return undefined;
    }
  }
  return items.length > 0 ? { steps, last: undefined } : undefined;
}

interface Named {
  readonly key: string;
  readonly value: Tree | undefined;
  readonly at: Position;
}

function namesIn(item: Tree, context: PackContext): readonly Named[] {
  if (item.kind === 'scalar') return [{ key: item.text, value: undefined, at: item.at }];
  if (item.kind === 'map' && item.entries.length === 1) return item.entries.map((e: Entry) => e);
  context.report.error('wrong-codec', item.at, 'not a codec', { expected: 'a name, or {name: options}' });
  return [];
}

function parseLast(item: Named, context: PackContext): Last | undefined {
  const { codeMaps, report } = context;
  const dot = item.key.lastIndexOf('.');
  const isWhole = dot < 0 || codeMaps.has(item.key);
  const name = isWhole ? item.key : item.key.slice(0, dot);
  const facet = isWhole ? undefined : item.key.slice(dot + 1);
  const codec = Object.hasOwn(CODECS, name) ? CODECS[name] : undefined;
  if (codec) {
    const fits = !item.value || checkShape(item.value, codec.options, report);
    return fits ? { name, facet, options: item.value } : undefined;
  }
  const map = codeMaps.get(name);
  if (!map && context.brokenCodeMaps.has(name)) return undefined;
  if (!map) {
    const among = [...Object.keys(CODECS), ...Object.keys(TEXT_STEPS), ...codeMaps.keys()];
    report.error('unknown-name', item.at, 'unknown codec or code map', { found: name, among });
    return undefined;
  }
  context.usedCodeMaps.add(name);
  const known = CODE_MAP_FACETS.find(f => f === facet);
  if (facet !== undefined && !known) {
    report.error('unknown-name', item.at, `unknown facet of code map ${name}`, {
      found: facet,
      among: CODE_MAP_FACETS,
    });
    return undefined;
  }
  if (item.value) report.error('wrong-codec', item.value.at, `code map ${name} takes no options`);
  return { name, map, facet: known, options: undefined };
}

function optionsOf(tree: Tree | undefined): unknown {
  return tree && plain(tree);
}
