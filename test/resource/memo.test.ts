import { describe, expect, it } from 'vitest';
import type { Node } from '../../src/mapping/model.ts';
import { flat, memoInputs, memoOf, SlotMemo } from '../../src/resource/memo.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import * as make from './nodes.ts';

const SMALL = make.codeMap({ A: 'x' });

describe('cached fragments', () => {
  it('distinguish inputs by type: NULL, its text, numbers and their digits', () => {
    for (const memo of [memoOf(1), memoOf(2)]) {
      const inputs = [null, 'null', '', 1, '1', 0, '0'];
      const key = (input: string | number | null) => [input, input] as const;
      inputs.forEach((input, i) => {
        if (memo.get.length === 1)
          (memo as ReturnType<typeof memoOf> & { put(a: unknown, text: string): void }).put(input, `${i}`);
        else (memo as { put(a: unknown, b: unknown, text: string): void }).put(...key(input), `${i}`);
      });
      inputs.forEach((input, i) => {
        expect(memo.get(...key(input))).toBe(`${i}`);
      });
    }
  });

  it('are dropped when inputs never repeat, and bounded until then', () => {
    const memo = memoOf(1) as { get(a: string): string | undefined; put(a: string, text: string): void };
    let kept = 0;
    for (let i = 0; i < 10_000; i++) memo.put(`${i}`, 'text');
    for (let i = 0; i < 10_000; i++) if (memo.get(`${i}`) !== undefined) kept++;
    expect(kept).toBeLessThanOrEqual(1000);
    memo.put('later', 'text');
    expect(memo.get('later')).toBeUndefined();
  });

  it('return the stored text, whatever its first character', () => {
    for (const text of ['', '\0', 'text']) expect(flat(text)).toBe(text);
  });

  it('are not cached for long texts', () => {
    const memo = memoOf(1) as { get(a: string): string | undefined; put(a: string, text: string): void };
    memo.put('x'.repeat(65), 'text');
    expect(memo.get('x'.repeat(65))).toBeUndefined();
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

  it('are cached for at most two columns with few values each', () => {
    const inputs = (node: Node, few: readonly string[] = []) => memoInputs([node], new Set(few));
    const value = (name: string) => make.value(name, { codec: SMALL });
    const two = make.object('Coding', { code: value('A'), display: value('B'), system: make.constant('s') });
    const three = make.object('Coding', { code: value('A'), display: value('B'), version: value('C') });
    expect(inputs(two)).toHaveLength(2);
    expect(inputs(three)).toBeUndefined();
    expect(inputs(make.value('A'))).toBeUndefined();
    expect(inputs(make.constant('a'))).toBeUndefined();
    expect(inputs(make.object('Coding', { code: value('A'), display: make.ref('x', []) }))).toBeUndefined();
  });
});
