/**
 * Generates code for lists (R4, R5). In: a list. Out: statements that add its items to a JSON array in order; an
 * `each` adds one per child row or piece.
 */
import type { ListNode, Node } from '../mapping/model.ts';
import { type PieceRows, rowsOfLookups } from '../mapping/piece-lookups.ts';
import { conditionCode } from './condition.ts';
import { type Emission, placesOf } from './emission.ts';
import { childrenIn, rawCode } from './frame.ts';
import { noRow, rowsOfPiece } from './piece-keys.ts';
import { piecesOf } from './pieces.ts';
import { Joined, type Text } from './source-text.ts';

/** JSON text of a list, behind `before`; '' without items. */
export function emitList(node: ListNode, at: Emission, before: string): Text {
  const joined = new Joined(at.source, '[]', before);
  for (const item of node.items) addItems(item, joined, at);
  return joined.finish();
}

/** Adds the items that a node gives: none, one, or several of an `each`. */
function addItems(node: Node, joined: Joined, at: Emission): void {
  const { source } = at;
  if (!givesMany(node)) {
    joined.add('', at.emit(node, at));
    return;
  }
  const condition = node.if ? conditionCode(node.if, placesOf(at)) : 'true';
  if (condition === 'true') addExistingItems(node, joined, at);
  else joined.fork(() => source.when(condition, () => addExistingItems(node, joined, at)));
}

function addExistingItems(node: Node, joined: Joined, at: Emission): void {
  switch (node.kind) {
    case 'constant':
      for (const json of Array.isArray(node.json) ? node.json : []) {
        joined.add('', at.emit({ kind: 'constant', json, type: node.type, at: node.at }, at));
      }
      return;
    case 'list':
      for (const item of node.items) addItems(item, joined, at);
      return;
    case 'first':
      addFirstItems(node.alternatives, joined, at);
      return;
    case 'each':
      joined.fork(() => eachItem(node, at, inner => addItems(node.item, joined, inner)));
      return;
    default:
      return;
  }
}

function givesMany(node: Node): boolean {
  if (node.kind === 'first') return node.alternatives.some(givesMany);
  return node.kind === 'each' || node.kind === 'list' || (node.kind === 'constant' && Array.isArray(node.json));
}

function addFirstItems(alternatives: readonly Node[], joined: Joined, at: Emission): void {
  const [alternative, ...rest] = alternatives;
  if (!alternative) return;
  const before = at.source.variable(`${joined.flush()}.length`, 'const');
  joined.fork(() => addItems(alternative, joined, at));
  if (rest.length === 0) return;
  joined.fork(() => at.source.when(`${joined.flush()}.length === ${before}`, () => addFirstItems(rest, joined, at)));
}

/** The rows that a piece looks up, or in their place rows of NULLs; without a required one there is no item. */
function withLookups(lookups: readonly PieceRows[], at: Emission, body: (inner: Emission) => void): void {
  const [first, ...further] = lookups;
  if (!first) {
    body(at);
    return;
  }
  const { source, frame } = at;
  const { from } = first.node;
  const { frame: above, index } = childrenIn(first.node, frame);
  const level = above.level.children[index];
  if (!level) return;
  const parts = from.on.map(({ ours }) => rawCode(ours, frame)).join(', ');
  const rows = `${source.bind(rowsOfPiece(level))}(${above.children}[${index}] ?? [], [${parts}])`;
  const found = source.variable(`${rows}[0] ?? ${source.bind(noRow(level))}`, 'const');
  const row = source.variable(`${found}.row`, 'const');
  const children = source.variable(`${found}.children`, 'const');
  const inner = { kind: 'row', level, lookups: from.scope.lookups, row, children, around: frame } as const;
  const rest = (): void => withLookups(further, { ...at, frame: inner }, body);
  if (first.required) source.when(`${found} !== ${source.bind(noRow(level))}`, rest);
  else rest();
}

/** A loop over child rows or pieces. */
function eachItem(node: Node & { readonly kind: 'each' }, at: Emission, body: (inner: Emission) => void): void {
  const { source, frame } = at;
  const { from } = node;
  const item = source.fresh();
  if (from.kind === 'pieces') {
    const [by, between] = [JSON.stringify(from.by), JSON.stringify(from.between)];
    const pieces = `${source.bind(piecesOf)}(${rawCode(from.column, frame)}, ${by}, ${between})`;
    const parts = new Map(from.parts.map((part, i) => [part, `${item}[${i}]`]));
    source.block(`for (const ${item} of ${pieces})`, () =>
      withLookups(
        rowsOfLookups(from),
        { ...at, frame: { kind: 'pieces', alias: from.alias, parts, around: frame } },
        body,
      ),
    );
    return;
  }
  const { frame: above, index } = childrenIn(node, frame);
  const level = above.level.children[index];
  if (!level) return;
  const all = `${above.children}[${index}] ?? []`;
  const parts = from.on.map(({ ours }) => (from.of ? rawCode(ours, frame) : '')).join(', ');
  const rows = source.variable(from.of ? `${source.bind(rowsOfPiece(level))}(${all}, [${parts}])` : all, 'const');
  const count = source.fresh();
  source.block(`for (let ${count} = 0; ${count} < ${rows}.length; ${count}++)`, () => {
    const row = source.variable(`${rows}[${count}].row`, 'const');
    const children = source.variable(`${rows}[${count}].children`, 'const');
    body({ ...at, frame: { kind: 'row', level, lookups: from.scope.lookups, row, children, around: frame } });
  });
}
