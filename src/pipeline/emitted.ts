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

/** A resource of a page: its text, and its row, from which includes continue. */
export interface Emitted extends EntryText {
  readonly mapping: Mapping;
  readonly row: Row;
  readonly children: Children;
  readonly shape: RowShape;
  /** meta.lastUpdated; '' if it has none. */
  readonly lastUpdated: string;
  /**
   * The JSON text from which includes continue: the resource's own, or that of its referring elements if a selection
   * left some out.
   */
  readonly referringJson: string;
}

export interface Emittable {
  readonly mapping: Mapping;
  readonly row: Row;
  readonly shaped: Shaped;
}

/** Limits what is emitted. */
export interface EmitLimits {
  /** Bytes of all child rows. */
  readonly children?: number | undefined;
  /** Called with each resource in order; false: it and all further ones are left out. */
  readonly fits?: ((one: Emitted) => boolean) | undefined;
}

/** Emits the rows that are resources. Returns a promise only if children must be fetched. */
export function emitAll(
  items: readonly Emittable[],
  context: WriteContext,
  session: Session,
  limits?: EmitLimits,
): Awaitable<readonly Emitted[]> {
  return andThen(emitRows(items, context, session, limits), onlyResources);
}

/** Leaves out rows that are no resources. */
export function onlyResources(all: readonly Emitted[]): readonly Emitted[] {
  return all.every(isResource) ? all : all.filter(isResource);
}

/** A row has no id if somebody has just written a value of a new form into its column, which is then examined anew. */
function isResource({ json }: Emitted): boolean {
  return json !== '';
}

/** Likewise for all rows; the text is '' for a row that is no resource. Throws TooManyBytes. */
export function emitRows(
  items: readonly Emittable[],
  context: WriteContext,
  session: Session,
  { children, fits }: EmitLimits = {},
): Awaitable<readonly Emitted[]> {
  const emit = (childrenOf: ChildrenOf): readonly Emitted[] =>
    session.stages.time('write', () => {
      const all: Emitted[] = [];
      for (const item of items) {
        const one = emitted(item, childrenOf(item.row), context);
        if (fits?.(one) === false) break;
        all.push(one);
      }
      return all;
    });
  return andThen(childrenOfAll(items, session, children), emit);
}

function emitted({ mapping, row, shaped }: Emittable, children: Children, context: WriteContext): Emitted {
  const { id, json, lastUpdated } = shaped.writer(mapping).written(row, children, context);
  const referringJson = shaped.wantedWriter(mapping)?.write(row, children, context) ?? json;
  return { type: mapping.resource, id, json, mapping, row, children, shape: shaped.shape, lastUpdated, referringJson };
}

type ChildrenOf = (row: Row) => Children;

/**
 * Returns only the texts ('' for a row that is no resource), in lists. Each list is written when it is taken, so that
 * an earlier one can be collected before the next is written.
 */
export async function writeLists(
  items: readonly Emittable[],
  size: number,
  context: WriteContext,
  session: Session,
): Promise<Iterable<readonly string[]>> {
  return listsOf(items, size, context, await childrenOfAll(items, session, undefined));
}

/**
 * Separate from `writeLists`: V8 keeps what a generator closes over as long as the closure's hidden class, which is
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

/** Returns the id in a text from a writer: it follows the type, and needs no escapes. '' if there is none. */
export function writtenId(json: string, type: string): string {
  const begin = '{"resourceType":"","id":"'.length + type.length;
  return json.slice(begin, json.indexOf('"', begin));
}

function childrenOfAll(
  items: readonly Emittable[],
  session: Session,
  bytes: number | undefined,
): Awaitable<ChildrenOf> {
  const areChildless = items.every(({ shaped }) => shaped.shape.children.length === 0);
  return areChildless ? childless : readAllChildren(items, session, bytes);
}

function childless(): Children {
  return NO_CHILDREN;
}

async function readAllChildren(
  items: readonly Emittable[],
  session: Session,
  bytes: number | undefined,
): Promise<ChildrenOf> {
  const children = new Map<Row, Children>();
  const left = bytes === undefined ? undefined : { bytes };
  const byShape = Map.groupBy(items, item => item.shaped);
  await Promise.all(
    [...byShape].map(async ([{ shape }, members]) => {
      const rows = [...new Set(members.map(({ row }) => row))];
      const found = await readChildren(rows, shape, members[0]?.mapping.name ?? '', session, left);
      rows.forEach((row, i) => {
        children.set(row, found[i] ?? NO_CHILDREN);
      });
    }),
  );
  return row => children.get(row) ?? NO_CHILDREN;
}
