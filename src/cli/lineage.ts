/**
 * Where each element of a mapping comes from. In: a mapping. Out: lines of element, columns with codec, and place in the
 * pack. Literals of the mapping are shown; there is no data here.
 */
import type { EachNode, Mapping, Member, Node, Position, Scope } from '../mapping/model.ts';
import type { Expression } from '../sql/expression.ts';
import type { TableName } from '../sql/identifier.ts';
import { renderExpression } from '../sql/render.ts';
import { SQLITE } from '../sql/sqlite/dialect.ts';

export interface Lineage {
  /** FHIRPath-like; alternatives and items of one element repeat it. */
  readonly element: string;
  readonly origin: string;
  readonly at: Position;
}

/** The table of a mapping's rows and those joined to it: `alias = table`. */
export function tablesOf({ source }: Mapping): readonly string[] {
  return scopeTables(source);
}

/** One entry per leaf, in the order of the mapping. */
export function lineageOf(mapping: Mapping): readonly Lineage[] {
  return ofNode(mapping.root, mapping.resource, '');
}

function scopeTables({ table, alias, lookups }: Scope): readonly string[] {
  return [{ table, alias }, ...lookups].map(one => `${one.alias} = ${tableText(one.table)}`);
}

function tableText({ schema, name }: TableName): string {
  return schema === undefined ? name : `${schema}.${name}`;
}

/** `how`: what stands before the origin, such as `else`. */
function ofNode(node: Node, element: string, how: string): readonly Lineage[] {
  const leaf = (origin: string): readonly Lineage[] => [
    { element, origin: `${how}${origin}${node.if === undefined ? '' : ', under a condition'}`, at: node.at },
  ];
  switch (node.kind) {
    case 'constant':
      return leaf(`always ${JSON.stringify(node.json)}`);
    case 'value':
      return leaf(`${node.from.map(expressionText).join(', ')} via ${node.codec.label}`);
    case 'object':
      return node.members.flatMap(member => ofMember(member, element, how));
    case 'list':
      return node.items.flatMap(item => ofNode(item, element, how));
    case 'each':
      return ofNode(node.item, `${element}[]`, `${how}${rowsText(node)}: `);
    case 'first':
      return node.alternatives.flatMap((one, i) => ofNode(one, element, `${how}${i === 0 ? '' : 'else '}`));
    case 'ref': {
      const on = node.on.map(({ theirs, ours }) => `${expressionText(theirs)} = ${expressionText(ours)}`).join(' and ');
      const members = node.members.flatMap(({ name, node: own }) => ofNode(own, `${element}.${name}`, how));
      return [...leaf(`refers to ${node.target} where ${on}`), ...members];
    }
    case 'text': {
      const parts = node.parts.filter(part => typeof part !== 'string');
      return parts.flatMap(part => ofNode(part, element, `${how}part of a text: `));
    }
  }
}

function ofMember(member: Member, element: string, how: string): readonly Lineage[] {
  if (member.kind === 'element') return ofNode(member.node, `${element}.${member.name}`, how);
  return member.alternatives.flatMap((named, i) =>
    named.flatMap(({ name, node }) => ofNode(node, `${element}.${name}`, `${how}${i === 0 ? '' : 'else '}`)),
  );
}

function rowsText({ from }: EachNode): string {
  if (from.kind === 'rows') return `each row of ${scopeTables(from.scope).join(', ')}`;
  return `each piece of ${expressionText(from.column)} as ${from.alias}`;
}

function expressionText(expression: Expression): string {
  return renderExpression(expression, SQLITE).text;
}
