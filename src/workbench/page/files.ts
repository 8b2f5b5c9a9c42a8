/**
 * The files of the pack while they are edited: the text on the disk, that of the editor, and the editor's state, so that undo
 * outlives a look at another file.
 */
import { isolateHistory, undo } from '@codemirror/commands';
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
  /** While it is not opened: the texts that it had before, so that the editor can undo what other views changed. */
  readonly before: readonly string[];
}

export function opened({ path, fixed, text, hash }: WireFile): OpenFile {
  return { path, fixed, saved: text, hash, text, state: undefined, before: [] };
}

export function isUnsaved({ text, saved }: OpenFile): boolean {
  return text !== saved;
}

export function unsavedOf(files: readonly OpenFile[]): Unsaved {
  return Object.fromEntries(files.filter(isUnsaved).map(({ path, text }) => [path, text]));
}

/** The file with another text, as if it had been typed: undo takes it back. */
export function rewritten(file: OpenFile, text: string): OpenFile {
  const { state } = file;
  if (text === file.text) return file;
  if (!state) return { ...file, text, before: [...file.before, file.text] };
  return { ...file, text, state: withText(state, text) };
}

/** The last change of a file taken back. */
export function undone(file: OpenFile): OpenFile {
  const { state, before } = file;
  if (!state) return { ...file, text: before.at(-1) ?? file.text, before: before.slice(0, -1) };
  let found = state;
  undo({ state, dispatch: transaction => (found = transaction.state) });
  return { ...file, state: found, text: found.doc.toString() };
}

/** The state of a file that is opened first, with what other views changed as steps of undo. */
export function openedState(file: OpenFile, stateOf: (text: string) => EditorState): EditorState {
  const [first = file.text, ...later] = [...file.before, file.text];
  return later.reduce(withText, stateOf(first));
}

/** One step of undo; only what differs is replaced, so that the cursor and marks elsewhere stay. */
function withText(state: EditorState, text: string): EditorState {
  const before = state.doc.toString();
  const most = Math.min(before.length, text.length);
  let start = 0;
  while (start < most && before[start] === text[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === text.at(-1 - end)) end += 1;
  const changes = { from: start, to: before.length - end, insert: text.slice(start, text.length - end) };
  return state.update({ changes, annotations: isolateHistory.of('full') }).state;
}
