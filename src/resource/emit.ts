/**
 * Generates code for nodes. In: a node and the frame that its values are in. Out: statements that compute its JSON
 * text, and the name of the variable that holds it. mapping-primitives.md V1–V6 says when a node exists.
 */
import type { Condition, Node, RefNode, ValueNode } from '../mapping/model.ts';
import { isPrimitive, jsonKindOf } from '../r4/definitions.ts';
import { CONTEXT, conditionCode } from './condition.ts';
import { behind, decodeCode, type Emission, firstPresent, placesOf, unlessAbsent } from './emission.ts';
import { emitList } from './items.ts';
import { booleanText, cleanText, numberText, stringText } from './json-text.ts';
import { emitObject, keyOf } from './members.ts';
import { memoInputs } from './memo.ts';
import { referenceText } from './reference.ts';
import { rememberedText } from './remember.ts';
import { ABSENT, Joined, literal, type Text } from './source-text.ts';
import { joinedText, quotedText } from './text.ts';

/** JSON text of a node, behind `before`; '' where it does not exist. */
export function emit(node: Node, at: Emission, before = ''): Text {
  const remembered = rememberedNode(node, at, before);
  if (remembered) return remembered;
  const conditional = conditionOf(node, at);
  if (!conditional) return emitExisting(node, at, before);
  const condition = conditionCode(conditional.condition, placesOf(at));
  if (condition === 'false') return ABSENT;
  const { source } = at;
  const emitThen = (): Text => rememberedNode(conditional.then, at, before) ?? emitExisting(node, at, before);
  if (condition === 'true') return emitThen();
  const result = source.variable("''");
  source.when(condition, () => source.line(`${result} = ${emitThen().code};`));
  return { code: result, certain: false };
}

function rememberedNode(node: Node, at: Emission, before: string): Text | undefined {
  return rememberedText({ nodes: [node], write: inner => emit(node, inner, before) }, at);
}

/**
 * The condition of a node, and the node without it, which may be remembered where the condition is asked of other
 * columns.
 */
function conditionOf(node: Node, at: Emission): { readonly condition: Condition; readonly then: Node } | undefined {
  if (node.if) {
    const { if: condition, ...then } = node;
    return { condition, then };
  }
  // A list of one conditional item is there exactly where the item is.
  const [item, ...more] = node.kind === 'list' ? node.items : [];
  if (node.kind !== 'list' || !item?.if || more.length > 0) return undefined;
  const { if: condition, ...bare } = item;
  const then = { ...node, items: [bare] };
  return memoInputs([then], at.few) && { condition, then };
}

function emitExisting(node: Node, at: Emission, before: string): Text {
  const { source } = at;
  switch (node.kind) {
    case 'constant': {
      const json = JSON.stringify(node.json, (_, part) => (typeof part === 'string' ? cleanText(part) : part));
      return literal(before + json);
    }
    case 'value':
      return emitValue(node, at, before);
    case 'object':
      return emitObject(node, at, before);
    case 'list':
      return emitList(node, at, before);
    case 'each':
      return emitList({ kind: 'list', items: [node], type: node.type, at: node.at }, at, before);
    case 'first':
      return firstPresent(
        node.alternatives.map(alternative => () => emit(alternative, at, before)),
        at,
      );
    case 'ref':
      return emitReference(node, at, before);
    case 'text':
      return behind(before, quotedText(joinedText(node, at), at), source);
  }
}

function emitValue(node: ValueNode, at: Emission, before: string): Text {
  const { source } = at;
  const places = placesOf(at);
  const kind = isPrimitive(node.type) ? jsonKindOf(node.type) : 'string';
  if (kind === 'string' && node.codec.plain) {
    // Digits, letters and signs that JSON writes as they are.
    const value = source.variable(unlessAbsent(node, decodeCode(node, places), places, 'undefined'), 'const');
    const text = `${value} === undefined ? '' : ${JSON.stringify(`${before}"`)} + ${value} + '"'`;
    return { code: source.variable(text, 'const'), certain: false };
  }
  const write = source.bind({ string: stringText, number: numberText, boolean: booleanText }[kind]);
  const text = unlessAbsent(node, `${write}(${decodeCode(node, places)})`, places);
  return behind(before, { code: source.variable(text, 'const'), certain: false }, source);
}

function emitReference(node: RefNode, at: Emission, before: string): Text {
  const { source } = at;
  const result = source.variable("''");
  referenceText(node, at, ({ resource, id }) => {
    if (node.as === 'url') {
      const quoted = `${source.bind(stringText)}(${CONTEXT}.base + ${JSON.stringify(`/${resource}/`)} + ${id})`;
      source.line(`${result} = ${before === '' ? '' : `${JSON.stringify(before)} + `}${quoted};`);
      return;
    }
    const head = [literal(`${before}{"reference":"${resource}/`), { code: id, certain: true }, literal('"')];
    const joined = new Joined(source, '{}', '', head);
    for (const { name, node: member } of node.members) joined.append(emit(member, at, keyOf(name)));
    source.line(`${result} = ${joined.finish().code};`);
  });
  return { code: result, certain: false };
}
