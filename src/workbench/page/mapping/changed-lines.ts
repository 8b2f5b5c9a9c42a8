/**
 * Compares two versions of a resource line by line. In: lines of JSON before and after. Out: all lines in order, each
 * the same, added or removed.
 */
import { sameLines } from '../../wire/same-lines.ts';
import type { JsonLine } from './json-lines.ts';

export interface ChangedLine {
  readonly line: JsonLine;
  readonly change: 'same' | 'added' | 'removed';
}

export function changedLines(before: readonly JsonLine[], now: readonly JsonLine[]): readonly ChangedLine[] {
  const found: ChangedLine[] = [];
  let [i, j] = [0, 0];
  for (const [was, is] of [...sameLines(before.map(textOf), now.map(textOf)), [before.length, now.length] as const]) {
    for (const line of before.slice(i, was)) found.push({ line, change: 'removed' });
    for (const line of now.slice(j, is)) found.push({ line, change: 'added' });
    const line = now[is];
    if (line) found.push({ line, change: 'same' });
    [i, j] = [was + 1, is + 1];
  }
  return found;
}

/** Returns the text to compare: without the comma at the end. */
function textOf({ depth, before, value }: JsonLine): string {
  return `${depth} ${before}${value}`;
}
