/**
 * The law's verdicts in the editor: a quiet mark beside each line that gives elements their values, in a gutter on the
 * right, which no long line pushes away. In: verdicts of the server. Out: an extension, and the verdict of the line of
 * the cursor in full. A mark moves with the first word of its line, or goes with it, until there are newer ones.
 */
import {
  type EditorState,
  type Extension,
  type Line,
  MapMode,
  RangeSet,
  StateEffect,
  StateField,
  type Text,
  type TransactionSpec,
} from '@codemirror/state';
import { GutterMarker, gutter } from '@codemirror/view';
import type { WireVerdict } from '../../wire/mapping.ts';

/** Elements of one line that are told in full: a fragment may make those of many mappings. */
const ELEMENTS = 6;

class Mark extends GutterMarker {
  readonly short: Short;
  readonly full: string;

  constructor(verdicts: readonly WireVerdict[]) {
    super();
    this.short = shortOf(verdicts);
    this.full = wholeOf(verdicts);
    // What is typed before the word moves it; it goes with its first letter.
    this.startSide = 1;
    this.endSide = 1;
    this.mapMode = MapMode.TrackAfter;
  }

  override eq(other: Mark): boolean {
    const { how, codes } = this.short;
    return other.short.how === how && other.short.codes === codes && other.full === this.full;
  }

  override toDOM(): HTMLElement {
    const { how, codes } = this.short;
    const mark = document.createElement('span');
    mark.className = 'verdict';
    mark.title = this.full;
    const by = document.createElement('span');
    by.textContent = codes;
    mark.append(how, by);
    return mark;
  }
}

const SET = StateEffect.define<readonly WireVerdict[]>();

const MARKS = StateField.define<RangeSet<Mark>>({
  create: () => RangeSet.empty,
  update(marks, { changes, effects, newDoc }) {
    let found = marks.map(changes);
    for (const effect of effects) if (effect.is(SET)) found = marksOf(newDoc, effect.value);
    return found;
  },
});

export const VERDICTS: Extension = [
  MARKS,
  gutter({
    class: 'verdicts',
    side: 'after',
    lineMarker: ({ state }, { from }) => markAt(state, from) ?? null,
    lineMarkerChange: ({ startState, state }) => startState.field(MARKS) !== state.field(MARKS),
    domEventHandlers: {
      /** A press puts the cursor at the end of the line. */
      mousedown(view, { from }) {
        view.dispatch({ selection: { anchor: view.state.doc.lineAt(from).to } });
        view.focus();
        return true;
      },
    },
  }),
];

export function showVerdicts(view: { dispatch(one: TransactionSpec): void }, verdicts: readonly WireVerdict[]): void {
  view.dispatch({ effects: SET.of(verdicts) });
}

/** The verdict of the line of the cursor, in full; empty: it has none. */
export function verdictAt(state: EditorState): string {
  return markAt(state, state.selection.main.head)?.full ?? '';
}

/** That of the line of a position. Of lines that were joined it is the first. */
function markAt(state: EditorState, position: number): Mark | undefined {
  const { from, to } = state.doc.lineAt(position);
  let found: Mark | undefined;
  state.field(MARKS, false)?.between(from, to, (_from, _to, mark) => {
    found = mark;
    return false;
  });
  return found;
}

function marksOf(doc: Text, verdicts: readonly WireVerdict[]): RangeSet<Mark> {
  const byLine = Map.groupBy(verdicts, ({ line }) => line);
  const marks = [...byLine].flatMap(([line, own]) =>
    line > doc.lines ? [] : [new Mark(own).range(wordOf(doc.line(line)))],
  );
  return RangeSet.of(marks, true);
}

/** Where the text of a line begins. */
function wordOf({ from, text }: Line): number {
  return from + Math.max(text.search(/\S/), 0);
}

interface Short {
  /** What a search for the line comes to. */
  readonly how: string;
  /** The parameters by which it can be searched. */
  readonly codes: string;
}

/** `no index` and `family`; `index, computed` and `family, name` */
export function shortOf(verdicts: readonly WireVerdict[]): Short {
  const all = verdicts.flatMap(({ searches }) => searches);
  const codes = (wanted: How): readonly string[] => all.flatMap(({ code, how }) => (how === wanted ? [code] : []));
  const [offered, computed] = [codes('offered'), codes('computed')];
  if (offered.length + computed.length === 0) return { how: all.length === 0 ? '–' : 'not searchable', codes: '' };
  const indexes = verdicts.flatMap(({ withoutIndex }) => (withoutIndex ? [withoutIndex.length === 0] : []));
  const index = indexes.length === 0 ? 'offered' : indexes.includes(false) ? 'no index' : 'index';
  return {
    how: [...(offered.length === 0 ? [] : [index]), ...(computed.length === 0 ? [] : ['computed'])].join(', '),
    codes: [...new Set([...offered, ...computed])].join(', '),
  };
}

type How = WireVerdict['searches'][number]['how'];

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
  if (searches.length === 0) return `${element}: no search parameter uses it.`;
  const by = (wanted: How): string =>
    searches.flatMap(({ code, how }) => (how === wanted ? [`${type}?${code}`] : [])).join(', ');
  const [offered, computed, none] = [by('offered'), by('computed'), by('none')];
  const told = [
    ...(offered === '' ? [] : [`searched by ${offered} as it is stored`]),
    ...(computed === '' ? [] : [`computed from it by ${computed}, which no plain index serves`]),
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
