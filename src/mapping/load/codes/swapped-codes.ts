/**
 * Finds rows of a code map whose codes are swapped. In: the rows of a map. Out: a warning per raw value that names a
 * code which the map gives to another value (`ACTIVE: stopped` beside `STOPPED: active`), and per pair of raw values
 * each of which begins the code of the other (`M: female` beside `F: male`). No other check finds it, because both
 * codes are valid, and all their resources are wrong.
 */
import type { Coded } from '../../codecs/code-map.ts';
import type { Position } from '../../model.ts';
import { type Report, visible } from '../problem.ts';

/** Shorter raw values are codes of their own: `M` may stand for something other than the code `m`. */
const WORD = /^[a-z]{4,}$/;

const wordOf = (text: string): string | undefined => {
  const letters = text.toLowerCase().replaceAll(/[ _-]/g, '');
  return WORD.test(letters) ? letters : undefined;
};

/** Warns of rows whose raw value names another code of the map than its own. A row with `absent` is deliberate. */
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
    report.warning(
      'unlikely-code',
      at,
      `row ${visible(raw)} of a code map gives another code of the map than its name`,
      {
        expected: named,
        found: coded.code,
      },
    );
  }
  reportSwappedLetters(rows, report);
}

/** A few letters that abbreviate a word, as usual for sexes and states. */
const LETTERS = /^[a-z]{1,3}$/i;
/** A longer list contains abbreviations of other things than sexes or states. */
const MOST_LETTERS = 40;

function reportSwappedLetters(rows: Parameters<typeof reportSwapped>[0], report: Report): void {
  const short = [...rows].flatMap(([raw, { coded, at }]) => (coded && LETTERS.test(raw) ? [{ raw, coded, at }] : []));
  if (short.length > MOST_LETTERS) return;
  const begins = (raw: string, { code }: Coded): boolean => code.toLowerCase().startsWith(raw.toLowerCase());
  for (const [i, one] of short.entries()) {
    for (const other of short.slice(i + 1)) {
      const areSwapped = begins(one.raw, other.coded) && begins(other.raw, one.coded);
      if (!areSwapped || begins(one.raw, one.coded) || begins(other.raw, other.coded)) continue;
      const message = `rows ${one.raw} and ${other.raw} of a code map begin the code of each other: they may be swapped`;
      report.warning('unlikely-code', one.at, message, {
        found: [one, other].map(({ raw, coded }) => `${raw}: ${coded.code}`).join(', '),
      });
    }
  }
}
