/**
 * Fragments whose ready text is remembered, as generated code. In: a node. Out: statements that find its text, or make and
 * remember it; undefined for a node that is made of too much.
 */
import type { Node } from '../mapping/model.ts';
import type { Emission } from './emission.ts';
import { EntryMemo, entryInputs } from './entry-memo.ts';
import { lookupsIn, rawCode } from './frame.ts';
import { memoInputs, memoOf, SlotMemo } from './memo.ts';
import type { Text } from './source.ts';

/** Undefined: the node is written anew for each row. */
export function rememberedText(node: Node, at: Emission): Text | undefined {
  const { frame } = at;
  const inputs = memoInputs(node)?.map(input => rawCode(input, frame));
  if (inputs) {
    const [input = ''] = inputs;
    const ofBaseRow = frame.kind === 'row' && frame.around === undefined;
    return inputs.length === 1 && ofBaseRow ? inSlot(node, input, at) : byInputs(node, inputs, at);
  }
  const entry = entryInputs(node, lookupsIn(frame));
  return entry && byEntry(node, entry, at);
}

/** Computed once per distinct inputs. */
function byInputs(node: Node, inputs: readonly string[], at: Emission): Text {
  const { source } = at;
  const memo = source.bind(memoOf(inputs.length));
  const result = source.variable(`${memo}.get(${inputs.join()})`);
  let certain = false;
  source.when(`${result} === undefined`, () => {
    const text = at.emit(node, { ...at, remembering: true });
    certain = text.certain;
    source.line(`${result} = ${memo}.put(${[...inputs, text.code].join()});`);
  });
  return { code: result, certain };
}

/** Likewise, found together with the other fragments of the same column. */
function inSlot(node: Node, input: string, at: Emission): Text {
  const { source, slots } = at;
  const own = slots.get(input) ?? { memo: new SlotMemo(), next: 0 };
  slots.set(input, own);
  const texts = source.hoisted(input);
  const memo = source.bind(own.memo);
  const fragment = own.next++;
  source.line(`if (${texts} === undefined) ${texts} = ${memo}.of(${input});`);
  const result = source.variable(`${texts}[${fragment}]`);
  let certain = false;
  source.when(`${result} === undefined`, () => {
    const text = at.emit(node, { ...at, remembering: true });
    certain = text.certain;
    source.line(`${result} = ${memo}.put(${texts}, ${fragment}, ${text.code});`);
  });
  return { code: result, certain };
}

/** Computed once per code, for as long as the values beside the code stay the same. */
function byEntry(node: Node, { code, others }: NonNullable<ReturnType<typeof entryInputs>>, at: Emission): Text {
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
  let certain = false;
  source.block('else', () => {
    const text = at.emit(node, { ...at, remembering: true });
    certain = text.certain;
    source.line(`${result} = ${memo}.put(${[key, text.code, ...values].join()});`);
  });
  return { code: result, certain };
}
