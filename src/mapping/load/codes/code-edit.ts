/** Defines an edit of a row of a code map, and the error if it cannot be made. */

export interface CodeEdit {
  /** The raw value of the row. If there is no such row, it is added. */
  readonly raw: string;
  /** The new raw value. */
  readonly rename?: string | undefined;
  /** The new code; null deletes the row. The code `absent` means that the value is known and has no code. */
  readonly to: CodeText | null;
}

/** A code as a pack writes it. */
export interface CodeText {
  readonly code: string;
  readonly display?: string | undefined;
  /** An alias or a URI; undefined means the map's system. */
  readonly system?: string | undefined;
}

/** Tells a person why a map is not changed. */
export class CodeEditError extends Error {}
