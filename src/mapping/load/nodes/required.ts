/**
 * Checks the cardinality of an object's members. In: its members and `needs`. Out: reports: required elements that are
 * missing, or that may be absent without a `needs`; choices given twice; `needs` that name nothing.
 * https://hl7.org/fhir/R4/conformance-rules.html#cardinality
 */
import { elementsOf } from '../../../r4/definitions.ts';
import type { Member, Node, ObjectNode, Position } from '../../model.ts';
import { codeMapOf } from '../codes/origin.ts';
import type { Context } from '../pack/context.ts';
import type { ScalarTree } from '../read/tree.ts';
import type { Slot } from './slot.ts';

/** The result of reading a map of elements. */
export interface Members {
  readonly members: readonly Member[];
  /** Names of all written elements, including those whose node had an error. */
  readonly written: ReadonlySet<string>;
}

/** Reports `needs` that no member provides, and elements that two members provide. */
export function checkMembers(
  needs: readonly ScalarTree[],
  { members, written }: Members,
  slot: Slot,
  context: Context,
): void {
  for (const { text, at } of needs) {
    if (written.has(text) || members.some(member => provides(member, text))) continue;
    const among = members.flatMap(namesOf);
    const ofChoice = among.find(name => /^[A-Z]/.test(name.slice(text.length)) && name.startsWith(text));
    context.report.error('required-element', at, '`needs` names an element that is not mapped', {
      found: text,
      among,
      ...(ofChoice === undefined ? {} : { suggestion: ofChoice }),
    });
  }
  for (const element of elementsOf(slot.type)) {
    const givers = members.filter(member => namesOf(member).some(name => element.jsonNames.has(name)));
    const second = givers[1];
    if (second) {
      context.report.error('required-element', positionOf(second), `${slot.path}.${element.name} is given twice`, {
        expected: '`first: [{…}, {…}]` around the alternatives',
      });
    }
  }
}

/** Reports required elements that are missing, or that may be absent without a `needs` that covers this case. */
export function checkRequired(
  { members, written }: Members,
  needs: readonly string[],
  slot: Slot,
  at: Position,
  whole: 'the object' | 'the mapping',
  context: Context,
): void {
  for (const element of elementsOf(slot.type)) {
    if (element.min === 0) continue;
    const givers = members.filter(member => namesOf(member).some(name => element.jsonNames.has(name)));
    const path = `${slot.path}.${element.name}`;
    if (givers.length === 0) {
      const tried = [...element.jsonNames.keys()].some(name => written.has(name));
      if (!tried) context.report.error('required-element', at, `required element ${path} is missing`);
      continue;
    }
    const [giver] = givers;
    if (!giver || givers.some(member => memberNeverAbsent(member, context.certain))) continue;
    const names = namesOf(giver);
    if (needs.some(need => need === element.name || names.includes(need))) continue;
    context.report.error('required-element', positionOf(giver), `required element ${path} may be absent`, {
      expected: `\`needs: [${names[0] ?? element.name}]\` of ${whole}, or an ${elseOf(giver)} that is never absent`,
    });
  }
}

/** Names the `else` that can give a member. That of a code map is another one: it does not count for NULL. */
function elseOf(member: Member): string {
  return member.kind === 'element' && isOfCodeMap(member.node) ? '`else` beside `via`' : '`else`';
}

/** True for a code of a code map, and for a Coding or CodeableConcept that one makes. */
function isOfCodeMap(node: Node): boolean {
  switch (node.kind) {
    case 'value':
      return codeMapOf(node.codec) !== undefined;
    case 'object':
      return node.members.some(member => member.kind === 'element' && isOfCodeMap(member.node));
    case 'list':
      return node.items.some(isOfCodeMap);
    default:
      return false;
  }
}

export function namesOf(member: Member): readonly string[] {
  if (member.kind === 'element') return [member.name];
  return [...new Set(member.alternatives.flatMap(alternative => alternative.map(({ name }) => name)))];
}

function positionOf(member: Member): Position {
  const node = member.kind === 'element' ? member.node : member.alternatives[0]?.[0]?.node;
  return node?.at ?? { file: '', line: 1, column: 1 };
}

/**
 * True if a node is present in every served row. In: the node, and the nodes that are never absent. Determines which
 * required elements need a `needs`, and which alternatives are unreachable.
 */
export function isNeverAbsent(node: Node, certain: WeakSet<Node>): boolean {
  if (node.if) return false;
  switch (node.kind) {
    case 'constant':
      return true;
    case 'value':
    case 'ref':
      return certain.has(node);
    case 'object':
      return objectNeverAbsent(node, certain);
    case 'list':
      return node.items.some(item => isNeverAbsent(item, certain));
    case 'each':
    case 'lines':
      return false;
    case 'first':
      return node.alternatives.some(alternative => isNeverAbsent(alternative, certain));
    case 'text': {
      const parts = node.parts.filter(part => typeof part !== 'string');
      if (node.mode === 'template') return parts.every(part => isNeverAbsent(part, certain));
      return parts.some(part => isNeverAbsent(part, certain));
    }
  }
}

function objectNeverAbsent(node: ObjectNode, certain: WeakSet<Node>): boolean {
  const needed = node.needs.every(name => node.members.some(m => provides(m, name) && memberNeverAbsent(m, certain)));
  return needed && node.members.some(m => !isConstant(m) && memberNeverAbsent(m, certain));
}

/** True if a member gives an element under this JSON name. */
export function provides(member: Member, name: string): boolean {
  if (member.kind === 'element') return member.name === name;
  return member.alternatives.some(alternative => alternative.some(named => named.name === name));
}

export function memberNeverAbsent(member: Member, certain: WeakSet<Node>): boolean {
  if (member.kind === 'element') return isNeverAbsent(member.node, certain);
  return member.alternatives.some(alternative => alternative.some(({ node }) => isNeverAbsent(node, certain)));
}

function isConstant(member: Member): boolean {
  return member.kind === 'element' && member.node.kind === 'constant';
}
