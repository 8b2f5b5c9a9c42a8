/**
 * Reads a Coding or CodeableConcept that is bound to a code map, with code, system and display. In: the map and the
 * column. Out: the object. Codes outside a required binding are reported.
 */
import { memoized } from '../../../common/caches.ts';
import { isPrimitive } from '../../../r4/definitions.ts';
import { TRUE } from '../../../sql/construct.ts';
import type { Expression, Predicate } from '../../../sql/expression.ts';
import type { Coded, CodeMap, Facet } from '../../codecs/code-map.ts';
import type { Clock } from '../../criterion.ts';
import type { Member, Node, ObjectNode, ValueNode } from '../../model.ts';
import { isCodeMapTotal } from '../nodes/binding-value.ts';
import { allowedCodes, isInside } from '../nodes/constant.ts';
import type { Slot } from '../nodes/slot.ts';
import { type NamedCodeMap, readFacet, typesOf } from '../nodes/via.ts';
import type { Context } from '../pack/context.ts';
import { placeText, visible } from '../problem.ts';
import type { MapTree, ScalarTree } from '../read/tree.ts';
import { absentValues } from '../rows/absent-values.ts';
import type { Resolved } from '../rows/columns.ts';
import type { RowsCodeMap, TableCodeMap } from './codes.ts';
import { elseInWords, rememberCodec } from './origin.ts';

/** A column that is bound to a code map, and the place of its code. */
export interface CodeBinding<M extends RowsCodeMap | TableCodeMap> {
  readonly named: NamedCodeMap;
  readonly map: M;
  readonly column: Resolved;
  readonly none: readonly ScalarTree[];
  readonly tree: MapTree;
  readonly slot: Slot;
  readonly context: Context;
}

/** Returns all codes that a map can give. */
export function codesOf(map: CodeMap): readonly Coded[] {
  const rows = [...map.rows.values(), map.blank, map.else.kind === 'code' ? map.else.coded : undefined];
  return rows.filter(coded => coded !== undefined);
}

/** Reports codes of the map that the required binding of the place does not contain. */
export function checkBinding(
  loaded: RowsCodeMap,
  at: MapTree,
  slot: Slot,
  withSystem: boolean,
  context: Context,
): void {
  const { bound } = slot;
  if (!bound) return;
  const { map, rowsAt, name } = loaded;
  const made = [
    ...[...map.rows].map(
      ([raw, coded]) => [coded, `row ${visible(raw)} (${placeText(rowsAt.get(raw) ?? loaded.at)})`] as const,
    ),
    [map.blank, '`blank`'] as const,
    [map.else.kind === 'code' ? map.else.coded : undefined, '`else`'] as const,
  ];
  for (const [coded, by] of made) {
    if (!coded) continue;
    const { code, system } = coded;
    if (isInside(bound, code, withSystem ? system : undefined)) continue;
    const outside = `code map ${name} gives a code outside the required binding of ${slot.path} by ${by}`;
    context.report.error('required-binding', at.at, outside, {
      found: withSystem && system !== undefined ? `${system}#${code}` : code,
      ...allowedCodes(bound),
    });
  }
}

/**
 * Makes the node: a primitive gets one facet of the code map (by default the code), a Coding or CodeableConcept all.
 */
export function codedNode(binding: CodeBinding<RowsCodeMap>): Node | undefined {
  const { named, map, tree, slot, context } = binding;
  if (!isPrimitive(slot.type)) return conceptOf(binding);
  const facet = named.facet ?? 'code';
  if (facet === 'code') checkBinding(map, tree, slot, false, context);
  return facetNode(binding, facet, typesOf(slot)[0] ?? slot.type);
}

function conceptOf(binding: CodeBinding<RowsCodeMap>): Node | undefined {
  const { named, map: loaded, tree, slot, context } = binding;
  const { report } = context;
  const { at } = tree;
  if (slot.type !== 'Coding' && slot.type !== 'CodeableConcept') {
    report.error('wrong-codec', at, `${slot.path} is a ${slot.type} and takes no code map`, {
      expected: 'a map of elements',
    });
    return undefined;
  }
  if (named.facet) {
    report.error('wrong-codec', named.at, `${slot.path} is a ${slot.type} and takes all of a code map`, {
      expected: loaded.name,
    });
  }
  checkBinding(loaded, tree, slot, true, context);
  const { map } = loaded;
  const codes = codesOf(map);
  const systems = new Set(codes.map(coded => coded.system));
  if (map.else.kind === 'local') systems.add(map.else.system);
  if (systems.has(undefined)) {
    report.error(
      'wrong-codec',
      at,
      `code map ${loaded.name} has codes without a system, so it cannot make a ${slot.type}`,
      {
        expected: '`system:` in the code map',
      },
    );
  }
  const [system] = systems;
  const face = (facet: Facet, type: string): Node | undefined => facetNode(binding, facet, type);
  const members = membersOf({
    system:
      systems.size > 1 || system === undefined
        ? face('system', 'uri')
        : { kind: 'constant', json: system, type: 'uri', at },
    code: face('code', 'code'),
    display: codes.some(coded => coded.display !== undefined) ? face('display', 'string') : undefined,
  });
  const coding: ObjectNode = { kind: 'object', members, needs: ['code'], type: 'Coding', at };
  if (slot.type === 'Coding') return coding;
  const concept = membersOf({
    coding: { kind: 'list', items: [coding], type: 'Coding', at },
    text: map.else.kind === 'text' ? face('text', 'string') : undefined,
  });
  return { kind: 'object', members: concept, needs: [], type: 'CodeableConcept', at };
}

/** Makes members of the nodes that are defined. */
export function membersOf(nodes: Readonly<Record<string, Node | undefined>>): readonly Member[] {
  return Object.entries(nodes).flatMap(([name, node]): readonly Member[] =>
    node ? [{ kind: 'element', name, node }] : [],
  );
}

function facetNode(binding: CodeBinding<RowsCodeMap>, facet: Facet, type: string): Node | undefined {
  const { named, map: loaded, column, none, tree, context } = binding;
  const { map } = loaded;
  const codec = readFacet(named, facet, column.column.type, type, context);
  if (!codec) return undefined;
  // A row of the map is a decision about its raw value, so a rule of the pack for all columns does not override it.
  const absent = absentValues([column], codec, none, context, sharedOf(map.rows).raw);
  const node: ValueNode = { kind: 'value', from: [column.column], codec, absent, type, at: tree.at };
  const isPlain = named.steps.length === 0 && type !== 'boolean' && absent.length === 0;
  rememberCodec(codec, {
    name: loaded.name,
    isWhole: named.steps.length === 0,
    known: knownTo(binding),
    ownElse: elseInWords(map.else),
  });
  if (isPlain && isCodeMapTotal(map, facet, column.column.type, column.certain)) context.certain.add(node);
  return node;
}

/** Tests a column through a map in which every row has a code, so that the text steps before the map apply too. */
function knownTo({ named, map: loaded, column, context }: CodeBinding<RowsCodeMap>): (of: Expression) => Predicate {
  const { map } = loaded;
  if (map.else.kind === 'code' || loaded.isComplete) return () => TRUE;
  const probe: RowsCodeMap = {
    ...loaded,
    map: { ...map, rows: sharedOf(map.rows).probes, blank: PROBE, else: { kind: 'absent' } },
  };
  const codec = readFacet({ ...named, map: probe }, 'code', column.column.type, 'code', context);
  return of => codec?.present([of], NO_CLOCK) ?? TRUE;
}

const PROBE: Coded = { code: 'known' };

interface OfRows {
  readonly raw: ReadonlySet<string>;
  /** The rows of a map in which each gives a code. */
  readonly probes: CodeMap['rows'];
}

/** Cache of what all uses of a map share. */
const sharedOf = memoized((rows: CodeMap['rows']): OfRows => {
  const keys = [...rows.keys()];
  return { raw: new Set(keys), probes: new Map(keys.map(key => [key, PROBE])) };
});

/** Code maps do not depend on the time. */
const NO_CLOCK: Clock = { now: 0 };
