/**
 * Generates code for nodes: values, lists, references and logical ids. In: a node and the frame with its values. Out:
 * statements that compute its JSON text, and the name of the variable that holds it.
 */

import { countedAs, type IdPart, type IdRule, isLegalId, LONGEST, longestId } from '../mapping/id-rule.ts';
import type { Condition, ListNode, Node, RefNode, ValueNode } from '../mapping/model.ts';
import { isPrimitive, jsonKindOf } from '../r4/definitions.ts';
import { isFetchedAlike } from '../sql/column-type.ts';
import type { ColumnExpression } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { AS_IT_IS, lengthInId } from '../sql/shared-functions.ts';
import { CONTEXT, conditionCode } from './condition.ts';
import { eachItem } from './each.ts';
import {
  behind,
  decodeCode,
  type Emission,
  firstPresent,
  placesOf,
  rawCode,
  refIn,
  targetIn,
  unlessAbsent,
} from './emission.ts';
import { emitObject, keyOf } from './members.ts';
import { memoInput } from './memo.ts';
import { castTo } from './raw.ts';
import { rememberedText } from './remember.ts';
import { ABSENT, Joined, literal, type Source, type Text } from './source-text.ts';
import { booleanText, cleanText, joinedText, linesText, numberText, quotedText, stringText } from './text.ts';

/** Generates the JSON text of a node, with `before` in front; '' if it does not exist. */
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
  return { code: result, neverEmpty: false };
}

function rememberedNode(node: Node, at: Emission, before: string): Text | undefined {
  return rememberedText({ nodes: [node], write: inner => emit(node, inner, before) }, at);
}

/**
 * Returns the condition of a node, and the node without it, which may be cached if its condition uses other columns.
 */
function conditionOf(node: Node, at: Emission): { readonly condition: Condition; readonly then: Node } | undefined {
  if (node.if) {
    const { if: condition, ...then } = node;
    return { condition, then };
  }
  // A list of one conditional item exists exactly if the item does.
  const [item, ...more] = node.kind === 'list' ? node.items : [];
  if (node.kind !== 'list' || !item?.if || more.length > 0) return undefined;
  const { if: condition, ...bare } = item;
  const then = { ...node, items: [bare] };
  return memoInput([then], at.few) && { condition, then };
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
    case 'lines':
      return behind(before, quotedText(linesText(node, at), at), source);
  }
}

function emitValue(node: ValueNode, at: Emission, before: string): Text {
  const { source } = at;
  const places = placesOf(at);
  const kind = isPrimitive(node.type) ? jsonKindOf(node.type) : 'string';
  if (kind === 'string' && node.codec.plain) {
    // Its values contain only characters that JSON does not escape.
    const value = source.variable(unlessAbsent(node, decodeCode(node, places), places, 'undefined'), 'const');
    const text = `${value} === undefined ? '' : ${JSON.stringify(`${before}"`)} + ${value} + '"'`;
    return { code: source.variable(text, 'const'), neverEmpty: false };
  }
  const write = source.bind({ string: stringText, number: numberText, boolean: booleanText }[kind]);
  const text = unlessAbsent(node, `${write}(${decodeCode(node, places)})`, places);
  return behind(before, { code: source.variable(text, 'const'), neverEmpty: false }, source);
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
    const head = [literal(`${before}{"reference":"${resource}/`), { code: id, neverEmpty: true }, literal('"')];
    const joined = new Joined(source, '{}', '', head);
    for (const { name, node: member } of node.members) joined.append(emit(member, at, keyOf(name)));
    source.line(`${result} = ${joined.finish().code};`);
  });
  return { code: result, neverEmpty: false };
}

/** Generates the JSON text of a list, with `before` in front; '' without items. */
export function emitList(node: ListNode, at: Emission, before: string): Text {
  const joined = new Joined(at.source, '[]', before);
  for (const item of node.items) addItems(item, joined, at);
  return joined.finish();
}

/** Adds the items of a node: none, one, or several of an `each`. */
function addItems(node: Node, joined: Joined, at: Emission): void {
  const { source } = at;
  if (!givesMany(node)) {
    joined.add('', at.emit(node, at));
    return;
  }
  const condition = node.if ? conditionCode(node.if, placesOf(at)) : 'true';
  if (condition === 'true') addExistingItems(node, joined, at);
  else joined.fork(() => source.when(condition, () => addExistingItems(node, joined, at)));
}

function addExistingItems(node: Node, joined: Joined, at: Emission): void {
  switch (node.kind) {
    case 'constant':
      for (const json of Array.isArray(node.json) ? node.json : []) {
        joined.add('', at.emit({ kind: 'constant', json, type: node.type, at: node.at }, at));
      }
      return;
    case 'list':
      for (const item of node.items) addItems(item, joined, at);
      return;
    case 'first':
      addFirstItems(node.alternatives, joined, at);
      return;
    case 'each':
      joined.fork(() => eachItem(node, at, inner => addItems(node.item, joined, inner)));
      return;
    default:
      return;
  }
}

function givesMany(node: Node): boolean {
  if (node.kind === 'first') return node.alternatives.some(givesMany);
  return node.kind === 'each' || node.kind === 'list' || (node.kind === 'constant' && Array.isArray(node.json));
}

function addFirstItems(alternatives: readonly Node[], joined: Joined, at: Emission): void {
  const [alternative, ...rest] = alternatives;
  if (!alternative) return;
  const before = at.source.variable(`${joined.flush()}.length`, 'const');
  joined.fork(() => addItems(alternative, joined, at));
  if (rest.length === 0) return;
  joined.fork(() => at.source.when(`${joined.flush()}.length === ${before}`, () => addFirstItems(rest, joined, at)));
}

/** Returns '' for a text that is no FHIR id. */
function legalId(text: string): string {
  return isLegalId(text) ? text : '';
}

const LEGAL_PART = /^[A-Za-z0-9\-.]*$/;

/**
 * True if an id of these parts can only be too long: codecs print legal characters, so only the mapping's literals are
 * checked.
 */
function isLegalButForLength(parts: readonly IdPart[]): boolean {
  const legal = parts.every(part => part.kind !== 'literal' || LEGAL_PART.test(part.text));
  return legal && parts.some(part => part.kind !== 'literal');
}

/** Writes statements that print an id; returns its variable, which is '' if no alternative can be written. */
export function idCode(rule: IdRule, raw: (column: ColumnExpression) => string, source: Source): string {
  const result = source.variable("''");
  const from = (index: number): void => {
    const parts = rule.alternatives[index];
    if (!parts) return;
    const printed: string[] = [];
    /** If the id may be too long: code for the additional length of escapes, as they are counted. */
    const added: string[] = [];
    const fits = longestId(parts) <= LONGEST;
    const operands = parts.map(part => {
      if (part.kind === 'literal') return JSON.stringify(part.text);
      const value = raw(part.column);
      const print = `${source.bind(part.codec)}.print(${value})`;
      const name = source.variable(`${value} === null ? undefined : ${print}`, 'const');
      printed.push(name);
      const how = countedAs(part.codec);
      if (how !== AS_IT_IS && !fits) added.push(` + ${source.bind(lengthInId)}(${value}, ${how}) - ${name}.length`);
      return name;
    });
    const text = operands.join(' + ');
    const assign = (): void => {
      if (!isLegalButForLength(parts)) source.line(`${result} = ${source.bind(legalId)}(${text});`);
      else source.line(`${result} = ${text};`);
      source.line(`if (${result}.length${added.join('')} > ${LONGEST}) ${result} = '';`);
    };
    if (printed.length === 0) assign();
    else source.block(`if (${printed.map(name => `${name} !== undefined`).join(' && ')})`, assign);
    if (index + 1 < rule.alternatives.length) source.block(`if (${result} === '')`, () => from(index + 1));
  };
  from(0);
  return result;
}

/** Runs `body` if the target exists; `id` is the variable with its id. */
export function referenceText(
  node: RefNode,
  at: Emission,
  body: (target: { readonly resource: string; readonly id: string }) => void,
): void {
  const { source, frame } = at;
  const found = refIn(node, frame);
  const target = targetIn(node, frame);
  if (found?.shape.never) return;
  const raw = (column: ColumnExpression): string => {
    const key = expressionKey(column);
    const id = found?.shape.id.get(key);
    if (found && id) {
      const code = `${found.row}[${id.position}]`;
      return id.cast ? `${source.bind(castTo(id.cast.to, id.cast.from))}(${code})` : code;
    }
    const ours = node.on.find(({ theirs }) => expressionKey(theirs) === key)?.ours;
    if (!ours) throw new TypeError(`not fetched: ${key}, of which the id of ${target.name} is made`);
    const code = rawCode(ours, frame);
    return isFetchedAlike(ours.type, column.type) ? code : `${source.bind(castTo(column.type, ours.type))}(${code})`;
  };
  const flag = found?.shape.flag;
  source.when(found && flag !== undefined ? `${found.row}[${flag}] === 1` : 'true', () => {
    const id = idCode(target.id, raw, source);
    source.when(`${id} !== ''`, () => body({ resource: target.resource, id }));
  });
}
