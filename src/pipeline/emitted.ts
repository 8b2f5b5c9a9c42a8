/**
 * Turns rows into resources. In: rows of a page with their mappings. Out: their JSON texts in order. Children are
 * fetched once per collection for all rows of a shape.
 */
import { type Awaitable, andThen } from '../common/awaitable.ts';
import type { Mapping } from '../mapping/model.ts';
import type { EntryText } from '../resource/bundle.ts';
import type { WriteContext } from '../resource/compile.ts';
import { type Children, NO_CHILDREN } from '../resource/rows.ts';
import type { RowShape } from '../resource/shape.ts';
import type { Row } from '../sql/plan.ts';
import { readChildren } from './children.ts';
import type { Session } from './session.ts';
import type { Shaped } from './shapes.ts';

/** A resource of a page: its text, and the row it was made of, by which includes go on. */
export interface Emitted extends EntryText {
  readonly mapping: Mapping;
  readonly row: Row;
  readonly children: Children;
  readonly shape: RowShape;
  /** meta.lastUpdated; '' where it has none. */
  readonly lastUpdated: string;
  /** What includes go on from: the text, or where a selection has left elements out, these. */
  readonly referring: string;
}

export interface Emittable {
  readonly mapping: Mapping;
  readonly row: Row;
  readonly shaped: Shaped;
}

/** Of the rows that are resources. A promise only where there are children to be fetched. */
export function emitAll(
  items: readonly Emittable[],
  context: WriteContext,
  session: Session,
): Awaitable<readonly Emitted[]> {
  return andThen(emitRows(items, context, session), all => (all.every(isResource) ? all : all.filter(isResource)));
}

/** A row has no id where somebody has just written what its column never held: the column is then read anew. */
function isResource({ json }: Emitted): boolean {
  return json !== '';
}

/** Likewise of all rows; the text of what is no resource is ''. */
export function emitRows(
  items: readonly Emittable[],
  context: WriteContext,
  session: Session,
): Awaitable<readonly Emitted[]> {
  const emit = (childrenOf: ChildrenOf): readonly Emitted[] =>
    session.stages.time('write', () => items.map(item => emitted(item, childrenOf(item.row), context)));
  return andThen(childrenOfAll(items, session), emit);
}

function emitted({ mapping, row, shaped }: Emittable, children: Children, context: WriteContext): Emitted {
  const { id, json, lastUpdated } = shaped.writer(mapping).written(row, children, context);
  const referring = shaped.wantedWriter(mapping)?.write(row, children, context) ?? json;
  return { type: mapping.resource, id, json, mapping, row, children, shape: shaped.shape, lastUpdated, referring };
}

type ChildrenOf = (row: Row) => Children;

/**
 * The texts alone, '' for a row that is no resource, in lists, each written when it is taken: what nobody holds on to
 * is garbage before the next one is made.
 */
export async function writeLists(
  items: readonly Emittable[],
  size: number,
  context: WriteContext,
  session: Session,
): Promise<Iterable<readonly string[]>> {
  return listsOf(items, size, context, await childrenOfAll(items, session));
}

/**
 * Not within `writeLists`: V8 keeps what a generator closes over for as long as the closure's hidden class, which is
 * old.
 */
function* listsOf(
  items: readonly Emittable[],
  size: number,
  context: WriteContext,
  childrenOf: ChildrenOf,
): Generator<readonly string[], void, undefined> {
  for (let at = 0; at < items.length; at += size) {
    yield items
      .slice(at, at + size)
      .map(({ mapping, row, shaped }) => shaped.writer(mapping).write(row, childrenOf(row), context));
  }
}

/**
 * The id of a resource that a writer wrote: it stands behind the type, and needs no escapes. '' where there is none.
 */
export function writtenId(json: string, type: string): string {
  const begin = '{"resourceType":"","id":"'.length + type.length;
  return json.slice(begin, json.indexOf('"', begin));
}

function childrenOfAll(items: readonly Emittable[], session: Session): Awaitable<ChildrenOf> {
  const areChildless = items.every(({ shaped }) => shaped.shape.children.length === 0);
  return areChildless ? childless : readAllChildren(items, session);
}

function childless(): Children {
  return NO_CHILDREN;
}

async function readAllChildren(items: readonly Emittable[], session: Session): Promise<ChildrenOf> {
  const children = new Map<Row, Children>();
  const byShape = Map.groupBy(items, item => item.shaped);
  await Promise.all(
    [...byShape].map(async ([{ shape }, members]) => {
      const rows = [...new Set(members.map(({ row }) => row))];
      const found = await readChildren(rows, shape, members[0]?.mapping.name ?? '', session);
      rows.forEach((row, i) => {
        children.set(row, found[i] ?? NO_CHILDREN);
      });
    }),
  );
  return row => children.get(row) ?? NO_CHILDREN;
}
