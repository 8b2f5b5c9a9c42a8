/**
 * Nodes as generated code. In: a node and the frame that its values are in. Out: statements that compute its JSON text,
 * and where the text is then. When a node exists: mapping-primitives.md V1–V6; decided by the tree, evaluated per row.
 */

import { isDynamic, isDynamicMember } from '../mapping/dynamic.ts';
import type { Node, ObjectNode, RefNode, ValueNode } from '../mapping/model.ts';
import { isPrimitive, jsonKindOf } from '../r4/definitions.ts';
import { CONTEXT, conditionCode } from './condition.ts';
import { decodeCode, type Emission, firstPresent, placesOf, unlessAbsent } from './emission.ts';
import { emitList } from './items.ts';
import { booleanText, cleanText, numberText, plainStringText, stringText } from './json-text.ts';
import { referenceText } from './reference.ts';
import { rememberedText } from './remember.ts';
import { ABSENT, anyPresent, Joined, literal, type Text } from './source.ts';
import { joinedText } from './text.ts';

/** JSON text of a node; '' where it does not exist. */
export function emit(node: Node, at: Emission): Text {
  const remembered = at.remembering ? undefined : rememberedText(node, at);
  if (remembered) return remembered;
  const condition = node.if ? conditionCode(node.if, placesOf(at)) : 'true';
  if (condition === 'true') return emitExisting(node, at);
  if (condition === 'false') return ABSENT;
  const { source } = at;
  const result = source.variable("''");
  source.when(condition, () => source.line(`${result} = ${emitExisting(node, at).code};`));
  return { code: result, certain: false };
}

function emitExisting(node: Node, at: Emission): Text {
  switch (node.kind) {
    case 'constant':
      return literal(JSON.stringify(node.json, (_, part) => (typeof part === 'string' ? cleanText(part) : part)));
    case 'value':
      return emitValue(node, at);
    case 'object':
      return emitObject(node, at);
    case 'list':
      return emitList(node, at);
    case 'each':
      return emitList({ kind: 'list', items: [node], type: node.type, at: node.at }, at);
    case 'first':
      return firstPresent(
        node.alternatives.map(alternative => () => emit(alternative, at)),
        at,
      );
    case 'ref':
      return emitReference(node, at);
    case 'text': {
      const text = joinedText(node, at);
      const { source } = at;
      if (text.literal !== undefined) return literal(stringText(text.literal));
      return { code: source.variable(`${source.bind(stringText)}(${text.code})`, 'const'), certain: text.certain };
    }
  }
}

function emitValue(node: ValueNode, at: Emission): Text {
  const { source } = at;
  const places = placesOf(at);
  const kind = isPrimitive(node.type) ? jsonKindOf(node.type) : 'string';
  const string = node.codec.plain ? plainStringText : stringText;
  const write = source.bind({ string, number: numberText, boolean: booleanText }[kind]);
  const text = `${write}(${decodeCode(node, places)})`;
  return { code: source.variable(unlessAbsent(node, text, places), 'const'), certain: false };
}

function emitObject(node: ObjectNode, at: Emission): Text {
  const { source } = at;
  const texts = new Map<string, Text>();
  const result = source.variable("''");
  const members = node.members.map(member => ({
    member,
    names: member.kind === 'element' ? [member.name] : [...new Set(member.alternatives.flat().map(({ name }) => name))],
  }));
  const compute = ({ member }: (typeof members)[number]): void => {
    if (member.kind === 'element') {
      if (!texts.has(member.name)) texts.set(member.name, emit(member.node, at));
    } else for (const [name, text] of emitChoice(member.alternatives, at)) texts.set(name, text);
  };
  const done = new Set<(typeof members)[number]>();
  const rest = [...node.needs];
  let certain = false;

  const assemble = (): void => {
    for (const entry of members) if (!done.has(entry)) compute(entry);
    const deciding = members.filter(({ member }) => isDynamicMember(member));
    const among = deciding.length > 0 ? deciding : members;
    const implied = deciding.some(entry => entry.member.kind === 'element' && node.needs.includes(entry.member.name));
    const existence = anyPresent(among.flatMap(({ names }) => names.flatMap(name => texts.get(name) ?? [])));
    certain = existence === 'true' && rest.length === 0 && certainNeeds();
    source.when(implied ? 'true' : existence, () => {
      const joined = new Joined(source, '{}');
      for (const { names } of members) {
        for (const name of names) {
          const text = texts.get(name);
          // Beyond the test of a need its text is known to be there.
          if (text) joined.add(keyOf(name), node.needs.includes(name) ? { ...text, certain: true } : text);
        }
      }
      source.line(`${result} = ${joined.finish().code};`);
    });
  };
  const certainNeeds = (): boolean => node.needs.every(name => texts.get(name)?.certain);
  const needed = (): void => {
    const name = rest.shift();
    if (name === undefined) {
      assemble();
      return;
    }
    for (const entry of members) {
      if (!entry.names.includes(name) || done.has(entry)) continue;
      compute(entry);
      done.add(entry);
    }
    const text = texts.get(name);
    source.when(text ? anyPresent([text]) : 'false', needed);
  };
  needed();
  return { code: result, certain };
}

/** The start of a member: its name and a colon. */
export function keyOf(name: string): string {
  return `${JSON.stringify(name)}:`;
}

type Choice = (ObjectNode['members'][number] & { readonly kind: 'choice' })['alternatives'];

/** V3 over named elements: variables that are filled by the first alternative that is there. */
export function emitChoice(alternatives: Choice, at: Emission): ReadonlyMap<string, Text> {
  const { source } = at;
  const variables = new Map<string, string>();
  for (const { name } of alternatives.flat()) if (!variables.has(name)) variables.set(name, source.variable("''"));
  const from = (index: number): void => {
    const alternative = alternatives[index];
    if (!alternative) return;
    const texts = alternative.map(({ node }) => emit(node, at));
    const dynamic = alternative.some(({ node }) => isDynamic(node));
    const presence = anyPresent(texts.filter((_, i) => !dynamic || isDynamic(alternative[i]?.node ?? NOTHING)));
    source.when(presence, () => {
      for (const [i, { name }] of alternative.entries()) {
        source.line(`${variables.get(name)} = ${texts[i]?.code};`);
      }
    });
    if (presence === 'true') return;
    if (presence === 'false') from(index + 1);
    else if (index + 1 < alternatives.length) source.block('else', () => from(index + 1));
  };
  from(0);
  return new Map([...variables].map(([name, code]) => [name, { code, certain: false }]));
}

const NOTHING: Node = { kind: 'constant', json: null, type: 'string', at: { file: '', line: 0, column: 0 } };

function emitReference(node: RefNode, at: Emission): Text {
  const { source } = at;
  const result = source.variable("''");
  referenceText(node, at, ({ resource, id }) => {
    if (node.as === 'url') {
      const quoted = source.bind(stringText);
      source.line(`${result} = ${quoted}(${CONTEXT}.base + ${JSON.stringify(`/${resource}/`)} + ${id});`);
      return;
    }
    const head = [literal(`{"reference":"${resource}/`), { code: id, certain: true }, literal('"')];
    const members = node.members.map(({ name, node: member }) => ({ name, text: emit(member, at) }));
    const joined = new Joined(source, '{}', head);
    for (const { name, text } of members) joined.add(keyOf(name), text);
    source.line(`${result} = ${joined.finish().code};`);
  });
  return { code: result, certain: false };
}
