/** A part of a sort: the expressions that order rows, and the rows for which they do. */
import type { OrderFace } from '../mapping/codecs/codec.ts';
import type { Expression, Predicate } from '../sql/expression.ts';

/** How values sort, and the rows or pieces at which they do so, asked where they stand. */
export interface FaceWhen {
  readonly when: Predicate;
  readonly face: SortFace;
}

export interface SortFace {
  readonly by: readonly Expression[];
  readonly order: OrderFace;
  /** Rows that differ in this text cannot be ordered by one statement. */
  readonly apart: string;
  /** What all keys of these rows begin with, and none of rows that sort by other expressions. */
  readonly begin?: string;
  /** Where a key is none of these rows': on which side of it all of them are. Undefined: `by` tells. */
  readonly side?: (key: number | string) => 'below' | 'above' | undefined;
}

/** Rows of a mapping whose value comes from the same columns, or that have none. */
export interface SortPart {
  readonly where: Predicate;
  /** Null: none of these rows has a value. */
  readonly face: SortFace | null;
}

/** One place that values come from: the rows that have one, and how they sort. */
export interface Candidate {
  readonly where: Predicate;
  readonly face: SortFace;
  /** The place is in child rows, or in pieces of a text. */
  readonly isInRows: boolean;
}
