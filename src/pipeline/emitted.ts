/**
 * From rows to resources. In: rows of a page with their mappings. Out: their JSON texts, in order; children are fetched
 * once per collection for all rows of a shape.
 */
import type { Mapping } from '../mapping/model.ts';
import type { WriteContext } from '../resource/compile.ts';
import { type Children, NO_CHILDREN } from '../resource/rows.ts';
import type { RowShape } from '../resource/shape.ts';
import type { Row } from '../sql/plan.ts';
import { readChildren } from './children.ts';
import type { Shaped } from './shapes.ts';
import type { Session } from './source.ts';

/** A resource of a page: its text, and the row it was made of, by which includes go on. */
export interface Emitted {
  readonly mapping: Mapping;
  readonly row: Row;
  readonly children: Children;
  readonly shape: RowShape;
  readonly id: string;
  readonly json: string;
  /** As emitted; '' where the mapping has none. */
  readonly lastUpdated: string;
}

export interface Emittable {
  readonly mapping: Mapping;
  readonly row: Row;
  readonly shaped: Shaped;
}

export async function emitAll(
  items: readonly Emittable[],
  context: WriteContext,
  session: Session,
): Promise<readonly Emitted[]> {
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
  const write = ({ mapping, row, shaped }: Emittable): Emitted => {
    const writer = shaped.writer(mapping);
    const own = children.get(row) ?? NO_CHILDREN;
    return {
      mapping,
      row,
      children: own,
      shape: shaped.shape,
      id: writer.id(row),
      json: writer.write(row, own, context),
      lastUpdated: writer.lastUpdated(row),
    };
  };
  return session.stages.time('write', () => items.map(write));
}
