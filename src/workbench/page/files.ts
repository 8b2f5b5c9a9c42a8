/**
 * The files of the pack while they are edited: the text on the disk, that of the editor, and the editor's state, so that undo
 * outlives a look at another file.
 */
import type { EditorState } from '@codemirror/state';
import type { Unsaved, WireFile } from '../wire/mapping.ts';

export interface OpenFile {
  readonly path: string;
  readonly fixed: boolean;
  /** On the disk, as it was read or saved last. */
  readonly saved: string;
  readonly hash: string | undefined;
  readonly text: string;
  /** Undefined: not opened yet. */
  readonly state: EditorState | undefined;
}

export function opened({ path, fixed, text, hash }: WireFile): OpenFile {
  return { path, fixed, saved: text, hash, text, state: undefined };
}

export function isUnsaved({ text, saved }: OpenFile): boolean {
  return text !== saved;
}

export function unsavedOf(files: readonly OpenFile[]): Unsaved {
  return Object.fromEntries(files.filter(isUnsaved).map(({ path, text }) => [path, text]));
}
