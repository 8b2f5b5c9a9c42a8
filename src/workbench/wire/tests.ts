/** Defines the JSON between the view *Tests* and the server. */
import type { WirePlace } from './mapping.ts';

export interface WireTests {
  /** Undefined if the pack has errors; nothing ran. */
  readonly cases: readonly WireTestCase[] | undefined;
}

export interface WireTestCase {
  /** The mapping that it tests. */
  readonly mapping: string;
  readonly place: WirePlace;
  /** Empty if the test passed. */
  readonly failures: readonly WireFailure[];
}

export interface WireFailure {
  readonly place: WirePlace;
  /** Such as `Patient.gender is another`. */
  readonly message: string;
  /** The value in the test, and the actual value. */
  readonly expected: string | undefined;
  readonly found: string | undefined;
}

/** A test made of a row, with invented values. */
export interface WireRecorded {
  /** The file of the pack to which it belongs. */
  readonly path: string;
  readonly test: string;
  /** What it does not contain, in words. */
  readonly remarks: readonly string[];
}
