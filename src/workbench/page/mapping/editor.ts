/**
 * The editor: CodeMirror with YAML and JSON, lines, search, undo and marks of problems. In: a file and problems. Out:
 * every change of its text.
 */
import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Action, type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { WirePlace, WireProblem } from '../../wire/mapping.ts';
import { WRAPPING } from './wrapping.ts';

/** Colors that follow light and dark mode. */
const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
]);

const THEME = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--sheet)', color: 'var(--ink)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '13px', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'var(--ground)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-gutters.cm-gutters-after': { borderRight: 'none', borderLeft: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--active)' },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selected) !important' },
  '.cm-tooltip, .cm-panels': { backgroundColor: 'var(--sheet)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--sheet)' },
});

/** The nonce that the Content-Security-Policy of the page requires for styles. */
const NONCE = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';

/** Extensions for every editor of the page. */
export const LOOKS: readonly Extension[] = [
  EditorView.cspNonce.of(NONCE),
  THEME,
  syntaxHighlighting(HIGHLIGHT),
  syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
];

/** Hint for keyboard users, because Tab indents. */
const LEAVING = 'Escape, then Tab, leaves the editor';

export interface EditorEvents {
  readonly changed: (state: EditorState) => void;
  /** Goes to a problem in another file; returns whether there is one. */
  readonly elsewhere: () => boolean;
}

/** Returns the state of a file that is opened for the first time. `more`: further extensions, such as completion. */
export function stateOf(
  { path, text, fixed }: { readonly path: string; readonly text: string; readonly fixed: boolean },
  { changed, elsewhere }: EditorEvents,
  more: readonly Extension[] = [],
): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      ...LOOKS,
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      history(),
      foldGutter(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      WRAPPING,
      closeBrackets(),
      indentUnit.of('  '),
      lintGutter(),
      /\.ya?ml$/.test(path) ? yaml() : path.endsWith('.json') ? json() : [],
      EditorState.readOnly.of(fixed),
      EditorView.contentAttributes.of({ 'aria-label': `Text of ${path}`, 'aria-description': LEAVING }),
      keymap.of([
        ...closeBracketsKeymap,
        ...lintKeymap,
        // Runs if the editor's own F8 finds no problem in the file.
        { key: 'F8', run: elsewhere },
        ...searchKeymap,
        ...historyKeymap,
        ...foldKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of(update => {
        if (update.docChanged || update.selectionSet) changed(update.state);
      }),
      ...more,
    ],
  });
}

/** Returns the offset of a line and column, limited to the current text. */
export function offsetOf(doc: Text, { line, column }: Pick<WirePlace, 'line' | 'column'>): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + column - 1, found.to);
}

interface Fix {
  readonly from: number;
  readonly to: number;
  readonly found: string;
  readonly insert: string;
}

/** Returns the range that a fix replaces: `found` at the problem's place, else its first occurrence on the line. */
export function rangeOfFix(doc: Text, { place, fix }: WireProblem): Fix | undefined {
  if (fix === undefined || place.line > doc.lines) return undefined;
  const line = doc.line(place.line);
  const after = line.text.indexOf(fix.found, place.column - 1);
  const at = after >= 0 ? after : line.text.indexOf(fix.found);
  if (at < 0) return undefined;
  const { found, suggestion: insert } = fix;
  return { from: line.from + at, to: line.from + at + found.length, found, insert };
}

/** Applies a fix only if its text is still there, so that newer edits are not overwritten. */
function replace(view: EditorView, { from, to, found, insert }: Fix): void {
  if (view.state.sliceDoc(from, to) === found) view.dispatch({ changes: { from, to, insert } });
}

/** Marks problems at their places. */
export function showProblems(view: EditorView, problems: readonly WireProblem[]): void {
  const { doc } = view.state;
  view.dispatch(
    setDiagnostics(
      view.state,
      problems.map(problem => diagnosticOf(doc, problem)),
    ),
  );
}

function diagnosticOf(doc: Text, problem: WireProblem): Diagnostic {
  const start = offsetOf(doc, problem.place);
  const line = doc.lineAt(start);
  const range = rangeOfFix(doc, problem);
  const [word = ''] = /^[^\s,:[\]{}]+/.exec(doc.sliceString(start, line.to)) ?? [];
  const actions: Action[] = range
    ? [{ name: `Change to ${range.insert}`, apply: (view, from, to) => replace(view, { ...range, from, to }) }]
    : [];
  return {
    from: range?.from ?? start,
    to: range?.to ?? Math.max(start + word.length, Math.min(start + 1, line.to)),
    severity: problem.severity === 'notice' ? 'info' : problem.severity,
    message: problem.text,
    actions,
  };
}
