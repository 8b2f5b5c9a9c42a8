/**
 * Logic of the page without a browser: text changes by other views are undo steps, whether the file is open in the
 * editor or not; changes by other programs are accepted or reported; and the lines of a code map.
 */
import { history, undo } from '@codemirror/commands';
import { EditorState } from '@codemirror/state';
import { describe, expect, test } from 'vitest';
import { linesOf, rowsWithout } from '../../src/workbench/page/codes/lines.ts';
import {
  besideDisk,
  differs,
  isChanged,
  isGone,
  isUnsaved,
  type OpenFile,
  opened,
  openedState,
  redone,
  rewritten,
  undone,
  withState,
} from '../../src/workbench/page/files.ts';
import type { WireCodeMap, WireHeld } from '../../src/workbench/wire/codes.ts';

const FILE = opened({ path: 'codes.yaml', text: 'one\n', hash: 'h', fixed: false });

function stateOf(text: string): EditorState {
  return EditorState.create({ doc: text, extensions: [history()] });
}

describe('a text that another view changes', () => {
  test('is unsaved, and can be undone step by step', () => {
    const twice = rewritten(rewritten(FILE, 'one\ntwo\n'), 'one\ntwo\nthree\n');
    expect([twice.text, isUnsaved(twice)]).toEqual(['one\ntwo\nthree\n', true]);
    expect(undone(twice).text).toBe('one\ntwo\n');
    expect(undone(undone(twice))).toMatchObject({ text: 'one\n', before: [] });
    expect(redone(undone(twice)).text).toBe(twice.text);
    expect(redone(redone(undone(undone(twice))))).toEqual(twice);
    // A new change replaces the steps to redo.
    expect(redone(rewritten(undone(twice), 'four\n')).text).toBe('four\n');
    expect(undone(FILE)).toEqual(FILE);
    expect(rewritten(twice, twice.text)).toBe(twice);
  });

  test('can be undone in the editor that opens the file later', () => {
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

  test('is an undo step of an open editor', () => {
    const open = { ...FILE, state: stateOf(FILE.text) };
    const changed = rewritten(open, 'zero\none\n');
    expect(changed.state?.doc.toString()).toBe('zero\none\n');
    expect(undone(changed)).toMatchObject({ text: 'one\n' });
    expect(redone(undone(changed))).toMatchObject({ text: 'zero\none\n' });
  });
});

describe('a file whose lines end with CR and LF', () => {
  const CRLF = opened({ path: 'codes.yaml', text: 'one\r\ntwo\r\n', hash: 'h', fixed: false });
  const open = { ...CRLF, state: stateOf(CRLF.text) };
  const typed = (file: OpenFile): OpenFile => {
    const state = file.state ?? stateOf(file.text);
    return withState(file, state.update({ changes: { from: 3, insert: '\nmore' } }).state);
  };

  test('keeps its line ends when edited, and is unchanged after undo', () => {
    expect(typed(open).text).toBe('one\r\nmore\r\ntwo\r\n');
    const back = undone(typed(open));
    expect([back.text, isUnsaved(back)]).toEqual([CRLF.text, false]);
    expect(redone(back).text).toBe('one\r\nmore\r\ntwo\r\n');
    // A move of the cursor changes no text.
    expect(withState(open, open.state.update({ selection: { anchor: 2 } }).state).text).toBe(CRLF.text);
  });

  test('keeps them when another view changes it', () => {
    for (const file of [CRLF, open]) {
      expect(rewritten(file, 'one\r\nnew\ntwo\r\n').text).toBe('one\r\nnew\r\ntwo\r\n');
    }
  });

  test('uses those on disk', () => {
    const there = { path: 'codes.yaml', text: 'one\ntwo\n', hash: 'o', fixed: false };
    const [taken = CRLF] = besideDisk([open], [there]).files;
    expect([taken.text, isUnsaved(taken)]).toEqual(['one\ntwo\n', false]);
    expect(typed(taken).text).toBe('one\nmore\ntwo\n');
    const both = { ...there, text: 'one\r\ntwo\n' };
    const [mixed = CRLF] = besideDisk([open], [both]).files;
    expect([mixed.text, isUnsaved(mixed)]).toEqual([both.text, false]);
    const first = opened(both);
    expect(isUnsaved(withState(first, stateOf(first.text)))).toBe(false);
  });
});

describe('the disk, where another program writes,', () => {
  const ON_DISK = { path: 'codes.yaml', text: 'other\n', hash: 'o', fixed: false };

  test('updates an unchanged file, and undo restores its text', () => {
    for (const file of [FILE, { ...FILE, state: stateOf(FILE.text) }]) {
      const { files, news } = besideDisk([file], [ON_DISK]);
      expect(files).toMatchObject([{ text: 'other\n', saved: 'other\n', hash: 'o', disk: 'o' }]);
      expect(news).toEqual(['codes.yaml was changed on the disk and read again']);
      const [taken = FILE] = files;
      expect([isUnsaved(taken), isChanged(taken), isGone(taken)]).toEqual([false, false, false]);
      expect(undone(taken)).toMatchObject({ text: 'one\n', hash: 'o' });
      expect(besideDisk(files, [ON_DISK])).toEqual({ files, news: [] });
    }
  });

  test('does not overwrite an unsaved text, reports that once, and refuses a save', () => {
    const mine = rewritten(FILE, 'mine\n');
    const { files, news } = besideDisk([mine], [ON_DISK]);
    expect(files).toEqual([{ ...mine, disk: 'o' }]);
    expect(files.map(isChanged)).toEqual([true]);
    expect(news).toEqual([expect.stringMatching(/^codes\.yaml was changed on the disk, and your text is not saved/)]);
    expect(besideDisk(files, [ON_DISK])).toEqual({ files, news: [] });
    const { path, fixed } = FILE;
    expect(besideDisk(files, [{ path, fixed, text: 'one\n', hash: 'h' }])).toEqual({ files: [mine], news: [] });
    expect(besideDisk(files, [{ path, fixed, text: 'mine\n', hash: 'm' }]).files.map(isUnsaved)).toEqual([false]);
  });

  test('may lose a file, which stays open, and regain it', () => {
    const gone = besideDisk([FILE], []);
    expect(gone.news).toEqual(['codes.yaml was removed from the disk; Save writes it again']);
    expect(gone.files).toMatchObject([{ text: 'one\n', hash: undefined }]);
    expect(gone.files.map(isGone)).toEqual([true]);
    expect(besideDisk(gone.files, [])).toEqual({ files: gone.files, news: [] });
    expect(besideDisk(gone.files, [ON_DISK]).files).toMatchObject([{ text: 'other\n', hash: 'o' }]);
    const mine = besideDisk([rewritten(FILE, 'mine\n')], []).files;
    expect(besideDisk(mine, [ON_DISK]).files).toMatchObject([{ text: 'mine\n', hash: undefined, disk: 'o' }]);
  });

  test('may have a new file, which is listed in its place', () => {
    const { files, news } = besideDisk(
      [FILE],
      [
        { ...ON_DISK, path: 'a.yaml' },
        { ...ON_DISK, hash: 'h' },
      ],
    );
    expect(files.map(({ path }) => path)).toEqual(['a.yaml', 'codes.yaml']);
    expect(news).toEqual(['a.yaml is new on the disk']);
  });

  test('differs if a hash differs, or a file is missing or new', () => {
    const known = [FILE, ...besideDisk([opened(ON_DISK)], []).files];
    expect(differs(known, { 'codes.yaml': 'h' })).toBe(false);
    for (const hashes of [{ 'codes.yaml': 'o' }, {}, { 'codes.yaml': 'h', 'a.yaml': 'a' }, { 'a.yaml': 'h' }])
      expect(differs(known, hashes)).toBe(true);
  });
});

const MAP: WireCodeMap = {
  ...{ name: 'sex', kind: 'rows', fixed: false, rows: 1, system: '', fold: true, readers: ['P.SEX', 'Q.SEX'] },
  place: { file: 'codes.yaml', line: 1, column: 1 },
};
const ROW = { raw: 'F', code: 'female', display: '', system: '', place: MAP.place };

function held(...columns: readonly Partial<WireHeld['columns'][number]>[]): WireHeld {
  const column = { table: 'P', column: 'SEX', place: MAP.place, isCode: true, hasElse: false, ownElse: undefined };
  const none = { total: { values: 0, rows: 0 }, unknown: [], known: [] };
  return { columns: columns.map(one => ({ ...column, ...none, ...one })), late: false };
}

describe('the lines of a code map', () => {
  test('begin with values without a row, most frequent first, merging columns and case', () => {
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

  test('move a value that gets a row to the rows at once, and one that loses its row to the top', () => {
    const is = held({ known: [{ value: 'F', rows: 2 }], unknown: [{ value: 'M', rows: 1, suggestions: [] }] });
    const lines = linesOf(MAP, [{ ...ROW, raw: 'M', code: 'male' }], is);
    expect(lines.map(({ raw, count, row }) => [raw, count, row?.code])).toEqual([
      ['F', 2, undefined],
      ['M', 1, 'male'],
    ]);
  });

  test('have the number of rows with unmapped values, by the current map', () => {
    const total = { values: 3, rows: 100 };
    const is = held(
      {
        ...{ total, known: [{ value: 'F', rows: 2 }] },
        unknown: ['M', 'X'].map((value, i) => ({ value, rows: 4 - i, suggestions: [] })),
      },
      { isCode: false, total: { values: 1, rows: 5 }, unknown: [{ value: 'A-1', rows: 5, suggestions: [] }] },
    );
    expect(rowsWithout(linesOf(MAP, [ROW], is), is)).toBe(105);
    expect(rowsWithout(linesOf(MAP, [ROW, { ...ROW, raw: 'm' }], is), is)).toBe(101);
    expect(rowsWithout(linesOf(MAP, [], is), is)).toBe(107);
  });

  test('omit values that text steps change, and have no number before counting', () => {
    const cut = held({ isCode: false, unknown: [{ value: 'A-1', rows: 9, suggestions: [] }] });
    expect(linesOf(MAP, [ROW], cut).map(({ raw }) => raw)).toEqual(['F']);
    expect(linesOf(MAP, [ROW], undefined).map(({ count }) => count)).toEqual([undefined]);
  });
});
