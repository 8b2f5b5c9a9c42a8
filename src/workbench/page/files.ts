/**
 * The files of the pack while they are edited: the text on the disk, that of the editor, and the editor's state, so
 * that undo outlives a look at another file. Other programs change the disk meanwhile; what is not saved here is never
 * replaced.
 */
import { isolateHistory, redo, undo } from '@codemirror/commands';
import type { EditorState, StateCommand, TransactionSpec } from '@codemirror/state';
import type { Unsaved, WireFile } from '../wire/mapping.ts';

export interface OpenFile {
  readonly path: string;
  readonly fixed: boolean;
  /** On the disk, as it was read or saved last. */
  readonly saved: string;
  readonly hash: string | undefined;
  /** What the disk had when it was looked at last; undefined: no such file. */
  readonly disk: string | undefined;
  readonly text: string;
  /** Undefined: not opened yet. */
  readonly state: EditorState | undefined;
  /** While it is not opened: the texts that it had before, so that the editor can undo what other views changed. */
  readonly before: readonly string[];
  /** Likewise, those that were taken back; the one that comes next is last. */
  readonly after: readonly string[];
}

export function opened({ path, fixed, text, hash }: WireFile): OpenFile {
  return { path, fixed, saved: text, hash, disk: hash, text, state: undefined, before: [], after: [] };
}

/** A file that is not on the disk yet: a save makes it. */
export function begun(path: string, text: string): OpenFile {
  return { ...opened({ path, fixed: false, text: '', hash: '' }), hash: undefined, disk: undefined, text };
}

export function isUnsaved({ text, saved }: OpenFile): boolean {
  return text !== saved;
}

/** Not on the disk, or gone from it: a save writes it. */
export function isGone({ disk }: OpenFile): boolean {
  return disk === undefined;
}

/** Changed by another program while its text here is not saved: a save is refused. */
export function isChanged({ disk, hash }: OpenFile): boolean {
  return disk !== undefined && disk !== hash;
}

/** Not on the disk yet, and never was. */
export function isBegun(file: OpenFile): boolean {
  return isGone(file) && file.saved === '';
}

/** What is gone from the disk is no part of the pack. */
export function unsavedOf(files: readonly OpenFile[]): Unsaved {
  const counts = files.filter(file => isUnsaved(file) && (!isGone(file) || isBegun(file)));
  return Object.fromEntries(counts.map(({ path, text }) => [path, text]));
}

/** The text with the line ends of the file, which the editor knows nothing of. */
function inLinesOf({ saved }: OpenFile, text: string): string {
  return text.replaceAll(/\r?\n/g, saved.includes('\r\n') ? '\r\n' : '\n');
}

/** The file with the editor in another state. */
export function withState(file: OpenFile, state: EditorState): OpenFile {
  const isSame = state.doc.eq(file.state?.doc ?? state.toText(file.text));
  return { ...file, state, text: isSame ? file.text : inLinesOf(file, state.doc.toString()) };
}

/** The file with another text, as if it had been typed: undo takes it back. */
export function rewritten(file: OpenFile, text: string): OpenFile {
  return replaced(file, inLinesOf(file, text));
}

function replaced(file: OpenFile, text: string): OpenFile {
  const { state } = file;
  if (text === file.text) return file;
  if (!state) return { ...file, text, before: [...file.before, file.text], after: [] };
  return { ...file, text, state: withText(state, text) };
}

/** The last change of a file taken back. */
export function undone(file: OpenFile): OpenFile {
  const { state, before, after, text } = file;
  if (state) return moved(file, state, undo);
  const back = before.at(-1);
  return back === undefined ? file : { ...file, text: back, before: before.slice(0, -1), after: [...after, text] };
}

/** The change of a file that was taken back last, made again. */
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

/** The state of a file that is opened first, with what other views changed as steps of undo. */
export function openedState(file: OpenFile, stateOf: (text: string) => EditorState): EditorState {
  const [first = file.text, ...later] = [...file.before, file.text];
  return later.reduce(withText, stateOf(first));
}

/** One step of undo. */
function withText(state: EditorState, text: string): EditorState {
  return state.update(changeTo(state, text)).state;
}

/** Only what differs is replaced, so that the cursor and marks elsewhere stay. */
export function changeTo(state: EditorState, wanted: string): TransactionSpec {
  // Line ends as the editor has them.
  const [before, text] = [state.doc.toString(), state.toText(wanted).toString()];
  const most = Math.min(before.length, text.length);
  let start = 0;
  while (start < most && before[start] === text[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === text.at(-1 - end)) end += 1;
  const changes = { from: start, to: before.length - end, insert: text.slice(start, text.length - end) };
  return { changes, annotations: isolateHistory.of('full') };
}

/** The file with the text of the disk, as if it had been typed and saved: undo brings back what was here. */
export function withDisk(file: OpenFile, { text, hash }: WireFile): OpenFile {
  return { ...replaced(file, text), saved: text, hash, disk: hash };
}

/** Whether the disk has other files than when it was looked at last. */
export function differs(files: readonly OpenFile[], hashes: Readonly<Record<string, string>>): boolean {
  const known = new Map(files.flatMap(({ path, disk }) => (disk === undefined ? [] : [[path, disk]])));
  const found = Object.entries(hashes);
  return found.length !== known.size || found.some(([path, hash]) => known.get(path) !== hash);
}

/**
 * The files beside what the disk has now, and what is new about that, in words. A text that is not saved stays; all
 * others become those of the disk. A file that is gone stays, with its text, until the page is loaded again.
 */
export function besideDisk(
  files: readonly OpenFile[],
  found: readonly WireFile[],
): { readonly files: readonly OpenFile[]; readonly told: readonly string[] } {
  const told: string[] = [];
  const there = new Map(found.map(file => [file.path, file]));
  const known = new Set(files.map(({ path }) => path));
  const kept = files.map(file => {
    const { path } = file;
    const now = there.get(path);
    if (now === undefined) {
      if (!isGone(file)) told.push(`${path} was removed from the disk; Save writes it again`);
      return { ...file, hash: undefined, disk: undefined };
    }
    if (now.hash === file.disk) return file;
    if (!isUnsaved(file) || file.text === now.text) {
      told.push(`${path} was changed on the disk and read again`);
      return withDisk(file, now);
    }
    // Back to what the text here began with: nothing is in its way.
    if (now.hash === file.hash) return { ...file, disk: now.hash };
    told.push(
      `${path} was changed on the disk, and your text is not saved: “Take the disk’s” shows that text, and then Ctrl+Z yours`,
    );
    return { ...file, disk: now.hash };
  });
  const fresh = found.filter(({ path }) => !known.has(path));
  if (fresh.length === 0) return { files: kept, told };
  told.push(...fresh.map(({ path }) => `${path} is new on the disk`));
  return { files: inOrder([...kept, ...fresh.map(opened)]), told };
}

export function inOrder(files: readonly OpenFile[]): readonly OpenFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
