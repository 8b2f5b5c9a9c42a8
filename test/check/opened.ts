/**
 * Opens a pack over a small database for the sections of a check, so that a test can break a codec or a plan
 * beforehand. In: a clinic. Out: its registry and database; runs sections over them, and returns what they report.
 */
import { join } from 'node:path';
import { ROWS } from '../../src/check/rows.ts';
import { runSections, type SectionReport } from '../../src/check/run.ts';
import { SEARCHES } from '../../src/check/searches.ts';
import type { CheckSection } from '../../src/check/section.ts';
import { VALUES } from '../../src/check/values.ts';
import { childrenOf } from '../../src/mapping/children.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import type { Node, Registry, ValueNode } from '../../src/mapping/model.ts';
import { ALL_RULES, type Rules } from '../../src/plan/environment.ts';
import type { Database } from '../../src/sql/database.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import type { SmallClinic } from '../cli/small-clinic.ts';
import { facadeOver } from '../facade-over.ts';

const NOW = Date.UTC(2026, 5, 30);

export interface Opened {
  readonly registry: Registry;
  readonly database: Database;
}

/** `looked`: examines the forms of its rows first, as the commands do. */
export async function open(
  { folder, pack }: SmallClinic,
  { looked = false }: { readonly looked?: boolean } = {},
): Promise<Opened & { close(): Promise<void> }> {
  const database = openSqlite(join(folder, 'clinic.sqlite'));
  const bare = await database.catalog();
  const catalog = looked ? await database.forms?.(bare, () => true) : bare;
  const { registry, problems } = loadPack(pack, catalog ?? bare);
  if (!registry) throw new Error(problems.map(formatProblem).join('\n'));
  return { registry, database, close: () => database.close() };
}

interface How {
  readonly values?: boolean;
  readonly rules?: Rules;
  readonly sections?: readonly CheckSection[];
  /** As `--all`. */
  readonly all?: boolean;
}

/** Runs the sections; by default those that compare, search and count. */
export async function check(
  { registry, database }: Opened,
  { values = false, rules = ALL_RULES, sections = [VALUES, SEARCHES, ROWS], all = false }: How = {},
): Promise<readonly SectionReport[]> {
  return runSections(sections, {
    registry,
    database,
    catalog: await database.catalog(),
    facadeOver: over => facadeOver({ registry, database: over, rules, clock: () => NOW }),
    now: NOW,
    seed: 1,
    budgetSeconds: undefined,
    values,
    all,
  });
}

export const told = (reports: readonly SectionReport[]): readonly string[] =>
  reports.flatMap(({ problems }) => problems.map(formatProblem));

/** Returns the node of a mapping that reads a column (`sql`: an expression) by a codec with a matching label. */
export function reading({ registry }: Opened, mapping: string, column: string, label = /./): ValueNode {
  const reads = (node: ValueNode): boolean =>
    label.test(node.codec.label) &&
    node.from.some(from => (from.kind === 'column' ? from.column : from.kind === 'raw' ? 'sql' : '') === column);
  const visit = (node: Node): readonly ValueNode[] => [
    ...(node.kind === 'value' && reads(node) ? [node] : []),
    ...childrenOf(node).flatMap(visit),
  ];
  const [found] = visit(registry.mapping(mapping).root);
  if (!found) throw new Error(`nothing reads ${column}`);
  return found;
}
