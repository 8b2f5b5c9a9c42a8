/**
 * Generates code for fragments whose text is cached. In: the nodes of a fragment, and the code that writes it. Out:
 * statements that find its text, or make and cache it; undefined if the fragment has too many inputs.
 */
import { getOrInsert } from '../common/caches.ts';
import type { Node } from '../mapping/model.ts';
import { type Emission, lookupsIn, rawCode } from './emission.ts';
import { EntryMemo, entryInputs, memoInput, SlotMemo } from './memo.ts';
import type { Text } from './source-text.ts';

export interface Fragment {
  readonly nodes: readonly Node[];
  readonly write: (at: Emission) => Text;
}

/** Generates cached code for a fragment. Undefined if it must be written for each row. */
export function rememberedText(fragment: Fragment, at: Emission): Text | undefined {
  if (at.within === 'fragment') return undefined;
  const input = memoInput(fragment.nodes, at.few);
  if (input) return isOfBaseRow(at) ? inSlot(fragment, rawCode(input, at.frame), at) : undefined;
  const entry = entryInputs(fragment.nodes, lookupsIn(at.frame));
  return entry && byEntry(fragment, entry, at);
}

/**
 * Returns the source of the one base-row column that a node depends on; undefined if it is not cached by one column.
 */
export function slotOf(node: Node, at: Emission): string | undefined {
  const input = at.within === 'fragment' || !isOfBaseRow(at) ? undefined : memoInput([node], at.few);
  return input && rawCode(input, at.frame);
}

function isOfBaseRow({ frame }: Emission): boolean {
  return frame.kind === 'row' && frame.around === undefined;
}

/** Computes the text once per value of the column, found together with other fragments of the same column. */
function inSlot({ write }: Fragment, input: string, at: Emission): Text {
  const { source, slots } = at;
  const own = getOrInsert(slots, input, () => ({ memo: new SlotMemo(), next: 0 }));
  const texts = source.hoisted(input);
  const memo = source.bind(own.memo);
  const number = own.next++;
  source.line(`if (${texts} === undefined) ${texts} = ${memo}.of(${input});`);
  const result = source.variable(`${texts}[${number}]`);
  let neverEmpty = false;
  source.when(`${result} === undefined`, () => {
    const text = write({ ...at, within: 'fragment' });
    neverEmpty = text.neverEmpty;
    source.line(`${result} = ${memo}.put(${texts}, ${number}, ${text.code});`);
  });
  return { code: result, neverEmpty };
}

/** Computes the text once per code, as long as the values beside the code stay the same. */
function byEntry(
  { write }: Fragment,
  { code, others }: NonNullable<ReturnType<typeof entryInputs>>,
  at: Emission,
): Text {
  const { source, frame } = at;
  const memo = source.bind(new EntryMemo());
  const key = rawCode(code, frame);
  const values = others.map(other => rawCode(other, frame));
  const entry = source.variable(`${memo}.get(${key})`, 'const');
  const result = source.variable("''");
  const same = values.map((value, i) => `${entry}.of[${i}] === ${value}`);
  source.block(`if (${[`${entry} !== undefined`, ...same].join(' && ')})`, () =>
    source.line(`${result} = ${entry}.text;`),
  );
  let neverEmpty = false;
  source.block('else', () => {
    const text = write({ ...at, within: 'fragment' });
    neverEmpty = text.neverEmpty;
    source.line(`${result} = ${memo}.put(${[key, text.code, ...values].join()});`);
  });
  return { code: result, neverEmpty };
}
