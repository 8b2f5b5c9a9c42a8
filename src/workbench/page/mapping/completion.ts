/**
 * Completion in the editor, with options from the server. In: the path of the file and the unsaved texts of the others.
 * Out: an extension. Opens while typing, and by Ctrl+Space.
 */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import type { Extension } from '@codemirror/state';
import { type EditorView, keymap } from '@codemirror/view';
import type { Unsaved, WireCompletion, WireOption } from '../../wire/mapping.ts';
import { ask } from '../ask.ts';

const ICONS: Readonly<Record<WireOption['kind'], string>> = {
  keyword: 'keyword',
  element: 'property',
  column: 'variable',
  table: 'class',
  codec: 'function',
  'code map': 'enum',
  mapping: 'interface',
  system: 'namespace',
  value: 'constant',
};

/** Text before the cursor that opens the completion automatically. */
const OPENS = /(?:[\w$#.]|^\s+|[:[{,-] )$/;
/** The same in files of searches. */
const OPENS_SEARCHES = /(?:[\w$#.?&=]|^\s+|[:[{,-] )$/;
/** The same in guides, whose texts have a notation of their own. */
const OPENS_JSON = /(?:[\w.]|^\s+|[:[{,] |[[("/:→=+])$/;

export function completion(path: string, unsaved: () => Unsaved): Extension {
  const isJson = path.endsWith('.json');
  const source = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const { state, pos, explicit } = context;
    const line = state.doc.lineAt(pos);
    const opens = isJson ? OPENS_JSON : /(?:^|\/)(?:access|ccds)\.yaml$/.test(path) ? OPENS_SEARCHES : OPENS;
    if (!explicit && !opens.test(line.text.slice(0, pos - line.from))) return null;
    const abort = new AbortController();
    context.addEventListener('abort', () => abort.abort());
    const { [path]: _, ...others } = unsaved();
    const body = { unsaved: others, path, text: state.doc.toString(), offset: pos };
    // A failure only means no completion; typing is not affected.
    const found = await ask<WireCompletion>('complete', body, abort.signal).catch(() => undefined);
    if (!found || found.options.length === 0) return null;
    const options = found.options.map(option => optionOf(option, isJson));
    return { from: found.from, options, ...(found.isCut ? {} : { validFor: /^[\w.$#/-]*$/ }) };
  };
  return [autocompletion({ override: [source], icons: false }), keymap.of(completionKeymap)];
}

function optionOf({ label, kind, detail, info, key, opens, boost }: WireOption, isJson: boolean): Completion {
  return {
    ...{ label, type: ICONS[kind] },
    detail: detail ?? kind,
    ...(info === undefined || info === '' ? {} : { info }),
    ...(boost === undefined ? {} : { boost }),
    apply: (view, _, from, to) =>
      isJson
        ? insertJson(view, from, to, label, key ?? false)
        : insert(view, from, to, label, { key: key ?? false, opens: opens ?? false }),
  };
}

/**
 * Inserts a word in quotes, unless the cursor is within quotes or the word is `true` or `false`; a key with its colon.
 */
function insertJson(view: EditorView, from: number, to: number, label: string, key: boolean): void {
  const line = view.state.doc.lineAt(from);
  const before = line.text.slice(0, from - line.from).replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  const isQuoted = before.includes('"');
  const after = view.state.doc.sliceString(to, line.to);
  const isText = key || !/^(?:true|false)$/.test(label);
  const closes = key && isQuoted && after.startsWith('"');
  const colon = key && !/^"?\s*:/.test(after) ? ': ' : '';
  const end = key || (isText && !isQuoted) ? '"' : '';
  const text = `${isText && !isQuoted ? '"' : ''}${label}${end}${colon}`;
  view.dispatch({
    changes: { from, to: closes ? to + 1 : to, insert: text },
    selection: { anchor: from + text.length },
  });
}

/** Inserts a word; a key with its colon, on a new line if a value was expected. */
function insert(
  view: EditorView,
  from: number,
  to: number,
  label: string,
  { key, opens }: { readonly key: boolean; readonly opens: boolean },
): void {
  const line = view.state.doc.lineAt(from);
  const after = view.state.doc.sliceString(to, line.to);
  const [indent = ''] = /^\s*(?:- )*/.exec(line.text) ?? [];
  const before = opens && key ? `\n${' '.repeat(indent.length + 2)}` : '';
  const text = `${before}${label}${key && !/^\s*:/.test(after) ? ': ' : ''}`;
  const start = before === '' ? from : from - (/ *$/.exec(line.text.slice(0, from - line.from))?.[0].length ?? 0);
  view.dispatch({ changes: { from: start, to, insert: text }, selection: { anchor: start + text.length } });
}
