/** The view for writing mappings: files, editor, problems, and a row beside its resource. */

import { EditorView } from '@codemirror/view';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WireProblem, WireVerdicts } from '../../wire/mapping.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import { isBegun, isChanged, isGone, isUnsaved, type OpenFile, openedState } from '../files.ts';
import { PlaceButton } from '../place-button.tsx';
import { completion } from './completion.ts';
import { LOOKS, offsetOf, rangeOfFix, showProblems, stateOf } from './editor.ts';
import { countInWords, newsOf } from './news.ts';
import { PreviewPane } from './preview-pane.tsx';
import { showVerdicts, VERDICTS, verdictAt } from './verdicts.ts';

export function MappingView({ bench }: { readonly bench: Bench }) {
  return (
    <main class="mapping">
      <FileList bench={bench} />
      <section class="writing" aria-label="Editor">
        <Editor bench={bench} />
        <Problems bench={bench} />
      </section>
      <PreviewPane bench={bench} />
    </main>
  );
}

function FileList({ bench }: { readonly bench: Bench }) {
  const [name, setName] = useState('');
  const { files, file, check } = bench;
  const current = useRef<HTMLLIElement>(null);
  useEffect(() => current.current?.scrollIntoView({ block: 'nearest' }), [file?.path]);
  const errors = new Map<string, number>();
  for (const { place, severity } of check?.problems ?? []) {
    if (severity === 'error') errors.set(place.file, (errors.get(place.file) ?? 0) + 1);
  }
  return (
    <nav class="files" aria-label="Files of the pack">
      <ul>
        {files.map(one => (
          <li key={one.path} ref={one.path === file?.path ? current : null}>
            <button
              type="button"
              aria-current={one.path === file?.path ? 'true' : undefined}
              onClick={() => bench.open(one.path)}
            >
              <span title={one.path}>{one.path}</span>
              <Marks file={one} />
              {errors.has(one.path) && (
                <span class="count" title="errors">
                  {errors.get(one.path)}
                  <span class="unseen"> errors</span>
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
      <form
        onSubmit={event => {
          event.preventDefault();
          void bench.create(/\.(ya?ml|csv|json)$/.test(name) ? name : `${name}.yaml`);
          setName('');
        }}
      >
        <label>
          New file{' '}
          <input value={name} onInput={event => setName(event.currentTarget.value)} placeholder="patient.yaml" />
        </label>
        <button type="submit" disabled={name === ''}>
          Make
        </button>
      </form>
    </nav>
  );
}

function Marks({ file }: { readonly file: OpenFile }) {
  return (
    <>
      {isUnsaved(file) && <Mark sign="●" means="not saved" />}
      {isChanged(file) && <Mark sign="≠" means="changed on the disk" />}
      {isGone(file) && !isBegun(file) && <Mark sign="✕" means="gone from the disk" />}
      {file.fixed && <Mark sign="⌁" means="only shown: of a pack below, a link, or JSON that is no guide" />}
    </>
  );
}

function Mark({ sign, means }: { readonly sign: string; readonly means: string }) {
  return (
    <span class="mark" title={means} role="img" aria-label={means}>
      {sign}
    </span>
  );
}

/** One editor, which switches between the states of files. */
function Editor({ bench }: { readonly bench: Bench }) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const shown = useRef<string>(undefined);
  const { file, check, goal, now } = bench;
  useEffect(() => {
    if (!host.current) return;
    const made = new EditorView({ parent: host.current, extensions: LOOKS });
    view.current = made;
    return () => {
      now.current.shownIn(null);
      made.destroy();
    };
  }, []);
  useEffect(() => {
    if (!file || !view.current) return;
    const { path } = file;
    // The editor's own state comes back with a delay; setting it again could lose a key press.
    if (file.state && shown.current === path) return;
    shown.current = path;
    const events = {
      changed: (state: EditorView['state']) => now.current.edited(path, state),
      elsewhere: () => {
        const { check: last, goTo } = now.current;
        const other = last?.problems.find(({ place, severity }) => place.file !== path && severity !== 'notice');
        if (other) goTo(other.place);
        return other !== undefined;
      },
    };
    const words = /\.csv$/.test(path) ? [] : [completion(path, () => now.current.unsaved)];
    const more = /\.ya?ml$/.test(path) ? [...words, VERDICTS] : words;
    const state = file.state ?? openedState(file, text => stateOf({ ...file, text }, events, more));
    view.current.setState(state);
    // Without this the scroll position of the previous file would stay.
    view.current.dispatch({ effects: EditorView.scrollIntoView(state.selection.main.head, { y: 'center' }) });
    bench.shownIn(view.current, path);
    if (!file.state) bench.edited(path, state);
    // From here on the editor owns its state; only another file sets it.
  }, [file?.path, file?.state === undefined]);
  const problems = (check?.problems ?? []).filter(({ place }) => place.file === file?.path);
  useEffect(() => {
    if (view.current) showProblems(view.current, problems);
  }, [check, file?.path]);
  const verdict = useVerdicts(bench, view);
  useEffect(() => {
    const editor = view.current;
    if (!editor || !goal || goal.file !== file?.path) return;
    const at = offsetOf(editor.state.doc, goal);
    editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    editor.focus();
    bench.reached();
  }, [goal, file?.path]);
  return (
    <>
      <div class="bar">
        <h2>{file?.path ?? 'No file'}</h2>
        <button
          type="button"
          disabled={!file || file.fixed || !(isUnsaved(file) || isGone(file))}
          onClick={() => file && void bench.save(file.path)}
        >
          Save
        </button>
        <button type="button" disabled={!file || file.fixed} onClick={() => file && void bench.reload(file.path)}>
          Take the disk’s
        </button>
      </div>
      <div class="editor" ref={host} />
      <output class="law" aria-label="Search of this line">
        {verdict}
      </output>
    </>
  );
}

/** Milliseconds between a check and the request for verdicts, in case another key is pressed. */
const AFTER_CHECK = 300;

/** Shows the verdicts of the file in the editor. Out: the verdict of the cursor's line, in words. */
function useVerdicts(
  { check, checking, file, unsaved, announce, now }: Bench,
  view: { readonly current: EditorView | null },
): string {
  const [said, setSaid] = useState('');
  const path = file?.path;
  useEffect(() => {
    // If the pack has errors, the previous verdicts stay.
    if (path === undefined || checking || check?.mappings === undefined) return;
    const doc = view.current?.state.doc;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      ask<WireVerdicts>('verdicts', { unsaved, path }, abort.signal).then(
        ({ verdicts }) => {
          const editor = view.current;
          // The line numbers refer to the text that was sent.
          if (!verdicts || !editor || editor.state.doc !== doc) return;
          showVerdicts(editor, verdicts);
          now.current.edited(path, editor.state);
        },
        (error: Error) => {
          if (!abort.signal.aborted) announce(error.message);
        },
      );
    }, AFTER_CHECK);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [check, checking, path]);
  useEffect(() => setSaid(file?.state ? verdictAt(file.state) : ''), [file?.state]);
  return said;
}

function Problems({ bench }: { readonly bench: Bench }) {
  const { check, checking, file } = bench;
  const all = check?.problems ?? [];
  const here = all.filter(({ place }) => place.file === file?.path);
  const others = all.filter(({ place }) => place.file !== file?.path);
  const news = useNews(check?.problems);
  return (
    <section class="problems" aria-label="Problems" aria-busy={checking}>
      <h2>
        {countInWords(all)}
        {checking && <span class="quiet"> checking…</span>}
      </h2>
      <p class="unseen" role="status">
        {news}
      </p>
      <ul>
        {[...here, ...others].slice(0, 200).map(problem => (
          <Problem key={`${JSON.stringify(problem.place)}${problem.text}`} problem={problem} bench={bench} />
        ))}
      </ul>
    </section>
  );
}

/** Milliseconds without a new check before new problems are announced: a half-typed word is a problem too. */
const SILENCE = 800;

function useNews(problems: readonly WireProblem[] | undefined): string {
  const [news, setNews] = useState('');
  const last = useRef<readonly WireProblem[]>(undefined);
  useEffect(() => {
    if (problems === undefined) return;
    const timer = setTimeout(() => {
      const found = last.current ? newsOf(last.current, problems) : countInWords(problems);
      last.current = problems;
      if (found !== '') setNews(found);
    }, SILENCE);
    return () => clearTimeout(timer);
  }, [problems]);
  return news;
}

function Problem({ problem, bench }: { readonly problem: WireProblem; readonly bench: Bench }) {
  const { place, severity, text } = problem;
  const state = bench.files.find(({ path }) => path === place.file)?.state;
  const range = state && bench.file?.path === place.file ? rangeOfFix(state.doc, problem) : undefined;
  return (
    <li class={severity}>
      <PlaceButton place={place} bench={bench} />
      <span>
        <b>{severity}</b> {text}
      </span>
      {range && (
        <button type="button" class="fix" disabled={bench.checking} onClick={() => bench.apply(place.file, range)}>
          Change to {range.insert}
        </button>
      )}
    </li>
  );
}
