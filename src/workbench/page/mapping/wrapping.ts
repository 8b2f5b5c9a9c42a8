/**
 * Wraps long lines, each below its own indentation, so that what belongs together in YAML still looks so.
 */
import { type Extension, RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** Characters of indentation; lines with more are wrapped as these. */
const MOST = 24;
/** What follows stands so many characters further in. */
const MORE = 2;

const LINES: readonly Decoration[] = Array.from({ length: MOST + 1 }, (_, indent) =>
  Decoration.line({ class: `cm-hang-${indent}` }),
);

/** Classes: the policy of the page lets no element have a style of its own. */
const THEME = EditorView.theme(
  Object.fromEntries(
    LINES.map((_, indent) => [
      `.cm-line.cm-hang-${indent}`,
      { textIndent: `-${indent + MORE}ch`, paddingLeft: `calc(6px + ${indent + MORE}ch)` },
    ]),
  ),
);

const HANGING = ViewPlugin.fromClass(
  class {
    lines: DecorationSet;

    constructor(view: EditorView) {
      this.lines = linesOf(view);
    }

    update({ docChanged, viewportChanged, view }: ViewUpdate): void {
      if (docChanged || viewportChanged) this.lines = linesOf(view);
    }
  },
  { decorations: ({ lines }) => lines },
);

export const WRAPPING: Extension = [EditorView.lineWrapping, THEME, HANGING];

function linesOf({ state, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = state.doc.lineAt(at);
      const indent = Math.min(Math.max(line.text.search(/[^ ]/), 0), MOST);
      const decoration = LINES[indent];
      if (decoration) builder.add(line.from, line.from, decoration);
      at = line.to + 1;
    }
  }
  return builder.finish();
}
