/**
 * Reads `each`: an item per child row, or per piece of a separated column. In: the map. Out: an EachNode.
 */
import { type Identifier, identifier, isIdentifier, printTable } from '../../../sql/identifier.ts';
import { SEPARATOR } from '../../codecs/text-step.ts';
import type { ChildRows, EachNode, JoinColumn, Lookup, Node, Pieces, Position } from '../../model.ts';
import { fixedColumns, isPromised } from '../../promised.ts';
import type { Context } from '../pack/context.ts';
import { child, entriesOf, type MapTree, map, type ScalarTree, type Tree, textOf } from '../read/tree.ts';
import { type NamedPieces, type NamedRows, resolveColumn, type Visible } from '../rows/columns.ts';
import { guard } from '../rows/guard.ts';
import { readOn, readRowOrder } from '../rows/join.ts';
import { readLookup } from '../rows/scope.ts';
import { type Slot, singleSlot } from './slot.ts';

/** Reads `{each: {table, …} or {split, …}, elements or item}` among the items of a repeating element. */
export function readEach(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const each = child(tree, 'each');
  if (each?.kind !== 'map') return undefined;
  if (slot.place !== 'item') {
    context.report.error('wrong-element', each.at, `\`each\` gives many items and is not allowed under ${slot.path}`, {
      expected: 'an item of a repeating element',
    });
    return undefined;
  }
  const elements = child(tree, 'elements');
  reportUnused(tree, context);
  const item = child(tree, 'item') ?? (elements && map({ needs: child(tree, 'needs'), elements }, elements.at));
  if (!item) {
    context.report.error('missing-key', tree.at, '`each` without `elements:` or `item:`');
    return undefined;
  }
  const rows = child(each, 'split') ? readPieces(each, visible, context) : readRows(each, visible, context);
  if (!rows) return undefined;
  // `each` within `each` (rows per piece): the inner items are items of the same element.
  const isEach = item.kind === 'map' && child(item, 'each') !== undefined;
  const node = context.readNode(item, isEach ? slot : singleSlot(slot), rows.visible, context);
  if (!node) return undefined;
  const result: EachNode = { kind: 'each', from: rows.from, item: node, type: slot.type, at: tree.at };
  return guard(result, tree, visible, context);
}

/** Reports keys beside `item` that belong to `elements`. */
function reportUnused(tree: MapTree, { report }: Context): void {
  if (!child(tree, 'item')) return;
  for (const [key, expected] of Object.entries(INSTEAD)) {
    const unused = child(tree, key);
    if (unused) report.error('wrong-form', unused.at, `\`${key}\` beside \`item\` has no effect`, { expected });
  }
}

const INSTEAD = {
  needs: '`needs` in the map of `item`, or `elements:` in place of `item:`',
  elements: 'one of the two',
} as const;

interface Rows {
  readonly from: EachNode['from'];
  readonly visible: Visible;
}

/** Reads the rows that `each` or `rows-as-text` iterates over. */
export function readRows(each: Tree, visible: Visible, context: Context): Rows | undefined {
  const inner = context.readScope(each, undefined, visible, context);
  if (!inner) return undefined;
  const on = readOn(child(each, 'on'), inner.visible, visible, context, true);
  const order = readRowOrder(child(each, 'order'), inner.visible, context);
  const of = piecesJoined(on, visible, each.at, context);
  const from: ChildRows = { kind: 'rows', scope: inner.scope, on, order, ...(of ? { of } : {}) };
  if (!child(each, 'order')) warnOfNoOrder(from, inner.visible, each.at, context);
  return { from, visible: inner.visible };
}

/**
 * Returns the pieces that the rows are joined on. Such pieces split a column of the enclosing row, because keys are
 * made from that row, and no other join columns are possible. Reports other joins.
 */
export function piecesJoined(
  on: readonly JoinColumn[],
  visible: Visible,
  at: Position,
  { report }: Context,
): Pieces | undefined {
  const all = [...namedAround(visible)];
  const ofPieces = on.flatMap(
    ({ ours }) => all.find(named => named.kind === 'pieces' && named.alias === ours.alias) ?? [],
  );
  if (ofPieces.length === 0) return undefined;
  const { own, outer } = visible;
  const isOwn = own.kind === 'pieces' && ofPieces.every(named => named === own);
  const around = outer?.own.kind === 'rows' ? [...outer.named.values()] : [];
  if (!isOwn || ofPieces.length < on.length || !around.some(({ alias }) => alias === own.from.column.alias)) {
    report.error('wrong-rows', at, 'rows cannot be joined on these pieces', {
      expected: 'only parts of the directly enclosing `each`, which splits a column of its own row',
    });
    return undefined;
  }
  const odd = on.find(({ theirs }) => theirs.type.kind !== 'text' && theirs.type.kind !== 'integer');
  if (odd) {
    report.error('wrong-rows', at, `a piece cannot be joined with a ${odd.theirs.type.kind} column`, {
      expected: 'a column of text or whole numbers',
      found: odd.theirs.column,
    });
  }
  return own.from;
}

function* namedAround(visible: Visible): Iterable<NamedRows | NamedPieces> {
  for (let at: Visible | undefined = visible; at; at = at.outer) yield* at.named.values();
}

/** Warns of rows without `order`, if more than one row is possible: the engine may return them in any order. */
function warnOfNoOrder({ scope, on }: ChildRows, { own }: Visible, at: Position, context: Context): void {
  if (own.kind !== 'rows') return;
  const held = [...on.map(({ theirs }) => theirs), ...fixedColumns(scope)];
  if (isPromised(scope, held, own.info)) return;
  const free = own.info.primaryKey.filter(
    key => !held.some(({ column }) => column.toLowerCase() === key.toLowerCase()),
  );
  context.report.warning('unstable-order', at, 'rows without `order`: the order in which they come is undefined', {
    expected: free.length > 0 ? `\`order: [${free.join(', ')}]\`` : `\`order\` by columns of ${printTable(own.table)}`,
  });
}

function readPieces(each: Tree, visible: Visible, context: Context): Rows | undefined {
  const { report } = context;
  const split = child(each, 'split');
  const by = child(each, 'by');
  if (split?.kind !== 'scalar' || by?.kind !== 'scalar') return undefined;
  const resolved = resolveColumn(split.text, split.at, visible, context);
  if (!SEPARATOR.test(by.text)) {
    report.error('wrong-rows', by.at, 'a separator is one character, neither letter nor digit', {
      found: by.text || 'nothing',
    });
    return undefined;
  }
  if (!resolved) return undefined;
  if (resolved.column.type.kind !== 'text') {
    report.error('wrong-rows', split.at, `column ${resolved.column.column} is no text and has no pieces`);
    return undefined;
  }
  const parse = child(each, 'parse');
  const parsed =
    parse?.kind === 'scalar' ? readParts(parse, by.text, context) : { parts: [identifier('piece')], between: [] };
  if (!parsed) return undefined;
  const as = child(each, 'as');
  const name = textOf(as) ?? 'piece';
  if (!isIdentifier(name)) {
    report.error('wrong-form', as?.at ?? each.at, 'not an alias', { found: name });
    return undefined;
  }
  const alias = context.aliases.mint(name);
  const lookups: Lookup[] = [];
  const from: Pieces = { kind: 'pieces', column: resolved.column, by: by.text, alias, ...parsed, lookups };
  const own = { kind: 'pieces' as const, name, alias, parts: parsed.parts, from };
  const inner: Visible = { own, named: new Map([[name.toLowerCase(), own]]), outer: visible, lookups };
  const looked = entriesOf(child(each, 'lookup'));
  const [first] = looked;
  if (first && resolved.isPiece) {
    report.error('wrong-rows', first.at, 'pieces of a piece cannot have a lookup', {
      expected: '`parse`, which names parts of a piece',
    });
    return undefined;
  }
  for (const entry of looked) {
    const lookup = readLookup(entry, inner, context);
    if (lookup) lookups.push(lookup);
  }
  checkPieceLookups(from, context);
  return { from, visible: inner };
}

/** Reports a lookup that joins anything but parts of the piece, or columns of one row that was looked up before. */
function checkPieceLookups({ alias, lookups = [] }: Pieces, { report }: Context): void {
  for (const { on, at } of lookups) {
    const owners = new Set(on.map(({ ours }) => ours.alias));
    const isOwn = [...owners].every(one => one === alias || lookups.some(lookup => lookup.alias === one));
    if (owners.size === 1 && isOwn) continue;
    report.error('wrong-rows', at, 'a lookup in the `each` of pieces joins parts of a piece', {
      expected: '`on: {THEIRS: part}`, or columns of one row that is looked up before it',
    });
  }
}

/** Parses `{sys}:{code}`: names of parts, with a separator between any two. */
function readParts(
  tree: ScalarTree,
  by: string,
  context: Context,
): { readonly parts: readonly Identifier[]; readonly between: readonly string[] } | undefined {
  const fields = tree.text.split(/\{([^{}]*)\}/);
  const names = fields.filter((_, i) => i % 2 === 1);
  const literals = fields.filter((_, i) => i % 2 === 0);
  const fail = (message: string): undefined => {
    context.report.error('wrong-rows', tree.at, message, { expected: '"{sys}:{code}"', found: tree.text || 'nothing' });
  };
  if (names.length === 0 || !names.every(isIdentifier)) return fail('`parse` names no parts');
  if (new Set(names.map(name => name.toLowerCase())).size < names.length) return fail('`parse` names a part twice');
  if (literals[0] !== '' || literals.at(-1) !== '') return fail('`parse` begins and ends with a part');
  const between = literals.slice(1, -1);
  if (between.some(literal => literal === '')) return fail('`parse` is ambiguous: two parts without text between them');
  if (between.some(literal => literal.includes(by))) return fail(`\`parse\` contains the separator \`${by}\``);
  return { parts: names.map(identifier), between };
}
