/**
 * Shows the law's verdicts in the editor: an unobtrusive mark beside each line that gives elements their values, in a
 * gutter on the right, which long lines cannot push away. In: verdicts of the server. Out: an extension, and the full
 * verdict of the cursor's line. Until newer verdicts arrive, a mark moves with the first word of its line and is
 * removed with it.
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

/** Maximum number of elements per line in the full text: a fragment may make those of many mappings. */
const ELEMENTS = 6;

class Mark extends GutterMarker {
  readonly short: Short;
  readonly full: string;

  constructor(verdicts: readonly WireVerdict[]) {
    super();
    this.short = shortOf(verdicts);
    this.full = wholeOf(verdicts);
    // Text typed before the word moves the mark; deleting the word's first letter removes it.
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
      /** Puts the cursor at the end of the clicked line. */
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

/** Returns the full verdict of the cursor's line; empty if it has none. */
export function verdictAt(state: EditorState): string {
  return markAt(state, state.selection.main.head)?.full ?? '';
}

/** Returns the mark on the line of a position. If lines were joined, the first one. */
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

/** Returns the position of the first character that is no blank. */
function wordOf({ from, text }: Line): number {
  return from + Math.max(text.search(/\S/), 0);
}

interface Short {
  /** How searches on this line are executed. */
  readonly how: string;
  /** The search parameters that use it. */
  readonly codes: string;
}

/** Returns `no index` and `family`; `index, computed` and `family, name`. */
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
 * Returns the texts of all elements of a line without duplicates. Also drops a text that another one starts with, such
 * as that of an `else` beside its column.
 */
export function wholeOf(verdicts: readonly WireVerdict[]): string {
  const texts = [...new Set(verdicts.map(fullOf))];
  const all = texts.filter(one => !texts.some(other => other !== one && other.startsWith(one)));
  const more = all.length - ELEMENTS;
  return [...all.slice(0, ELEMENTS), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
}

/**
 * Returns `name.family: searched by Patient?family and Patient?name as it is stored. No index begins with
 * PERSON.SURNAME.`
 */
export function fullOf({ type, element, searches, withoutIndex }: WireVerdict): string {
  if (searches.length === 0) return `${element}: no search parameter uses it.`;
  const by = (wanted: How): string =>
    searches.flatMap(({ code, how }) => (how === wanted ? [`${type}?${code}`] : [])).join(', ');
  const [offered, computed, none] = [by('offered'), by('computed'), by('none')];
  const parts = [
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
  return `${element}: ${parts.join('; ')}.${index}`;
}
