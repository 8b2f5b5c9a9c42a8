/**
 * Counts rows of a table by conditions, many in one statement. In: a scope, and conditions. Out: numbers of rows. For a
 * large table it counts random ranges of a whole-number key, drawn by the seed of the check.
 */
import type { Scope } from '../mapping/model.ts';
import { bareRelation } from '../plan/condition.ts';
import type { Environment } from '../plan/environment.ts';
import { and, compare, flag, isNull, not, or, TRUE, value } from '../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../sql/expression.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { type Random, randomFrom } from './pool.ts';
import { yieldToEventLoop } from './sample.ts';
import type { CheckContext } from './section.ts';
import type { Counted } from './suspicions.ts';

/** Of a table with more rows, about SAMPLED rows are counted, in ranges of its key. */
const LARGE = 200_000;
const SAMPLED = 40_000;
const RANGES = 8;
/** Conditions per statement. */
const AT_ONCE = 40;

export class RowCounter {
  /** Tables of which only ranges were counted. */
  readonly sampled: string[] = [];
  readonly #context: CheckContext;
  readonly #env: Environment;
  readonly #random: Random;

  constructor(context: CheckContext, env: Environment) {
    this.#context = context;
    this.#env = env;
    this.#random = randomFrom(context.seed);
  }

  /**
   * Chooses which rows of a table are counted: all of them, or ranges of a whole-number column. `total`: how many are
   * counted; `all`: how many there are.
   */
  async range(
    scope: Scope,
    lead: ColumnExpression | undefined,
  ): Promise<{ readonly total: number; readonly all: number; readonly within: Predicate }> {
    const bare = bareOf(scope);
    const [total = 0] = await this.sums(bare, TRUE, []);
    if (total <= LARGE || lead?.type.kind !== 'integer' || lead.alias !== scope.alias || this.#context.all)
      return { total, all: total, within: TRUE };
    const [low, high] = [await this.end(scope, lead, false), await this.end(scope, lead, true)];
    const width = Math.max(1, Math.ceil(((high - low + 1) * SAMPLED) / total / RANGES));
    const within = or(
      ...Array.from({ length: RANGES }, () => {
        const from = low + Math.floor(this.#random() * (high - low - width + 1));
        return and(compare(lead, '>=', value(from, lead.type)), compare(lead, '<', value(from + width, lead.type)));
      }),
    );
    if (!this.sampled.includes(scope.table.name)) this.sampled.push(scope.table.name);
    const [rows = 0] = await this.sums(bare, within, []);
    return { total: rows, all: total, within };
  }

  /** Calls each condition's `take` with the number of rows of the scope that fulfil it. */
  async count(scope: Scope, within: Predicate, asked: readonly Counted[]): Promise<void> {
    for (let at = 0; at < asked.length; at += AT_ONCE) {
      const some = asked.slice(at, at + AT_ONCE);
      const [, ...sums] = await this.sums(
        scope,
        within,
        some.map(({ when }) => when),
      );
      for (const [i, { take }] of some.entries()) take(sums[i] ?? 0);
      await yieldToEventLoop();
    }
  }

  /** Returns the number of rows, then the number for each condition. */
  async sums(scope: Scope, where: Predicate, conditions: readonly Predicate[]): Promise<readonly number[]> {
    const columns = conditions.map(flag);
    const plan: SqlPlan = {
      from: bareRelation(scope, where, this.#env, columns),
      columns,
      orderBy: [],
      limit: 1,
      shape: 'sums',
      searches: true,
    };
    const [row = []] = await this.#context.database.query(plan, { signal: this.#context.signal });
    return row.map(Number);
  }

  /** Returns the least or greatest value of a whole-number column. */
  async end(scope: Scope, column: ColumnExpression, descending: boolean): Promise<number> {
    const from = bareRelation(bareOf(scope), not(isNull(column)), this.#env, [column]);
    const orderBy = [{ by: column, descending }];
    const plan: SqlPlan = { from, columns: [column], orderBy, limit: 1, shape: 'rows', searches: true };
    const [row] = await this.#context.database.query(plan, { signal: this.#context.signal });
    return Number(row?.[0] ?? 0);
  }
}

/** Returns the table and its alias, without condition and lookups. */
export function bareOf(scope: Scope): Scope {
  return { ...scope, where: { kind: 'always' }, lookups: [] };
}
