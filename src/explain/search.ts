/**
 * Explains how a search is executed: typed query, mappings kept and pruned, SQL for each engine, the index that serves
 * it, the source of each element. In: a search. Out: a description for src/cli/explain.ts.
 */

import { OPEN_ACCESS } from '../auth/access.ts';
import type { Facade, RequestContext } from '../facade.ts';
import { namedNodesOf } from '../mapping/children.ts';
import { placeText } from '../mapping/load/problem.ts';
import type { Mapping, Node } from '../mapping/model.ts';
import { type DryRunStatement, dryRun } from '../pipeline/dry-run.ts';
import { planResolved } from '../pipeline/plans.ts';
import { openSession } from '../pipeline/session.ts';
import { shapeStore } from '../pipeline/shapes.ts';
import { branchesOf } from '../plan/branches.ts';
import { environment } from '../plan/environment.ts';
import { foldedTexts, unfitIndexes } from '../plan/index-use.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import { wants } from '../resource/selection.ts';
import type { SearchQuery } from '../search/query.ts';
import { type Database, DatabaseError, type IndexToTry } from '../sql/database.ts';
import { ENGINES, engineNamed } from '../sql/engines.ts';
import type { Expression } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { PlaceholderValues, SqlPlan, Statement } from '../sql/plan.ts';
import { renderedBy } from '../sql/statement.ts';

export interface Explanation {
  readonly query: SearchQuery;
  /** Every mapping of the type; `read`: whether its rows are read. */
  readonly mappings: readonly { readonly name: string; readonly place: string; readonly read: boolean }[];
  readonly statements: readonly ExplainedStatement[];
  readonly lineage: readonly Lineage[];
}

export interface ExplainedStatement {
  /** As in DryRunStatement; `keys of …` are sent before the search can be planned. */
  readonly purpose: string;
  /** The mappings that it reads; empty for a statement that is needed for planning. */
  readonly mappings: readonly string[];
  /** The statement for each engine. */
  readonly rendered: readonly RenderedStatement[];
  /** The index or scan that serves it, as the engine reports. */
  readonly served: readonly string[];
  /** The same with the indexes of `ExplainOptions`; undefined if the engine cannot estimate that. */
  readonly servedWith?: readonly string[] | undefined;
}

export interface ExplainOptions {
  readonly now: number;
  readonly handling: RequestContext['handling'];
  /** Returns hypothetical indexes to try. */
  readonly indexes?: (query: SearchQuery) => readonly IndexToTry[];
}

export interface RenderedStatement extends Statement {
  /** The name of the engine. */
  readonly engine: string;
}

/** An element with the origin of its value. */
export interface Lineage {
  readonly mapping: string;
  readonly element: string;
  /** Columns with their codec, a constant, or a target mapping. */
  readonly from: string;
  readonly place: string;
  readonly at: Mapping['at'];
}

/** Explains a search. Throws FhirError for a search that the facade would refuse. */
export async function explainSearch(
  facade: Facade,
  database: Database,
  request: { readonly type: string; readonly parameters: readonly (readonly [string, string])[] },
  { now, handling, indexes: wanted }: ExplainOptions,
): Promise<Explanation> {
  const { registry } = facade;
  const query = facade.parse(request, { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling });
  const resolving: DryRunStatement[] = [];
  const session = openSession(database, environment(registry, now, FULL_VISIBILITY), shapeStore(), {
    onQuery: (plan, placeholders) =>
      resolving.push({ purpose: `keys of ${plan.from.table.name}`, mappings: [], plan, placeholders }),
  });
  const { type, filters, sort } = query;
  const branches = await planResolved(session, () => branchesOf({ type, filters, sort }, session.env));
  const renderers = [...ENGINES].map(([engine, { dialect }]) => ({ engine, render: renderedBy(dialect) }));
  const indexes = wanted?.(query) ?? [];
  const read = new Set(branches.flatMap(branch => branch.mappings.map(({ mapping }) => mapping)));
  const statements = [...resolving, ...(await dryRun(query, branches, session))];
  return {
    query,
    mappings: registry
      .ofType(type)
      .map(mapping => ({ name: mapping.name, place: placeText(mapping.at), read: read.has(mapping) })),
    statements: await Promise.all(
      statements.map(async ({ purpose, mappings, plan, placeholders }) => ({
        purpose,
        mappings,
        rendered: renderers.map(({ engine, render }) => ({ engine, ...render(plan, placeholders, now) })),
        served: [
          ...(await planOf(database, plan, placeholders, now)),
          ...(await unfitIndexes(plan, tables => database.catalog({ tables }))),
          ...foldedTexts(plan, registry.pack.words ?? [], engineNamed(database.engine).wordTable !== undefined),
        ],
        ...(indexes.length > 0 ? { servedWith: await database.whatIf?.(plan, indexes, placeholders, now) } : {}),
      })),
    ),
    lineage: [...read].flatMap(mapping => lineageOf(mapping)).filter(({ element }) => isAnswered(element, query)),
  };
}

/** True if the answer contains an element: `_elements` and `_summary` may leave it out. */
function isAnswered(element: string, { type, selection }: SearchQuery): boolean {
  const [name = ''] = element.split(/[.[]/, 1);
  return name === 'meta' || wants(type, name, selection);
}

/** Returns the engine's plan, or a note why there is none; the rest of the explanation is useful without it. */
async function planOf(
  database: Database,
  plan: SqlPlan,
  placeholders: PlaceholderValues | undefined,
  now: number,
): Promise<readonly string[]> {
  try {
    return await database.explain(plan, placeholders, now);
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.reason === 'cancelled') throw error;
    return [`the database gives no plan: ${error.message}`];
  }
}

/** Returns the origin of each element of a mapping's resources. */
export function lineageOf(mapping: Mapping): readonly Lineage[] {
  const found: Lineage[] = [];
  const visit = (node: Node, element: string): void => {
    const say = (from: string): void => {
      found.push({ mapping: mapping.name, element, from, place: placeText(node.at), at: node.at });
    };
    switch (node.kind) {
      case 'constant':
        say(`constant ${JSON.stringify(node.json)}`);
        return;
      case 'value':
        say(`${node.from.map(sourceOf).join(', ')} via ${node.codec.label}`);
        return;
      case 'ref':
        say(`${node.on.map(({ ours }) => sourceOf(ours)).join(', ')} → ${node.target}`);
        for (const { name, node: child } of node.members) visit(child, `${element}.${name}`);
        return;
      case 'text':
        for (const part of node.parts) if (typeof part !== 'string') visit(part, element);
        return;
      case 'lines':
        visit(node.each, element);
        return;
      case 'object':
        for (const { name, node: child } of node.members.flatMap(namedNodesOf))
          visit(child, element === '' ? name : `${element}.${name}`);
        return;
      case 'list':
        for (const item of node.items) visit(item, element);
        return;
      case 'first':
        node.alternatives.forEach(alternative => {
          visit(alternative, element);
        });
        return;
      case 'each':
        visit(
          node.item,
          `${element}[${node.from.kind === 'pieces' ? sourceOf(node.from.column) : node.from.scope.table.name}]`,
        );
        return;
    }
  };
  visit(mapping.root, '');
  return found;
}

function sourceOf(expression: Expression): string {
  if (expression.kind === 'choice') return expression.of.map(({ give }) => sourceOf(give)).join(', ');
  return expression.kind === 'flag' || expression.kind === 'scalar'
    ? `(${expression.kind})`
    : expressionKey(expression);
}
