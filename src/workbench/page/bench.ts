/**
 * State that all views share: the files with their unsaved texts, the problems of the pack, the position of the editor.
 * A change of a text asks for the problems again; an answer that a newer one overtook is dropped.
 */
import type { EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { withTest } from '../wire/append-test.ts';
import type { Unsaved, WireBeginning, WireCheck, WireFile, WirePack, WirePlace } from '../wire/mapping.ts';
import { ask, Refused } from './ask.ts';
import { useDisk } from './disk.ts';
import {
  begun,
  besideDisk,
  changeTo,
  inOrder,
  isGone,
  isUnsaved,
  type OpenFile,
  opened,
  redone,
  rewritten,
  undone,
  unsavedOf,
  withDisk,
  withState,
} from './files.ts';
import { type TestRuns, useTestRuns } from './tests/runs.ts';

/** End of the message after a save. */
const SAVED = ' is saved';
/** Milliseconds without a key press before the problems are requested. */
const PAUSE = 30;

export interface Change {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** A row in the preview. */
export interface PreviewedRow {
  readonly mapping: string;
  readonly key: readonly string[];
  /** The search from whose answer the user came. */
  readonly from?: string;
}

/** State of views that survives switching between them. It is mutated in place and causes no rendering. */
interface ViewState {
  previewed: PreviewedRow | undefined;
  /** Text and last request of the view *Search*; each request is a new object. */
  search: { readonly text: string; readonly asked: { readonly query: string } | undefined };
}

export interface Bench {
  /** The last rendered value, for callbacks that outlive a rendering, such as those of an editor's state. */
  readonly now: { readonly current: Bench };
  readonly files: readonly OpenFile[];
  readonly file: OpenFile | undefined;
  readonly check: WireCheck | undefined;
  /** True if texts have changed since the check. */
  readonly checking: boolean;
  /** The view that is shown. It is in the fragment of the URL, so that a reload and *back* restore it. */
  readonly view: string;
  show(view: string): void;
  readonly viewState: ViewState;
  /** Shows a row beside its resource. */
  preview(previewed: PreviewedRow): void;
  /** Runs a search in the view *Search*. */
  search(query: string): void;
  /** The last message. */
  readonly message: string;
  readonly unsaved: Unsaved;
  /** Number of saves. */
  readonly saves: number;
  /** Number of times that texts came from the disk: written by other programs, or new files. */
  readonly takes: number;
  readonly tests: TestRuns;
  /** Target position of the editor; undefined once it is reached. */
  readonly goal: WirePlace | undefined;
  /** Tells that the editor reached the goal. */
  reached(): void;
  /** Applies a change immediately in the editor of the file; does nothing if another file is shown. */
  apply(path: string, change: Change): void;
  announce(what: string): void;
  open(path: string): void;
  /** Shows the place in the editor, in the view *Mapping*. */
  goTo(place: WirePlace): void;
  edited(path: string, state: EditorState): void;
  /** Sets the editor that shows a file; null if there is none. */
  shownIn(view: EditorView | null, path?: string): void;
  /** Replaces the text of a file without saving; one undo step in the editor. */
  rewrite(path: string, text: string): void;
  /** Appends a test in the same way. Creates the file if it does not exist. */
  append(path: string, test: string): void;
  /** Undoes the last change of a file. */
  undo(path: string): void;
  /** Redoes the change that was undone last. */
  redo(path: string): void;
  /** Creates a file that is on the disk only once it is saved. */
  begin(path: string, text: string): void;
  save(path: string): Promise<void>;
  create(path: string): Promise<void>;
  /** Replaces the text of the editor by that of the disk. */
  reload(path: string): Promise<void>;
}

export function useBench(pack: WirePack): Bench {
  const [files, showFiles] = useState<readonly OpenFile[]>(() => pack.files.map(opened));
  /** The newest files, ahead of the last rendering. */
  const current = useRef(files);
  const setFiles = useCallback((by: (files: readonly OpenFile[]) => readonly OpenFile[]) => {
    current.current = by(current.current);
    showFiles(current.current);
  }, []);
  const [path, setPath] = useState(
    () => pack.files.find(({ path: one }) => one === 'pack.yaml')?.path ?? pack.files[0]?.path,
  );
  const [check, setCheck] = useState<WireCheck>();
  const [checking, setChecking] = useState(true);
  const [message, announce] = useState('');
  const [goal, setGoal] = useState<WirePlace>();
  const view = useHash() || 'mapping';
  const [saves, setSaves] = useState(0);
  const [takes, setTakes] = useState(0);
  /** Incremented before and after each write of a file. */
  const writes = useRef(0);
  const viewState = useRef<ViewState>({ previewed: undefined, search: { text: '', asked: undefined } }).current;
  const shown = useRef<{ readonly view: EditorView; readonly path: string }>(null);
  const unsaved = useMemo(() => unsavedOf(files), [files]);
  const key = JSON.stringify(unsaved);
  /** Keeps the message of a save and appends the outcome of its tests. */
  const announceTests = useCallback((what: string) => {
    announce(before => (before.endsWith(SAVED) ? `${before}; ${what}` : what));
  }, []);
  const tests = useTestRuns(unsaved, saves, takes, announceTests);

  useEffect(() => {
    setChecking(true);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      ask<WireCheck>('check', { unsaved: JSON.parse(key) as Unsaved }, abort.signal).then(
        found => {
          setCheck(found);
          setChecking(false);
        },
        (error: Error) => {
          if (abort.signal.aborted) return;
          setChecking(false);
          announce(error.message);
        },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, takes]);

  const isKept = !files.some(isUnsaved);
  useEffect(() => {
    if (isKept) return;
    // The browser asks for confirmation before the page is closed or reloaded.
    const leave = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', leave);
    return () => removeEventListener('beforeunload', leave);
  }, [isKept]);

  const alter = useCallback((one: string, by: (file: OpenFile) => OpenFile) => {
    setFiles(all => all.map(file => (file.path === one ? by(file) : file)));
  }, []);
  const put = async (one: string, text: string, before: string | undefined): Promise<void> => {
    writes.current += 1;
    try {
      const saved = await ask<WireFile>('file', { path: one, text, before }, undefined, 'PUT');
      const { hash } = saved;
      setFiles(all =>
        all.some(file => file.path === one)
          ? all.map(file => (file.path === one ? { ...file, saved: text, hash, disk: hash } : file))
          : inOrder([...all, opened(saved)]),
      );
    } finally {
      writes.current += 1;
    }
  };
  const begin = (one: string, text: string): void =>
    setFiles(all => inOrder([...all.filter(({ path: name }) => name !== one), begun(one, text)]));
  /** Takes new texts of files and shows them; in the editor they are one undo step. */
  const take = (by: (all: readonly OpenFile[]) => readonly OpenFile[]): void => {
    setFiles(by);
    const { view: editor, path: one } = shown.current ?? {};
    const text = current.current.find(file => file.path === one)?.text;
    if (editor && text !== undefined && !editor.state.toText(text).eq(editor.state.doc)) {
      editor.dispatch(changeTo(editor.state, text));
    }
    setTakes(count => count + 1);
  };
  useDisk({
    files: () => current.current,
    writes: () => writes.current,
    found(there) {
      const { files: next, news } = besideDisk(current.current, there);
      take(() => next);
      if (news.length > 0) announce(inWords(news));
    },
    failed: announce,
  });
  const now = useRef<Bench>(null) as { current: Bench };
  now.current = {
    ...{ now, files, check, checking, message, unsaved, saves, takes, tests, goal, announce, view, show, viewState },
    preview(previewed) {
      viewState.previewed = previewed;
      show('mapping');
    },
    search(query) {
      viewState.search = { text: query, asked: { query } };
      show('search');
    },
    reached: () => setGoal(undefined),
    apply(one, { from, to, insert }) {
      const { view: editor, path: at } = shown.current ?? {};
      if (!editor || at !== one) return;
      editor.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length } });
      editor.focus();
    },
    file: files.find(one => one.path === path),
    open(one) {
      setPath(one);
      setGoal(undefined);
    },
    goTo(place) {
      show('mapping');
      setPath(place.file);
      setGoal({ ...place });
    },
    edited(one, state) {
      alter(one, file => withState(file, state));
    },
    shownIn(editor, one) {
      shown.current = editor && one !== undefined ? { view: editor, path: one } : null;
    },
    rewrite: (one, text) => alter(one, file => rewritten(file, text)),
    append(one, test) {
      if (!current.current.some(({ path: name }) => name === one)) begin(one, '');
      alter(one, file => rewritten(file, withTest(file.text, test)));
    },
    undo: one => alter(one, undone),
    redo: one => alter(one, redone),
    begin,
    async save(one) {
      const file = current.current.find(({ path: name }) => name === one);
      if (!file || file.fixed || !(isUnsaved(file) || isGone(file))) return;
      try {
        await put(one, file.text, file.hash);
        announce(`${one}${SAVED}`);
        setSaves(count => count + 1);
      } catch (error) {
        if (error instanceof Refused && error.status === 409) {
          announce(`${error.message}. “Take the disk’s” shows that text, and then Ctrl+Z yours.`);
        } else announce(error instanceof Error ? error.message : 'The file is not saved');
      }
    },
    async create(one) {
      try {
        const { text, line, column } = await ask<WireBeginning>('begin', { unsaved, path: one });
        await put(one, text, undefined);
        // There is no unsaved text that would request the problems.
        setTakes(count => count + 1);
        now.current.goTo({ file: one, line, column });
        announce(`${one} is made`);
      } catch (error) {
        announce(error instanceof Error ? error.message : 'The file is not made');
      }
    },
    async reload(one) {
      const { files: found } = await ask<WirePack>('pack');
      const there = found.find(({ path: name }) => name === one);
      if (there) take(all => all.map(file => (file.path === one ? withDisk(file, there) : file)));
      announce(there ? `${one} is as on the disk` : `${one} is not on the disk`);
    },
  };
  return now.current;
}

/** Further files are only counted in the message. */
const NEWS = 3;

function inWords(news: readonly string[]): string {
  const more = news.length - NEWS;
  return [...news.slice(0, NEWS), ...(more > 0 ? [`and ${more} more files`] : [])].join('; ');
}

function show(view: string): void {
  location.hash = view;
}

/** Returns the fragment of the URL. */
function useHash(): string {
  const [hash, setHash] = useState(() => location.hash.slice(1));
  useEffect(() => {
    const changed = (): void => setHash(location.hash.slice(1));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return hash;
}
