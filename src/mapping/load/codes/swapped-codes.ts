/**
 * Finds rows of a code map whose codes are swapped. In: the rows of a map. Out: a warning per raw value that is the
 * word of a code which the map gives for another value (`ACTIVE: stopped` beside `STOPPED: active`). Both codes are
 * valid, so that no other check finds it, and all their resources are wrong.
 */
import type { Coded } from '../../codecs/code-map.ts';
import type { Position } from '../../model.ts';
import type { Report } from '../problem.ts';

/** Shorter ones are codes by their own right: `M` may well stand for something other than the code `m`. */
const WORD = /^[a-z]{4,}$/;

const wordOf = (text: string): string | undefined => {
  const letters = text.toLowerCase().replaceAll(/[ _-]/g, '');
  return WORD.test(letters) ? letters : undefined;
};

/** Warns of rows whose raw value names another code of the map than the one it gives. A row of `absent` was decided. */
export function reportSwapped(
  rows: ReadonlyMap<string, { readonly coded: Coded | undefined; readonly at: Position }>,
  report: Report,
): void {
  const codes = new Map<string, string>();
  for (const { coded } of rows.values()) {
    const word = coded && wordOf(coded.code);
    if (word !== undefined) codes.set(word, coded?.code ?? '');
  }
  for (const [raw, { coded, at }] of rows) {
    const named = codes.get(wordOf(raw) ?? '');
    if (!coded || named === undefined || wordOf(coded.code) === wordOf(named)) continue;
    report.warning('unlikely-code', at, `row ${raw} of a code map gives another code of the map than its name`, {
      expected: named,
      found: coded.code,
    });
  }
}
