/** An edit of a row of a code map, and the error that tells a person why it is not made. */

export interface CodeEdit {
  /** The raw value whose row is meant; a row is made where there is none. */
  readonly raw: string;
  /** The raw value that it becomes. */
  readonly rename?: string | undefined;
  /** Null: the row goes. `absent` as code: the value is known and means none. */
  readonly to: CodeText | null;
}

/** A code as a pack writes it. */
export interface CodeText {
  readonly code: string;
  readonly display?: string | undefined;
  /** An alias or an address; undefined: the map's. */
  readonly system?: string | undefined;
}

/** Why a map is not changed, for a person. */
export class CodeEditError extends Error {}
