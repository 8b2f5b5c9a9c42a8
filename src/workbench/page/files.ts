/**
 * The edited files of the pack: the text on the disk, the text in the editor, and the editor's state, so that undo
 * still works after switching files. Other programs may change the disk meanwhile; unsaved text is never replaced.
 */
import { isolateHistory, redo, undo } from '@codemirror/commands';
import type { EditorState, StateCommand, TransactionSpec } from '@codemirror/state';
import type { Unsaved, WireFile } from '../wire/mapping.ts';

export interface OpenFile {
  readonly path: string;
  readonly fixed: boolean;
  /** Text on the disk when it was last read or saved. */
  readonly saved: string;
  readonly hash: string | undefined;
  /** Hash on the disk at the last check; undefined if there is no such file. */
  readonly disk: string | undefined;
  readonly text: string;
  /** Undefined until the file is opened in the editor. */
  readonly state: EditorState | undefined;
  /** Undo history until the file is opened in the editor, of changes by other views. */
  readonly before: readonly string[];
  /** Redo history in the same case; the next one is last. */
  readonly after: readonly string[];
}

export function opened({ path, fixed, text, hash }: WireFile): OpenFile {
  return { path, fixed, saved: text, hash, disk: hash, text, state: undefined, before: [], after: [] };
}

/** Makes a file that is not on the disk; a save creates it. */
export function begun(path: string, text: string): OpenFile {
  return { ...opened({ path, fixed: false, text: '', hash: '' }), hash: undefined, disk: undefined, text };
}

export function isUnsaved({ text, saved }: OpenFile): boolean {
  return text !== saved;
}

/** True if the file is not on the disk (never saved, or removed); a save writes it. */
export function isGone({ disk }: OpenFile): boolean {
  return disk === undefined;
}

/** True if another program changed the file; a save is then refused. */
export function isChanged({ disk, hash }: OpenFile): boolean {
  return disk !== undefined && disk !== hash;
}

/** True if the file was never on the disk. */
export function isBegun(file: OpenFile): boolean {
  return isGone(file) && file.saved === '';
}

/** Returns the unsaved texts; a file that was removed from the disk does not belong to the pack. */
export function unsavedOf(files: readonly OpenFile[]): Unsaved {
  const counts = files.filter(file => isUnsaved(file) && (!isGone(file) || isBegun(file)));
  return Object.fromEntries(counts.map(({ path, text }) => [path, text]));
}

/**
 * Restores the file's line breaks; the editor always has `
 * `.
 */
function inLinesOf({ saved }: OpenFile, text: string): string {
  return text.replaceAll(/\r?\n/g, saved.includes('\r\n') ? '\r\n' : '\n');
}

/** Returns the file with a new state of the editor. */
export function withState(file: OpenFile, state: EditorState): OpenFile {
  const isSame = state.doc.eq(file.state?.doc ?? state.toText(file.text));
  return { ...file, state, text: isSame ? file.text : inLinesOf(file, state.doc.toString()) };
}

/** Returns the file with another text, as if it was typed: undo restores the old one. */
export function rewritten(file: OpenFile, text: string): OpenFile {
  return replaced(file, inLinesOf(file, text));
}

function replaced(file: OpenFile, text: string): OpenFile {
  const { state } = file;
  if (text === file.text) return file;
  if (!state) return { ...file, text, before: [...file.before, file.text], after: [] };
  return { ...file, text, state: withText(state, text) };
}

/** Returns the file with its last change undone. */
export function undone(file: OpenFile): OpenFile {
  const { state, before, after, text } = file;
  if (state) return moved(file, state, undo);
  const back = before.at(-1);
  return back === undefined ? file : { ...file, text: back, before: before.slice(0, -1), after: [...after, text] };
}

/** Returns the file with its last undone change redone. */
export function redone(file: OpenFile): OpenFile {
  const { state, before, after, text } = file;
  if (state) return moved(file, state, redo);
  const next = after.at(-1);
  return next === undefined ? file : { ...file, text: next, before: [...before, text], after: after.slice(0, -1) };
}

function moved(file: OpenFile, state: EditorState, by: StateCommand): OpenFile {
  let found = state;
  by({ state, dispatch: transaction => (found = transaction.state) });
  return withState(file, found);
}

/** Returns the state of a file that is opened for the first time; changes by other views become undo steps. */
export function openedState(file: OpenFile, stateOf: (text: string) => EditorState): EditorState {
  const [first = file.text, ...later] = [...file.before, file.text];
  return later.reduce(withText, stateOf(first));
}

/** Applies a text as one undo step. */
function withText(state: EditorState, text: string): EditorState {
  return state.update(changeTo(state, text)).state;
}

/** Replaces only the part that differs, so that cursor and marks elsewhere stay. */
export function changeTo(state: EditorState, wanted: string): TransactionSpec {
  // Line breaks as the editor has them.
  const [before, text] = [state.doc.toString(), state.toText(wanted).toString()];
  const most = Math.min(before.length, text.length);
  let start = 0;
  while (start < most && before[start] === text[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === text.at(-1 - end)) end += 1;
  const changes = { from: start, to: before.length - end, insert: text.slice(start, text.length - end) };
  return { changes, annotations: isolateHistory.of('full') };
}

/** Returns the file with the text of the disk, as if it was typed and saved: undo restores the old text. */
export function withDisk(file: OpenFile, { text, hash }: WireFile): OpenFile {
  return { ...replaced(file, text), saved: text, hash, disk: hash };
}

/** True if the disk has other files than at the last check. */
export function differs(files: readonly OpenFile[], hashes: Readonly<Record<string, string>>): boolean {
  const known = new Map(files.flatMap(({ path, disk }) => (disk === undefined ? [] : [[path, disk]])));
  const found = Object.entries(hashes);
  return found.length !== known.size || found.some(([path, hash]) => known.get(path) !== hash);
}

/**
 * Merges the files with those on the disk, and describes the changes. Unsaved texts stay; all others are replaced. A
 * file that was removed stays with its text until the page is reloaded.
 */
export function besideDisk(
  files: readonly OpenFile[],
  found: readonly WireFile[],
): { readonly files: readonly OpenFile[]; readonly news: readonly string[] } {
  const news: string[] = [];
  const there = new Map(found.map(file => [file.path, file]));
  const known = new Set(files.map(({ path }) => path));
  const kept = files.map(file => {
    const { path } = file;
    const now = there.get(path);
    if (now === undefined) {
      if (!isGone(file)) news.push(`${path} was removed from the disk; Save writes it again`);
      return { ...file, hash: undefined, disk: undefined };
    }
    if (now.hash === file.disk) return file;
    if (!isUnsaved(file) || file.text === now.text) {
      news.push(`${path} was changed on the disk and read again`);
      return withDisk(file, now);
    }
    // The disk is back at the version that was edited here, so there is no conflict.
    if (now.hash === file.hash) return { ...file, disk: now.hash };
    news.push(
      `${path} was changed on the disk, and your text is not saved: “Take the disk’s” shows that text, and then Ctrl+Z yours`,
    );
    return { ...file, disk: now.hash };
  });
  const fresh = found.filter(({ path }) => !known.has(path));
  if (fresh.length === 0) return { files: kept, news };
  news.push(...fresh.map(({ path }) => `${path} is new on the disk`));
  return { files: inOrder([...kept, ...fresh.map(opened)]), news };
}

export function inOrder(files: readonly OpenFile[]): readonly OpenFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
