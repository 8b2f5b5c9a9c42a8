/**
 * Prints a readable outline of a node, for the loader's tests. In: a node. Out: plain data: bindings as `p.SEX via
 * code`, constants unchanged, `if` and `needs` next to them.
 */
import type { Condition, JoinColumn, Node, Scope } from '../../../src/mapping/model.ts';
import type { Expression } from '../../../src/sql/expression.ts';

export function outline(node: Node): unknown {
  const inner = withoutIf(node);
  return node.if ? { if: conditionText(node.if), node: inner } : inner;
}

function withoutIf(node: Node): unknown {
  switch (node.kind) {
    case 'constant':
      return node.json;
    case 'value': {
      const absent = node.absent.length > 0 ? ` but ${node.absent.join(', ')}` : '';
      return `${node.from.map(columnText).join(' and ')} via ${node.codec.label}${absent}`;
    }
    case 'object': {
      const members = node.members.map(member =>
        member.kind === 'element'
          ? [member.name, outline(member.node)]
          : ['first', member.alternatives.map(a => Object.fromEntries(a.map(n => [n.name, outline(n.node)])))],
      );
      const needs = node.needs.length > 0 ? { '(needs)': node.needs.join(', ') } : {};
      return { ...Object.fromEntries(members), ...needs };
    }
    case 'list':
      return node.items.map(outline);
    case 'each':
      return node.from.kind === 'rows'
        ? {
            each: `${scopeText(node.from.scope)} on ${onText(node.from.on)}`,
            order: node.from.order.map(o => `${o.descending ? '-' : ''}${columnText(o.by)}`),
            item: outline(node.item),
          }
        : {
            each: `${columnText(node.from.column)} by ${node.from.by} as ${node.from.alias}`,
            parts: node.from.parts,
            item: outline(node.item),
          };
    case 'first':
      return { first: node.alternatives.map(outline) };
    case 'ref': {
      const further = Object.fromEntries(node.members.map(n => [n.name, outline(n.node)]));
      return { ref: `${node.as} to ${node.target} on ${onText(node.on)}${node.exists ? '' : ' unseen'}`, ...further };
    }
    case 'lines':
      return { lines: outline(node.each), separator: node.separator, via: node.codec.label };
    case 'text':
      return {
        [node.mode]: node.parts.map(p => (typeof p === 'string' ? p : outline(p))),
        separator: node.separator,
      };
  }
}

export function onText(on: readonly JoinColumn[]): string {
  return on.map(({ theirs, ours }) => `${columnText(theirs)}=${columnText(ours)}`).join(', ');
}

export function scopeText(scope: Scope): string {
  const where = scope.where.kind === 'always' ? '' : ` where ${conditionText(scope.where)}`;
  return `${scope.table.name} ${scope.alias}${where}`;
}

export function columnText(column: Expression): string {
  if (column.kind === 'column') return `${column.alias}.${column.column}`;
  if (column.kind === 'raw') return column.parts.map(p => (typeof p === 'string' ? p : columnText(p))).join('');
  return column.kind;
}

export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'always':
      return 'always';
    case 'all':
      return `(${condition.of.map(conditionText).join(' and ')})`;
    case 'any':
      return `(${condition.of.map(conditionText).join(' or ')})`;
    case 'none':
      return `not ${conditionText(condition.of)}`;
    case 'is':
      return `${columnText(condition.column)} is ${condition.values.map(v => JSON.stringify(v)).join('|')}`;
    case 'order':
      return `${columnText(condition.column)} ${condition.op} ${JSON.stringify(condition.value)}`;
    case 'now':
      return `${columnText(condition.column)} ${condition.op} now via ${condition.codec.label}`;
    case 'matches':
      return `${columnText(condition.column)} like ${condition.pattern}`;
    case 'same':
      return `${columnText(condition.column)} is ${columnText(condition.other)}`;
    case 'ordered': {
      const via = condition.codec ? ` via ${condition.codec.label}` : '';
      return `${columnText(condition.column)} ${condition.op} ${columnText(condition.other)}${via}`;
    }
    case 'present':
      return `${columnText(condition.column)} present`;
    case 'exists':
      return `exists ${scopeText(condition.scope)} on ${onText(condition.on)}`;
  }
}
