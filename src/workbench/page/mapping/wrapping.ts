/** Wraps long lines, each with its own indentation, so that the structure of YAML stays visible. */
import { type Extension, RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** Maximum indentation in characters; deeper lines are treated as this. */
const MOST = 24;
/** Additional indentation of continuation lines, in characters. */
const MORE = 2;

const LINES: readonly Decoration[] = Array.from({ length: MOST + 1 }, (_, indent) =>
  Decoration.line({ class: `cm-hang-${indent}` }),
);

/** Uses classes, because the policy of the page forbids inline styles. */
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
