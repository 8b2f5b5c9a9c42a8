/**
 * What the page does without a browser: texts that other views change are steps of undo, be the file opened in the editor or not; and the
 * lines of a code map.
 */
import { history, undo } from '@codemirror/commands';
import { EditorState } from '@codemirror/state';
import { describe, expect, test } from 'vitest';
import { linesOf } from '../../src/workbench/page/codes/lines.ts';
import { isUnsaved, opened, openedState, rewritten, undone } from '../../src/workbench/page/files.ts';
import type { WireCodeMap, WireHeld } from '../../src/workbench/wire/codes.ts';

const FILE = opened({ path: 'codes.yaml', text: 'one\n', hash: 'h', fixed: false });

function stateOf(text: string): EditorState {
  return EditorState.create({ doc: text, extensions: [history()] });
}

describe('a text that another view changes', () => {
  test('is unsaved, and is taken back step by step', () => {
    const twice = rewritten(rewritten(FILE, 'one\ntwo\n'), 'one\ntwo\nthree\n');
    expect([twice.text, isUnsaved(twice)]).toEqual(['one\ntwo\nthree\n', true]);
    expect(undone(twice).text).toBe('one\ntwo\n');
    expect(undone(undone(twice))).toEqual(FILE);
    expect(undone(FILE)).toEqual(FILE);
    expect(rewritten(twice, twice.text)).toBe(twice);
  });

  test('is undone by the editor that opens the file later', () => {
    const twice = rewritten(rewritten(FILE, 'one\ntwo\n'), 'one\ntwo\nthree\n');
    const seen: string[] = [];
    let state = openedState(twice, stateOf);
    for (let more = true; more; ) {
      seen.push(state.doc.toString());
      more = undo({ state, dispatch: one => (state = one.state) });
    }
    expect(seen).toEqual(['one\ntwo\nthree\n', 'one\ntwo\n', 'one\n']);
    expect(openedState(FILE, stateOf).doc.toString()).toBe('one\n');
  });

  test('is a step of an editor that is open', () => {
    const open = { ...FILE, state: stateOf(FILE.text) };
    const changed = rewritten(open, 'zero\none\n');
    expect(changed.state?.doc.toString()).toBe('zero\none\n');
    expect(undone(changed)).toMatchObject({ text: 'one\n' });
  });
});

const MAP: WireCodeMap = {
  ...{ name: 'sex', kind: 'rows', fixed: false, rows: 1, system: '', fold: true, readers: ['P.SEX', 'Q.SEX'] },
  place: { file: 'codes.yaml', line: 1, column: 1 },
};
const ROW = { raw: 'F', code: 'female', display: '', system: '', place: MAP.place };

function held(...columns: readonly Partial<WireHeld['columns'][number]>[]): WireHeld {
  const column = { table: 'P', column: 'SEX', place: MAP.place, isCode: true, hasElse: false };
  const none = { total: { values: 0, rows: 0 }, unknown: [], known: [] };
  return { columns: columns.map(one => ({ ...column, ...none, ...one })), late: false };
}

describe('the lines of a code map', () => {
  test('begin with what has no row, most rows first, and add up columns and letters of either case', () => {
    const is = held(
      { known: [{ value: 'f', rows: 2 }], unknown: [{ value: 'm', rows: 1, suggestions: [] }] },
      {
        known: [{ value: 'F', rows: 3 }],
        unknown: ['M', 'X'].map((value, i) => ({ value, rows: 4 - i, suggestions: [] })),
      },
    );
    expect(linesOf(MAP, [ROW], is).map(({ raw, count, row }) => [raw, count, row?.code])).toEqual([
      ['m', 5, undefined],
      ['X', 3, undefined],
      ['F', 5, 'female'],
    ]);
  });

  test('a value that was given a row stands among the rows at once, and one that lost its row above', () => {
    const is = held({ known: [{ value: 'F', rows: 2 }], unknown: [{ value: 'M', rows: 1, suggestions: [] }] });
    const lines = linesOf(MAP, [{ ...ROW, raw: 'M', code: 'male' }], is);
    expect(lines.map(({ raw, count, row }) => [raw, count, row?.code])).toEqual([
      ['F', 2, undefined],
      ['M', 1, 'male'],
    ]);
  });

  test('what steps cut is no raw value of the map, and what is not counted has no number', () => {
    const cut = held({ isCode: false, unknown: [{ value: 'A-1', rows: 9, suggestions: [] }] });
    expect(linesOf(MAP, [ROW], cut).map(({ raw }) => raw)).toEqual(['F']);
    expect(linesOf(MAP, [ROW], undefined).map(({ count }) => count)).toEqual([undefined]);
  });
});
