/**
 * Which tables a plan reads. In: a plan. Out: its table, those joined, and those that conditions and values look into,
 * each by a name that is the same for every way of writing it.
 */
import type { Expression, Order, Predicate, Relation } from '../sql/expression.ts';
import type { TableName } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';

/** Engines compare names without case. */
export function tableKey({ schema, name }: TableName): string {
  return `${schema ?? ''}.${name}`.toLowerCase();
}

/** Stands for whatever an expression in SQL's own words reads; no table has this name. */
export const HIDDEN_TABLE = '(sql)';

/** Calls `take` for each place where a table stands in the plan; it may be called for one table many times. */
export function eachTable(plan: SqlPlan, take: (table: string) => void): void {
  const relation = (of: Relation): void => {
    take(tableKey(of.table));
    for (const join of of.joins) {
      take(tableKey(join.table));
      predicate(join.on);
      orders(join.pick ?? []);
    }
    predicate(of.where);
  };
  const orders = (all: readonly Order[]): void => {
    for (const { by } of all) expression(by);
  };
  const expression = (of: Expression): void => {
    switch (of.kind) {
      case 'function':
        for (const argument of of.args) if (typeof argument !== 'number') expression(argument);
        break;
      case 'flag':
        predicate(of.when);
        break;
      case 'given':
        predicate(of.when);
        expression(of.of);
        break;
      case 'scalar':
        expression(of.select);
        relation(of.from);
        break;
      case 'raw':
        mixed(of.parts);
        break;
      case 'column':
      case 'value':
        break;
    }
  };
  const mixed = (parts: readonly (string | Expression)[]): void => {
    for (const part of parts) {
      if (typeof part !== 'string') expression(part);
      else if (/\bselect\b/i.test(part)) take(HIDDEN_TABLE);
    }
  };
  const predicate = (of: Predicate): void => {
    switch (of.kind) {
      case 'and':
      case 'or':
        for (const part of of.of) predicate(part);
        break;
      case 'compare':
      case 'equals':
        expression(of.left);
        expression(of.right);
        break;
      case 'in':
        expression(of.left);
        for (const one of of.values) expression(one);
        break;
      case 'exists':
        relation(of.from);
        break;
      case 'some-piece':
        expression(of.of);
        predicate(of.where);
        break;
      case 'raw':
        mixed(of.parts);
        break;
      case 'null':
      case 'filled':
      case 'contains':
      case 'glob':
      case 'packed-date':
        expression(of.of);
        break;
      case 'true':
      case 'false':
        break;
    }
  };
  relation(plan.from);
  for (const column of plan.columns) expression(column);
  orders(plan.orderBy);
}
