/**
 * Verdicts of the law on the elements of a file: the same as those of `lintel check --parameters`, element by element.
 */
import { EditorState, type TransactionSpec } from '@codemirror/state';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  fullOf,
  shortOf,
  showVerdicts,
  VERDICTS,
  verdictAt,
  wholeOf,
} from '../../src/workbench/page/mapping/verdicts.ts';
import type { WireVerdict, WireVerdicts } from '../../src/workbench/wire/mapping.ts';
import { type OpenedBench, openBench } from './opened-bench.ts';

const QUANTITY = 'combo-value-quantity, value-quantity, code-value-quantity, combo-code-value-quantity';
const SURNAMES = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME }, text: { from: SURNAME } } ]
  gender: { from: SEX, via: sex }
  maritalStatus: { text: { from: SEX } }
  deceasedBoolean: false
`;

describe('the verdicts of a file', () => {
  let bench: OpenedBench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench.close());

  const verdicts = (path: string, unsaved: Record<string, string> = {}): Promise<WireVerdicts> =>
    bench.asked('verdicts', { unsaved, path });
  const told = ({ verdicts: all }: WireVerdicts): readonly string[] =>
    (all ?? []).map(one => {
      const { how, codes } = shortOf([one]);
      return `${one.line} ${one.element}: ${how}${codes && ': '}${codes}`;
    });

  test('name the parameters of an element, and whether an index begins with its column', async () => {
    expect(told(await verdicts('weighing.yaml'))).toEqual([
      '6 status: offered: status',
      '7 code: offered: code, combo-code, code-value-quantity, combo-code-value-quantity',
      '8 subject: index: patient, subject',
      '9 effectiveDateTime: no index: date',
      `10 valueQuantity.value: no index: ${QUANTITY}`,
      ...['unit', 'system', 'code'].map(part => `10 valueQuantity.${part}: offered: ${QUANTITY}`),
    ]);
    const { verdicts: [, , , date] = [] } = await verdicts('weighing.yaml');
    expect(date).toEqual({
      ...{ type: 'Observation', element: 'effectiveDateTime', line: 9, withoutIndex: ['WEIGHING.TAKEN'] },
      searches: [{ code: 'date', how: 'offered' }],
    });
  });

  test('use the unsaved texts', async () => {
    expect(told(await verdicts('person.yaml', { 'person.yaml': SURNAMES }))).toEqual([
      '6 name.text: computed: name',
      '6 name.family: computed: family, name',
      '7 gender: no index: gender',
      '8 maritalStatus.text: –',
      '9 deceasedBoolean: offered: deceased',
    ]);
  });

  test('are empty for a pack with errors, and for files without elements', async () => {
    expect(await verdicts('person.yaml', { 'person.yaml': 'mapping: {' })).toEqual({});
    expect(await verdicts('codes.yaml')).toEqual({ verdicts: [] });
    expect(await verdicts('../outside.yaml')).toEqual({ verdicts: [] });
  });
});

describe('a verdict in words', () => {
  const VERDICT: WireVerdict = { type: 'Patient', element: 'name.family', line: 6, searches: [] };
  const by = (...searches: WireVerdict['searches']): WireVerdict => ({ ...VERDICT, searches });
  const family = { code: 'family', how: 'offered' } as const;
  const name = { code: 'name', how: 'computed' } as const;
  const phonetic = { code: 'phonetic', how: 'none' } as const;

  test('is short beside the line', () => {
    expect(shortOf([VERDICT])).toEqual({ how: '–', codes: '' });
    expect(shortOf([by(phonetic)])).toEqual({ how: 'not searchable', codes: '' });
    expect(shortOf([by(family, name, phonetic)])).toEqual({ how: 'offered, computed', codes: 'family, name' });
    expect(shortOf([{ ...by(family), withoutIndex: [] }])).toEqual({ how: 'index', codes: 'family' });
    const both = [
      { ...by(family, name), withoutIndex: [] },
      { ...by(family), withoutIndex: ['P.A'] },
    ];
    expect(shortOf(both)).toEqual({ how: 'no index, computed', codes: 'family, name' });
  });

  test('is complete where it is read', () => {
    expect(fullOf(VERDICT)).toBe('name.family: no search parameter uses it.');
    expect(fullOf({ ...by(family, name, phonetic), withoutIndex: ['P.A', 'P.B'] })).toBe(
      'name.family: searched by Patient?family as it is stored; computed from it by Patient?name, which no plain index serves; ' +
        'not searched by Patient?phonetic. No index begins with P.A, P.B.',
    );
    expect(wholeOf([VERDICT, { ...VERDICT, line: 7 }])).toBe(fullOf(VERDICT));
    // `gender: { from: SEX, via: sex, else: unknown }` gives a column and a constant.
    const withIndex = { ...by(family), withoutIndex: ['P.A'] };
    expect(wholeOf([withIndex, by(family)])).toBe(fullOf(withIndex));
    const eight = [1, 2, 3, 4, 5, 6, 7, 8].map(i => ({ ...VERDICT, element: `e${i}` }));
    expect(wholeOf(eight)).toMatch(/^e1: .* e6: no search parameter uses it\. And 2 more\.$/);
    expect(fullOf({ ...by(family), withoutIndex: [] })).toBe(
      'name.family: searched by Patient?family as it is stored. An index serves that.',
    );
  });
});

describe('the mark of a line', () => {
  const TEXT = 'elements:\n  gender: F\n  birthDate: B\n';
  /** Verdict of each line after the change of the text; empty if there is none. */
  const verdictsAfter = (from: number, to: number, insert: string): readonly string[] => {
    let state = EditorState.create({ doc: TEXT, extensions: VERDICTS });
    const view = {
      dispatch(one: TransactionSpec) {
        state = state.update(one).state;
      },
    };
    const of = { type: 'Patient', searches: [], withoutIndex: undefined };
    showVerdicts(view, [
      { ...of, element: 'gender', line: 2 },
      { ...of, element: 'birthDate', line: 3 },
    ]);
    view.dispatch({ changes: { from, to, insert } });
    return Array.from({ length: state.doc.lines - 1 }, (_, i) => {
      const { from: anchor } = state.doc.line(i + 1);
      const [element = ''] = verdictAt(state.update({ selection: { anchor } }).state).split(':');
      return element;
    });
  };
  const at = (word: string): number => TEXT.indexOf(word);

  test('stays with its text, wherever a line is inserted', () => {
    expect(verdictsAfter(0, 0, '')).toEqual(['', 'gender', 'birthDate']);
    const end = at('F') + 1;
    expect(verdictsAfter(end, end, '\n  ')).toEqual(['', 'gender', '', 'birthDate']);
    for (const start of [at('  gender'), at('gender')]) {
      expect(verdictsAfter(start, start, '\n  ')).toEqual(['', '', 'gender', 'birthDate']);
    }
  });

  test('is removed with its text', () => {
    expect(verdictsAfter(at('  gender'), at('  birthDate'), '')).toEqual(['', 'birthDate']);
    expect(verdictsAfter(at('gender'), at('  birthDate'), 'name: N\n')).toEqual(['', '', 'birthDate']);
  });
});
