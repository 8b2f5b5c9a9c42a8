/**
 * The law's verdicts in the editor: a quiet mark at the end of each line that gives elements their values. In: verdicts
 * of the server. Out: an extension, and the verdict of the line of the cursor in full. Marks move with the text until
 * there are newer ones.
 */
import { type EditorState, type Extension, StateEffect, StateField, type Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';
import type { WireVerdict } from '../../wire/mapping.ts';

/** Codes that a mark names. */
const CODES = 4;
/** Elements of one line that are told in full: a fragment may make those of many mappings. */
const ELEMENTS = 6;

class Mark extends WidgetType {
  readonly short: string;
  readonly full: string;

  constructor(verdicts: readonly WireVerdict[]) {
    super();
    this.short = shortOf(verdicts);
    this.full = wholeOf(verdicts);
  }

  override eq(other: Mark): boolean {
    return other.short === this.short && other.full === this.full;
  }

  /** A press on it puts the cursor on its line. */
  override ignoreEvent(): boolean {
    return false;
  }

  override toDOM(): HTMLElement {
    const span = document.createElement('span');
    span.className = 'verdict';
    span.title = this.full;
    span.textContent = this.short;
    return span;
  }
}

const SET = StateEffect.define<readonly WireVerdict[]>();

const MARKS = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects, newDoc }) {
    let found = marks.map(changes);
    for (const effect of effects) if (effect.is(SET)) found = marksOf(newDoc, effect.value);
    return found;
  },
  provide: field => EditorView.decorations.from(field),
});

export const VERDICTS: Extension = MARKS;

export function showVerdicts(view: EditorView, verdicts: readonly WireVerdict[]): void {
  view.dispatch({ effects: SET.of(verdicts) });
}

/** The verdict of the line of the cursor, in full; empty: it has none. */
export function verdictAt(state: EditorState): string {
  const { from, to } = state.doc.lineAt(state.selection.main.head);
  let found = '';
  state.field(MARKS, false)?.between(from, to, (_from, _to, { spec }) => {
    found = (spec as { readonly widget: Mark }).widget.full;
  });
  return found;
}

function marksOf(doc: Text, verdicts: readonly WireVerdict[]): DecorationSet {
  const byLine = Map.groupBy(verdicts, ({ line }) => line);
  const marks = [...byLine].flatMap(([line, own]) =>
    line > doc.lines ? [] : [Decoration.widget({ widget: new Mark(own), side: 1 }).range(doc.line(line).to)],
  );
  return Decoration.set(marks, true);
}

/** `family, name · no index`, `gender · computed: name` */
export function shortOf(verdicts: readonly WireVerdict[]): string {
  const all = verdicts.flatMap(({ searches }) => searches);
  const codes = (wanted: How): readonly string[] => [
    ...new Set(all.filter(({ how }) => how === wanted).map(({ code }) => code)),
  ];
  const [offered, computed] = [codes('offered'), codes('computed')];
  if (offered.length + computed.length === 0) return all.length === 0 ? '–' : 'not searchable';
  const indexes = verdicts.flatMap(({ withoutIndex }) => (withoutIndex ? [withoutIndex.length === 0] : []));
  return [
    ...(offered.length === 0 ? [] : [listOf(offered)]),
    ...(indexes.length === 0 ? [] : [indexes.includes(false) ? 'no index' : 'index']),
    ...(computed.length === 0 ? [] : [`computed: ${listOf(computed)}`]),
  ].join(' · ');
}

type How = WireVerdict['searches'][number]['how'];

function listOf(codes: readonly string[]): string {
  const more = codes.length - CODES;
  return `${codes.slice(0, CODES).join(', ')}${more > 0 ? ` +${more}` : ''}`;
}

/**
 * Of all elements of a line, each once: one that another begins with (an `else` beside its column) says nothing more.
 */
export function wholeOf(verdicts: readonly WireVerdict[]): string {
  const told = [...new Set(verdicts.map(fullOf))];
  const all = told.filter(one => !told.some(other => other !== one && other.startsWith(one)));
  const more = all.length - ELEMENTS;
  return [...all.slice(0, ELEMENTS), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
}

/** `name.family: searched by Patient?family and Patient?name as it is stored. No index begins with PERSON.SURNAME.` */
export function fullOf({ type, element, searches, withoutIndex }: WireVerdict): string {
  if (searches.length === 0) return `${element}: no search parameter leads here.`;
  const by = (wanted: How): string =>
    searches.flatMap(({ code, how }) => (how === wanted ? [`${type}?${code}`] : [])).join(', ');
  const [offered, computed, none] = [by('offered'), by('computed'), by('none')];
  const told = [
    ...(offered === '' ? [] : [`searched by ${offered} as it is stored`]),
    ...(computed === '' ? [] : [`worked out from it by ${computed}, which no plain index serves`]),
    ...(none === '' ? [] : [`not searched by ${none}`]),
  ];
  const index =
    withoutIndex === undefined
      ? ''
      : withoutIndex.length === 0
        ? ' An index serves that.'
        : ` No index begins with ${withoutIndex.join(', ')}.`;
  return `${element}: ${told.join('; ')}.${index}`;
}
