/** The input for a search: one line of CodeMirror with completion. Enter runs it, Ctrl+Space completes. */
import { acceptCompletion, autocompletion, completionKeymap, startCompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import type { WireParameter } from '../../wire/search.ts';
import { completed } from '../../wire/search-text.ts';
import { LOOKS } from '../mapping/editor.ts';

interface Parts {
  readonly text: string;
  /** Types that can be searched; empty until they are loaded. */
  readonly types: readonly string[];
  /** Loads the parameters of a type. */
  readonly load: (type: string) => Promise<readonly WireParameter[]>;
  readonly changed: (text: string) => void;
  readonly run: (text: string) => void;
}

export function QueryBox(parts: Parts) {
  const host = useRef<HTMLDivElement>(null);
  const box = useRef<EditorView>(null);
  const latest = useRef(parts);
  latest.current = parts;
  useEffect(() => {
    if (!host.current) return;
    const view = new EditorView({ parent: host.current, state: stateOf(parts.text, () => latest.current) });
    box.current = view;
    view.focus();
    return () => view.destroy();
  }, []);
  useEffect(() => {
    // If the user typed before the types were loaded, offer them now.
    if (box.current?.hasFocus && box.current.state.doc.length > 0) startCompletion(box.current);
  }, [parts.types.length === 0]);
  return <div class="query" ref={host} />;
}

function stateOf(text: string, parts: () => Parts): EditorState {
  return EditorState.create({
    doc: text,
    selection: { anchor: text.length },
    extensions: [
      ...LOOKS,
      history(),
      placeholder('Patient?name=smith'),
      EditorState.transactionFilter.of(change => (change.newDoc.lines > 1 ? [] : change)),
      EditorView.contentAttributes.of({ 'aria-label': 'FHIR search' }),
      EditorView.lineWrapping,
      autocompletion({
        override: [
          async ({ state, pos }) => {
            const { types, load } = parts();
            const found = await completed(state.sliceDoc(0, pos), types, load);
            if (!found) return null;
            // Parameters of the type come before those of all types.
            const options = found.choices.map(one => ({ ...one, boost: one.label.startsWith('_') ? -1 : 0 }));
            return { from: found.from, options, validFor: /^[\w-]*$/ };
          },
        ],
        activateOnCompletion: ({ apply }) => typeof apply === 'string' && /[?:.=]$/.test(apply),
        icons: false,
      }),
      // Enter and Tab accept a completion while there is one.
      Prec.highest(keymap.of([...completionKeymap, { key: 'Tab', run: acceptCompletion }])),
      keymap.of([
        { key: 'Enter', run: view => run(view, parts()) },
        { key: 'Mod-Enter', run: view => run(view, parts()) },
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) parts().changed(state.doc.toString());
      }),
    ],
  });
}

function run(view: EditorView, parts: Parts): boolean {
  parts.run(view.state.doc.toString());
  return true;
}
