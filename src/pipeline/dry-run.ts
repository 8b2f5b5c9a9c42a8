/**
 * Dry run: collects the statements that a search would send, without reading a row of the database, for `lintel
 * explain`.
 *
 * In: the branches of a search. Out: plans, each with its purpose. If a statement depends on the rows of another, it
 * gets one dummy row.
 */
import { printStored } from '../mapping/codecs/stored-time.ts';
import { type Branch, groupBranches } from '../plan/branches.ts';
import type { SearchQuery } from '../search/query.ts';
import type { ColumnType } from '../sql/column-type.ts';
import type { SqlValue } from '../sql/expression.ts';
import type { PlaceholderValues, SqlPlan } from '../sql/plan.ts';
import { planBranch } from './branch-plan.ts';
import { type Emittable, type Emitted, emitRows } from './emitted.ts';
import { frontierOf, wantedForIncludes } from './frontier.ts';
import { readIncluded } from './includes.ts';
import { countMatches } from './page.ts';
import type { Session } from './session.ts';

export interface DryRunStatement {
  /** `page of <mappings>`, `TABLE of <mapping>` for its collections, `included: …`, `total of …`. */
  readonly purpose: string;
  /** The mappings that the statement is for. */
  readonly mappings: readonly string[];
  readonly plan: SqlPlan;
  readonly placeholders?: PlaceholderValues | undefined;
}

/**
 * Returns the statements, in the order in which they would first be sent; a full page needs fewer of the later ones.
 */
export async function dryRun(
  query: SearchQuery,
  branches: readonly Branch[],
  session: Session,
): Promise<readonly DryRunStatement[]> {
  const found: DryRunStatement[] = [];
  const { sort, selection, count, cursor, includes, revincludes } = query;
  const write = { base: '', now: session.env.now, zone: session.registry.pack.zone };
  const also = wantedForIncludes({ includes, revincludes }, session);

  const resourcesOf = async (
    of: readonly Branch[],
    prefix: string,
    page: typeof query,
  ): Promise<readonly Emitted[]> => {
    const items = of.flatMap((branch): readonly Emittable[] => {
      const planned = planBranch(branch, { ...page, also }, page.count + 1, session);
      if (!planned) return [];
      const mappings = branch.mappings.map(({ mapping }) => mapping.name);
      const sorted = branch.sort[0] === null ? ', rows without the value that sorts' : '';
      found.push({ purpose: `${prefix} ${mappings.join(', ')}${sorted}`, mappings, plan: planned.plan });
      const row = planned.plan.columns.map(({ type }) => madeUp(type));
      return branch.mappings.map(({ mapping }) => ({ mapping, row, shaped: planned.shaped }));
    });
    const collections: Session = {
      ...session,
      query: (plan, mapping, placeholders) => noted(`${plan.from.table.name} of`, mapping, plan, placeholders),
    };
    return emitRows(items, write, collections);
  };
  const noted = async (
    what: string,
    mapping: string,
    plan: SqlPlan,
    placeholders?: PlaceholderValues,
  ): Promise<readonly (readonly SqlValue[])[]> => {
    found.push({ purpose: `${what} ${mapping}`, mappings: [mapping], plan, placeholders });
    return [plan.columns.map(({ type }) => madeUp(type))];
  };

  const frontier = frontierOf(query, session);
  if (count > 0) frontier.add(await resourcesOf(branches, 'page of', { ...query, sort, selection, cursor }));
  await readIncluded(
    frontier,
    {
      query,
      read: async asked => {
        const own = { ...query, sort: [], cursor: undefined };
        const of = asked.map(one => groupBranches([one], [], session.env));
        const resources = (await Promise.all(of.map(some => resourcesOf(some, 'included:', own)))).flat();
        return { resources, isFull: false };
      },
    },
    { ...session, query: (plan, mapping, placeholders) => noted('keys of', mapping, plan, placeholders) },
  );
  if (query.total !== 'none') {
    const totals: Session = {
      ...session,
      query: (plan, mapping, placeholders) => noted('total of', mapping, plan, placeholders),
    };
    await countMatches(branches, totals);
  }
  return found;
}

/** Returns a dummy value that a column of the type can hold. */
function madeUp(type: ColumnType): SqlValue {
  switch (type.kind) {
    case 'text':
      return '1';
    case 'integer':
    case 'bit':
    case 'float':
      return 1;
    case 'decimal':
      return '1';
    case 'date':
      return '2000-01-01';
    case 'datetime':
      return printStored(Date.UTC(2000, 0, 1), type);
    case 'instant':
      return `2000-01-01 00:00:00${type.fraction > 0 ? `.${'0'.repeat(type.fraction)}` : ''}`;
    case 'time':
      return `00:00:00${type.fraction > 0 ? `.${'0'.repeat(type.fraction)}` : ''}`;
    case 'uuid':
      return '00000000-0000-0000-0000-000000000001';
    case 'binary':
      return new Uint8Array(16);
  }
}
