import { describe, expect, it } from 'vitest';
import type { Node } from '../../src/mapping/model.ts';
import { flat, memoInput, SlotMemo } from '../../src/resource/memo.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import * as make from './nodes.ts';

const SMALL = make.codeMap({ A: 'x' });

describe('cached fragments', () => {
  it('distinguish inputs by type: NULL, its text, numbers and their digits', () => {
    const memo = new SlotMemo();
    const inputs = [null, 'null', '', 1, '1', 0, '0'];
    inputs.forEach((input, i) => {
      memo.put(memo.of(input), 0, `${i}`);
    });
    expect(inputs.map(input => memo.of(input))).toEqual(inputs.map((_, i) => [`${i}`]));
  });

  it('return the stored text, whatever its first character', () => {
    for (const text of ['', '\0', 'text']) expect(flat(text)).toBe(text);
  });

  it('of one column share a cache, by number; bounded, dropped if useless, without long texts', () => {
    const memo = new SlotMemo();
    const put = (input: SqlValue, fragment: number, text: string) => memo.put(memo.of(input), fragment, text);
    expect([put('A', 1, 'second'), put('A', 0, 'first'), put(null, 0, 'none')]).toEqual(['second', 'first', 'none']);
    expect([memo.of('A'), memo.of(null), memo.of('null'), memo.of(1)]).toEqual([['first', 'second'], ['none'], [], []]);
    expect(put('x'.repeat(65), 0, 'long')).toBe('long');
    expect(memo.of('x'.repeat(65))).toEqual([]);
    for (let i = 0; i < 10_000; i++) put(`${i}`, 0, 'text');
    const kept = Array.from({ length: 10_000 }, (_, i) => memo.of(`${i}`).length).filter(length => length > 0);
    expect(kept.length).toBeLessThanOrEqual(1000);
    expect(put('later', 0, 'text')).toBe('text');
    expect(memo.of('later')).toEqual([]);
  });

  it('are cached for one column with few values', () => {
    const input = (node: Node, few: readonly string[] = []) => memoInput([node], new Set(few));
    const value = (name: string) => make.value(name, { codec: SMALL });
    const one = make.object('Coding', { code: value('A'), display: value('A'), system: make.constant('s') });
    const two = make.object('Coding', { code: value('A'), display: value('B') });
    expect(input(one)).toMatchObject({ column: 'A' });
    expect(input(two)).toBeUndefined();
    expect(input(make.value('A'))).toBeUndefined();
    expect(input(make.constant('a'))).toBeUndefined();
    expect(input(make.object('Coding', { code: value('A'), display: make.ref('x', []) }))).toBeUndefined();
  });
});
