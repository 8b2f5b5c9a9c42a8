/** The announcement for screen readers when the problems of a pack change. */
import { expect, test } from 'vitest';
import { newsOf } from '../../src/workbench/page/mapping/news.ts';
import type { WireProblem } from '../../src/workbench/wire/mapping.ts';

function problem(text: string, line = 1, severity: WireProblem['severity'] = 'error'): WireProblem {
  return { severity, text, place: { file: 'a.yaml', line, column: 1 } };
}

test('a new problem at the same place is announced, a moved one is not', () => {
  expect(newsOf([problem('one')], [problem('two')])).toBe('1 problem. New: error in a.yaml, line 1: two');
  expect(newsOf([problem('one')], [problem('one', 5)])).toBe('');
  expect(newsOf([], [])).toBe('');
});

test('fewer problems are announced as a number, and many new ones too', () => {
  expect(newsOf([problem('one'), problem('two')], [problem('two')])).toBe('1 problem');
  expect(newsOf([problem('one')], [])).toBe('No problems');
  const five = ['a', 'b', 'c', 'd', 'e'].map(text => problem(text));
  expect(newsOf([], five)).toBe(
    '5 problems. New: error in a.yaml, line 1: a; error in a.yaml, line 1: b; error in a.yaml, line 1: c; and 2 more',
  );
});

test('a notice is not counted as a problem', () => {
  expect(newsOf([], [problem('left out', 1, 'notice')])).toBe('');
});
