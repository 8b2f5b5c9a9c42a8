/**
 * What the view *Tests* and the server tell each other.
 */
import type { WirePlace } from './mapping.ts';

export interface WireTests {
  /** Undefined: the pack has errors, and nothing ran. */
  readonly cases: readonly WireTestCase[] | undefined;
}

export interface WireTestCase {
  /** The mapping that it tests. */
  readonly mapping: string;
  readonly place: WirePlace;
  /** None: the test came true. */
  readonly failures: readonly WireFailure[];
}

export interface WireFailure {
  readonly place: WirePlace;
  /** `Patient.gender is another` */
  readonly message: string;
  /** What stands in the test, and what was there instead. */
  readonly expected: string | undefined;
  readonly found: string | undefined;
}

/** A test made of a row, with invented values. */
export interface WireRecorded {
  /** The file of the pack that it goes into. */
  readonly path: string;
  readonly test: string;
  /** What is not in it, in words. */
  readonly told: readonly string[];
}
