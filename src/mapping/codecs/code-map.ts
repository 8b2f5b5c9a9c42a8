/**
 * Maps raw values to codes of a code system (code maps). In: the raw value of a text, integer or bit column. Out: by
 * facet the code, its system, its display, or the raw text if the map keeps unmapped values as text.
 * The inverse is the preimage: the keys whose rows give the searched code, with blank and unmapped values if these give
 * it. docs/mapping-language.md, codes.yaml
 */
import { getOrInsert, memoized } from '../../common/caches.ts';
import { type ColumnType, isLoose, UNICODE } from '../../sql/column-type.ts';
import { among, and, call, constant, FALSE, filled, isNull, not, or, TRUE, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { fold, spacedWords } from '../../sql/shared-functions.ts';
import type { Criterion } from '../criterion.ts';
import type { Position } from '../model.ts';
import { CODE_ORDER, codeOf, isCode, matchCode, parseAs } from './code.ts';
import { type Codec, only, type Primitive } from './codec.ts';
import { isBelow, matchText, textCodec, trimEnd, upperAscii } from './text.ts';

/** A code with its system and display, if any. */
export interface Coded {
  readonly code: string;
  readonly system?: string;
  readonly display?: string;
}

export type Unmapped =
  | { readonly kind: 'absent' }
  /** Kept as CodeableConcept.text. */
  | { readonly kind: 'text' }
  | { readonly kind: 'code'; readonly coded: Coded }
  /** Kept as a local code of this system. */
  | { readonly kind: 'local'; readonly system: string };

/** A code map with resolved aliases of systems. Rows without a system of their own have the map's. */
export interface CodeMap {
  readonly name: string;
  /** The system of rows without one of their own; set even if the map has no rows yet. */
  readonly system?: string;
  /** By raw value, without trailing blanks. Undefined: the value is known and means none (`absent`). */
  readonly rows: ReadonlyMap<string, Coded | undefined>;
  /** The code of NULL and blank. */
  readonly blank: Coded | undefined;
  readonly else: Unmapped;
  /** Keys are compared without case. Only ASCII letters have case here, and then all keys are ASCII. */
  readonly fold: boolean;
  /** Positions of the rows by raw value. */
  readonly rowsAt?: ReadonlyMap<string, Position>;
}

export type Facet = 'code' | 'system' | 'display' | 'text';

export interface CodeMapOptions {
  readonly map: CodeMap;
  readonly facet: Facet;
  readonly columnType: ColumnType;
  /** For `boolean` the codes `true` and `false` become booleans, and others are absent. */
  readonly boolean: boolean;
  /** The element is text, such as the state of an address, so its codes are also found by their beginning. */
  readonly words?: boolean;
}

/** Makes the codec of one facet of a code map. */
export function codeMapCodec({ map, facet, columnType, boolean, words = false }: CodeMapOptions): Codec {
  const inText = columnType.kind === 'text';
  const keyed = keyedRows(map);

  const faceOf = (coded: Coded | undefined): string | undefined => {
    if (!coded || facet === 'text') return undefined;
    const face = coded[facet];
    return boolean && face !== 'true' && face !== 'false' ? undefined : face;
  };
  const faceOfUnmapped = (raw: string): string | undefined => {
    switch (map.else.kind) {
      case 'absent':
        return undefined;
      case 'text':
        return facet === 'text' ? asText(raw) : undefined;
      case 'code':
        return faceOf(map.else.coded);
      case 'local': {
        const code = codeOf(raw);
        if (code === undefined || boolean || facet === 'text') return undefined;
        return faceOf({ code, system: map.else.system });
      }
    }
  };

  const operand = (column: Expression): Expression => (map.fold && inText ? call('upper', [column], UNICODE) : column);
  /** `as`: `constant` if the mapping alone determines the values, `value` if a request does. */
  const keys = (accept: (coded: Coded | undefined) => boolean, as: typeof constant): readonly Expression[] =>
    [...keyed].flatMap(([key, coded]) => {
      if (!accept(coded)) return [];
      const typed: SqlValue | undefined = inText ? key : parseAs(key, columnType);
      return typed === undefined ? [] : [as(typed, columnType)];
    });
  /**
   * Returns the raw values of all rows, or of those with a face. Uses of the map on columns of one type share the list.
   */
  const shared = (which: 'all' | 'faced'): readonly Expression[] =>
    sharedKeys(keyed, `${which === 'all' ? '' : `${facet} ${boolean}`} ${JSON.stringify(columnType)}`, () =>
      keys(which === 'all' ? () => true : coded => faceOf(coded) !== undefined, constant),
    );
  const isGiven = (column: Expression): Predicate => (inText ? filled(column) : not(isNull(column)));
  const isUnmapped = (column: Expression): Predicate =>
    and(isGiven(column), not(among(operand(column), shared('all'))));

  /**
   * Tests for the raw values whose face is accepted. `unmapped`: tests whether values without a row are. `asked`: what
   * a request asks for; undefined if the mapping alone determines it.
   */
  const preimage = (
    column: Expression,
    accept: (face: string) => boolean,
    unmapped: Predicate,
    asked?: string,
  ): Predicate => {
    const accepted = (coded: Coded | undefined): boolean => {
      const face = faceOf(coded);
      return face !== undefined && accept(face);
    };
    const others = map.else.kind === 'code' ? (accepted(map.else.coded) ? TRUE : FALSE) : unmapped;
    return or(
      among(
        operand(column),
        accept === ANY_FACE
          ? shared('faced')
          : asked === undefined
            ? keys(accepted, constant)
            : matchedKeys(keyed, asked, () => keys(accepted, value)),
      ),
      accepted(map.blank) ? not(isGiven(column)) : FALSE,
      others.kind === 'false' ? FALSE : and(isUnmapped(column), others),
    );
  };

  /** Tests which values satisfy a criterion, given that they are unmapped. */
  const unmappedMatch = (column: Expression, criterion: Criterion): Predicate => {
    if (map.else.kind === 'text' && facet === 'text')
      return matchText(inText ? call('trim', [column], UNICODE) : call('text', [column], UNICODE), criterion) ?? FALSE;
    if (map.else.kind !== 'local' || boolean) return FALSE;
    if (criterion.kind === 'uri-below' && facet === 'system')
      return isBelow(map.else.system, criterion.text) ? isLocal(column) : FALSE;
    if ((criterion.kind === 'string' || criterion.kind === 'uri-below') && facet === 'code') {
      const itself = inText ? column : call('text', [column], UNICODE);
      return and(isLocal(column), matchText(itself, criterion) ?? FALSE);
    }
    if (criterion.kind !== 'exact') return FALSE;
    if (facet === 'system') return criterion.text === map.else.system ? isLocal(column) : FALSE;
    if (facet !== 'code') return FALSE;
    if (inText) return matchCode(column, criterion.text, criterion.anyCase);
    const typed = parseAs(criterion.text, columnType);
    return typed === undefined ? FALSE : among(column, [value(typed, columnType)]);
  };
  const isLocal = (column: Expression): Predicate => (inText ? isCode(column) : TRUE);
  /** Orders by the raw values that give each face; unmapped values that are codes sort by themselves. */
  const sorted = (): Pick<Codec, 'order'> => {
    const faces = facesOf(map, faceOf);
    if (map.else.kind === 'local' && facet === 'system') faces.add(map.else.system);
    const local = map.else.kind === 'local' && facet === 'code' && !boolean;
    if (faces.size > SORTED_AT_MOST || (faces.size === 0 && !local)) return {};
    const by = (column: Expression): Expression => {
      const itself = inText ? column : call('text', [column], UNICODE);
      const of = [...faces].map(face => {
        const unmapped = local ? FALSE : unmappedMatch(column, { kind: 'exact', text: face });
        const when = preimage(column, one => one === face, unmapped);
        return { when, give: constant(face, UNICODE) };
      });
      return of.length === 0 ? itself : { kind: 'choice', of, ...(local ? { otherwise: itself } : {}), type: UNICODE };
    };
    return { order: { ...CODE_ORDER, by: columns => [by(only(columns))] } };
  };

  return {
    label: `code map ${map.name}.${facet}`,
    yields: boolean ? ['boolean'] : yieldsOf(facet),
    columns: 1,
    small: true,
    inverse: (map.fold && inText) || isLoose(columnType) ? 'computed' : 'indexed',
    decode: (raw): Primitive | undefined => {
      const text = raw === null || raw instanceof Uint8Array ? '' : trimEnd(String(raw));
      const key = map.fold ? upperAscii(text) : text;
      const face = text === '' ? faceOf(map.blank) : keyed.has(key) ? faceOf(keyed.get(key)) : faceOfUnmapped(text);
      return boolean && face !== undefined ? face === 'true' : face;
    },
    present: columns => {
      const column = only(columns);
      const unmapped =
        map.else.kind === 'text' && facet === 'text'
          ? inText
            ? filled(call('trim', [column], UNICODE))
            : TRUE
          : map.else.kind === 'local' && !boolean && (facet === 'code' || facet === 'system')
            ? isLocal(column)
            : FALSE;
      return preimage(column, ANY_FACE, unmapped);
    },
    match: (columns, criterion) => {
      const column = only(columns);
      const by = words && facet === 'code' ? 'display' : facet;
      const accept = accepts(criterion, by);
      const asked = JSON.stringify([facet, by, boolean, columnType, criterion]);
      return accept && preimage(column, accept, unmappedMatch(column, criterion), asked);
    },
    ...sorted(),
  };
}

const ANY_FACE = (): boolean => true;

const keysOfRows = memoized((_rows: CodeMap['rows']) => new Map<string, readonly Expression[]>());

function sharedKeys(rows: CodeMap['rows'], name: string, make: () => readonly Expression[]): readonly Expression[] {
  return getOrInsert(keysOfRows(rows), name, make);
}

/** Criteria whose raw values are cached per map, because a search asks all uses of the map for the same. */
const CRITERIA = 4;

const matched = memoized((_rows: CodeMap['rows']) => new Map<string, readonly Expression[]>());

function matchedKeys(rows: CodeMap['rows'], asked: string, make: () => readonly Expression[]): readonly Expression[] {
  const known = matched(rows);
  const before = known.get(asked);
  if (before) return before;
  const made = make();
  const [oldest] = known.keys();
  if (oldest !== undefined && known.size === CRITERIA) known.delete(oldest);
  known.set(asked, made);
  return made;
}

/** Returns the rows by compared key. Uses of a map share them, because a pack may use a large map a thousand times. */
function keyedRows({ rows, fold: isFolded }: CodeMap): CodeMap['rows'] {
  return isFolded ? foldedRows(rows) : rows;
}

const foldedRows = memoized(
  (rows: CodeMap['rows']): CodeMap['rows'] => new Map([...rows].map(([key, coded]) => [upperAscii(key), coded])),
);

/** With more faces a map does not sort: every statement would list all their raw values several times. */
const SORTED_AT_MOST = 64;

/** Returns the faces that a map gives; only some of them if they are too many to sort. */
function facesOf(
  { rows, blank, else: unmapped }: CodeMap,
  faceOf: (coded: Coded | undefined) => string | undefined,
): Set<string> {
  const faces = new Set<string>();
  const add = (coded: Coded | undefined): void => {
    const face = faceOf(coded);
    if (face !== undefined) faces.add(face);
  };
  for (const coded of rows.values()) {
    add(coded);
    if (faces.size > SORTED_AT_MOST) break;
  }
  add(blank);
  if (unmapped.kind === 'code') add(unmapped.coded);
  return faces;
}

/** Returns a criterion's test on a face; undefined for criteria that a facet does not support. */
function accepts(criterion: Criterion, facet: Facet): ((face: string) => boolean) | undefined {
  if (criterion.kind === 'exact') {
    const wanted = upperAscii(criterion.text);
    return criterion.anyCase ? face => upperAscii(face) === wanted : face => face === criterion.text;
  }
  if (criterion.kind === 'uri-below') return face => isBelow(face, criterion.text);
  if (criterion.kind !== 'string' || facet === 'code' || facet === 'system') return undefined;
  const wanted = fold(criterion.text);
  switch (criterion.mode) {
    case 'exact':
      return face => face === criterion.text;
    case 'starts':
      return face => fold(face).startsWith(wanted);
    case 'contains':
      return face => fold(face).includes(wanted);
    case 'word':
      return face => spacedWords(face).includes(` ${criterion.text}`);
  }
}

function yieldsOf(facet: Facet): readonly string[] {
  if (facet === 'system') return ['uri', 'canonical', 'url'];
  return facet === 'code' ? ['code', 'string', 'id', 'uri', 'url', 'canonical'] : ['string', 'markdown'];
}

/** Returns the text of an unmapped value as the text codec gives it. */
function asText(raw: string): string | undefined {
  const text = TEXT.decode(raw);
  return typeof text === 'string' ? text : undefined;
}

const TEXT = textCodec();
