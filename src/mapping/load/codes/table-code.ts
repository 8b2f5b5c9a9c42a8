/**
 * Reads code maps in a table. In: the map and the column with the raw value. Out: lookups into the table, added to the
 * rows of the column, and nodes over their columns: the first matching key, then `blank:`, then `else:`.
 */
import { memoized } from '../../../common/caches.ts';
import { isPrimitive } from '../../../r4/definitions.ts';
import type { Coded, Facet } from '../../codecs/code-map.ts';
import type { ChildRows, Condition, JoinColumn, Json, Lookup, Node, Scope } from '../../model.ts';
import { valueNode } from '../nodes/binding-value.ts';
import { piecesJoined } from '../nodes/each.ts';
import { makeFirst } from '../nodes/first.ts';
import type { Slot } from '../nodes/slot.ts';
import { readCodec } from '../nodes/via.ts';
import type { Context } from '../pack/context.ts';
import { type MapTree, map as mapTree, type ScalarTree } from '../read/tree.ts';
import { type NamedRows, type Resolved, resolveColumn, type Visible } from '../rows/columns.ts';
import { readPick } from '../rows/join.ts';
import { folded, readTable } from '../rows/scope.ts';
import { type CodeBinding, codedNode, membersOf } from './coded.ts';
import type { RowsCodeMap, TableCodeMap } from './codes.ts';
import { rememberLookup, rememberRows } from './origin.ts';

/** One alternative: nodes by facet (facets may be missing), or a fixed code under a condition. */
type Faces = { readonly [F in Facet]?: Node } | { readonly fixed: Coded; readonly when: Condition };

type TableBinding = CodeBinding<TableCodeMap>;

/** Makes the node for a column bound to a code map in a table. */
export function tableCodeOf(binding: TableBinding, visible: Visible): Node | undefined {
  const { named, map, column, tree, slot, context } = binding;
  const { facet, steps } = named;
  const owner = ownerOf(column, visible);
  if (steps.length > 0 && column.column.type.kind !== 'text') {
    context.report.error('wrong-codec', tree.at, `code map ${map.name}: text steps take one text column`);
    return undefined;
  }
  if (!owner) return codeOfPiece(binding, visible);
  const found = joinTables(binding, owner).flatMap(rows => facesOfRow(binding, rows) ?? []);
  const rest = steps.length > 0 ? [] : facesOfRest(binding);
  const nodes = [
    ...[...found, ...rest].flatMap(faces => nodeOf(faces, facet ?? 'code', tree, slot) ?? []),
    ...(steps.length > 0 ? restAfterSteps(binding) : []),
  ];
  const [only] = nodes;
  if (!only) return undefined;
  return nodes.length === 1 ? only : makeFirst(nodes, slot, tree, context);
}

/**
 * Makes the concept of a piece: per key of the map a coding from the row joined on the piece, then `blank` and `else`.
 * A lookup is not possible, because one row of the resource has many pieces.
 */
function codeOfPiece(binding: TableBinding, visible: Visible): Node | undefined {
  const { named, map, tree, slot, context } = binding;
  const { at } = tree;
  if (slot.type !== 'CodeableConcept' || named.facet || map.pick) {
    context.report.error(
      'wrong-codec',
      at,
      `code map ${map.name} is in a table: of a piece it makes a whole CodeableConcept`,
      {
        expected: map.pick ? 'a `where` that leaves one row, in place of `pick`' : 'a CodeableConcept and no facet',
        found: named.facet ? `${map.name}.${named.facet}` : slot.type,
      },
    );
    return undefined;
  }
  const concepts = map.key.flatMap((key): readonly Node[] => {
    const opened = openTable(map, [], context);
    const theirs = opened && resolveColumn(key.text, key.at, opened.inner, context);
    if (!opened || !theirs) return [];
    const { own, inner } = opened;
    const where = context.readCondition(map.where, inner, context);
    const on = [pairOf(binding, theirs, key)];
    const of = piecesJoined(on, visible, at, context);
    const faces = facesOfRow(binding, own);
    const item = faces && nodeOf(faces, 'code', tree, typed(slot, 'Coding'));
    if (!of || !item) return [];
    const scope: Scope = { table: own.table, alias: own.alias, where, lookups: [] };
    const from: ChildRows = { kind: 'rows', scope, on, order: [], of, single: true };
    if (map.else.kind !== 'code') rememberRows(from, map.name);
    const coding: Node = {
      kind: 'list',
      items: [{ kind: 'each', from, item, type: 'Coding', at }],
      type: 'Coding',
      at,
    };
    return [{ kind: 'object', members: membersOf({ coding }), needs: [], type: 'CodeableConcept', at }];
  });
  const nodes = [...concepts, ...restAfterSteps(binding)];
  const [only] = nodes;
  return nodes.length > 1 ? makeFirst(nodes, slot, tree, context) : only;
}

/** Returns the rows that own a column, which get its lookups. Undefined for a piece. */
function ownerOf(column: Resolved, visible: Visible): Visible | undefined {
  for (let at: Visible | undefined = visible; at; at = at.outer) {
    for (const named of at.named.values()) {
      if (named.alias === column.column.alias) return named.kind === 'rows' ? at : undefined;
    }
  }
  return undefined;
}

/** Cache of lookups, by their list of lookups, then by map, column and text steps. */
const joined = memoized((_lookups: Lookup[]) => new Map<string, readonly NamedRows[]>());

/** Adds one lookup per key of the map, once per column. */
function joinTables(binding: TableBinding, owner: Visible): readonly NamedRows[] {
  const { named, map, column, context } = binding;
  const made = joined(owner.lookups);
  const through = named.steps.map(step => step.label).join();
  const name = `${map.name}|${column.column.alias}.${column.column.column}|${through}`;
  const before = made.get(name);
  if (before) return before;
  const rows = map.key.flatMap((key): readonly NamedRows[] => {
    const opened = openTable(map, owner.lookups, context);
    if (!opened) return [];
    const { own, inner } = opened;
    const theirs = resolveColumn(key.text, key.at, inner, context);
    const where = context.readCondition(map.where, inner, context);
    if (!theirs) return [];
    const lookup: Lookup = {
      table: own.table,
      alias: own.alias,
      on: [pairOf(binding, theirs, key)],
      where,
      required: false,
      pick: readPick(map.pick, inner, context),
      at: map.at,
    };
    if (map.else.kind !== 'code') rememberLookup(lookup, map.name, map.else);
    owner.lookups.push(lookup);
    return [own];
  });
  made.set(name, rows);
  return rows;
}

/** Opens the table of a map under a new alias. */
function openTable(
  map: TableCodeMap,
  lookups: Lookup[],
  context: Context,
): { readonly own: NamedRows; readonly inner: Visible } | undefined {
  const alias = map.name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  const own = readTable(mapTree({ table: map.table }, map.table.at), { key: alias, at: map.at }, false, context);
  return own && { own, inner: { own, named: new Map([[own.name.toLowerCase(), own]]), outer: undefined, lookups } };
}

/** Pairs a key of the map with the column that is looked up by it. */
function pairOf({ named, map, column, tree, context }: TableBinding, theirs: Resolved, key: ScalarTree): JoinColumn {
  const { steps } = named;
  const pair: JoinColumn = {
    theirs: theirs.column,
    ours: column.column,
    ...(steps.length > 0 ? { steps } : {}),
  };
  if (!map.fold) return pair;
  const textual = folded(pair);
  if (!textual.fold) {
    context.report.error('wrong-codec', tree.at, `code map ${map.name}: \`fold\` is for texts`, {
      expected: 'a text column and a key of text',
      found: `${key.text}: ${column.column.column}`,
    });
  }
  return textual;
}

function facesOfRow({ map, tree, slot, context }: TableBinding, own: NamedRows): Faces | undefined {
  const visible: Visible = { own, named: new Map([[own.name.toLowerCase(), own]]), outer: undefined, lookups: [] };
  const node = (written: ScalarTree | undefined, type: string): Node | undefined => {
    const resolved = written && resolveColumn(written.text, written.at, visible, context);
    const place = typed(slot, type);
    const codec = resolved && readCodec(undefined, [resolved.column.type], [type], written.at, context);
    return codec && valueNode([resolved], codec, [], tree, place, context);
  };
  const code = node(map.code, 'code');
  if (!code) return undefined;
  const display = node(map.display, 'string');
  const { system } = map;
  const systemNode =
    system === undefined
      ? undefined
      : 'constant' in system
        ? constant(system.constant, 'uri', tree)
        : context.readNode(system.binding, typed(slot, 'uri'), visible, context);
  return { code, ...(display ? { display } : {}), ...(systemNode ? { system: systemNode } : {}) };
}

/** Returns alternatives for NULL, blank and unmapped values. */
function facesOfRest({ map, column, none, tree, slot, context }: TableBinding): readonly Faces[] {
  const filled: Condition = { kind: 'present', column: column.column };
  const faces: Faces[] = [];
  if (map.blank) faces.push({ fixed: map.blank, when: { kind: 'none', of: filled } });
  const raw = (type: string): Node | undefined => {
    const place = typed(slot, type);
    const codec = readCodec(undefined, [column.column.type], [type], tree.at, context);
    return codec && valueNode([column], codec, none, tree, place, context);
  };
  if (map.else.kind === 'code') faces.push({ fixed: map.else.coded, when: filled });
  else if (map.else.kind === 'text') {
    const text = raw('string');
    if (text) faces.push({ text });
  } else if (map.else.kind === 'local') {
    const code = raw('code');
    if (code) faces.push({ code, system: constant(map.else.system, 'uri', tree) });
  }
  return faces;
}

/** Returns the same alternatives after text steps, using a map without rows. */
function restAfterSteps(binding: TableBinding): readonly Node[] {
  const { named, map } = binding;
  if (map.blank === undefined && map.else.kind === 'absent') return [];
  const { name, blank, else: unmapped, at } = map;
  const rest: RowsCodeMap = {
    ...{ kind: 'rows', name, blank, else: unmapped, at, isComplete: true, rowsAt: new Map() },
    map: { name, rows: new Map(), blank, else: unmapped, fold: false },
  };
  const node = codedNode({ ...binding, named: { ...named, map: rest }, map: rest });
  return node ? [node] : [];
}

/** Makes the node that the place takes: one facet, a Coding, or a CodeableConcept. */
function nodeOf(faces: Faces, facet: Facet, tree: MapTree, slot: Slot): Node | undefined {
  const { at } = tree;
  if ('fixed' in faces) {
    const { code, system, display } = faces.fixed;
    const coding = { ...(system === undefined ? {} : { system }), code, ...(display === undefined ? {} : { display }) };
    const json = isPrimitive(slot.type)
      ? { code, system, display, text: undefined }[facet]
      : slot.type === 'Coding'
        ? coding
        : { coding: [coding] };
    return json === undefined ? undefined : { kind: 'constant', json, if: faces.when, type: slot.type, at };
  }
  const { code, system, display, text } = faces;
  if (isPrimitive(slot.type)) {
    const node = faces[facet];
    return node && { ...node, type: slot.type };
  }
  const members = membersOf({ system, code, display });
  const coding: Node | undefined = code && { kind: 'object', members, needs: ['code'], type: 'Coding', at };
  if (slot.type === 'Coding') return coding;
  const concept = membersOf({ coding: coding && { kind: 'list', items: [coding], type: 'Coding', at }, text });
  return { kind: 'object', members: concept, needs: [], type: 'CodeableConcept', at };
}

function constant(json: Json, type: string, tree: MapTree): Node {
  return { kind: 'constant', json, type, at: tree.at };
}

function typed(slot: Slot, type: string): Slot {
  return { ...slot, type, place: 'single', bound: undefined };
}
