/**
 * Checks a pack against a live database for what only rows can prove. In: a registry and a database. Out: problems
 * with numbers of rows. It sends only SELECTs, one after the other.
 */
import type { Catalog } from '../../sql/catalog.ts';
import type { Database } from '../../sql/database.ts';
import { createReport, type Problem } from '../load/problem.ts';
import { tablesOf } from '../load/rows/tables-used.ts';
import type { Position, Registry } from '../model.ts';
import { checkDrift } from './drift.ts';
import { checkLiterals } from './literals.ts';
import { checkOrders } from './order.ts';
import { partsOf, sourcesOf } from './parts.ts';
import { askedAt, type ReadPiece, type ReadScope } from './questions.ts';
import { checkExpressions } from './raw.ts';
import { checkNumbers, checkSharedIds } from './shared-ids.ts';
import { checkTargets } from './targets.ts';
import { checkIds, checkKey, checkLookup, checkReference } from './unique.ts';
import { checkCodes, checkPieces, checkTableCodes } from './unmapped.ts';
import { checkWords } from './words.ts';

export interface LiveCheck {
  readonly registry: Registry;
  readonly database: Database;
  /** `scopeRelation` of src/plan/condition.ts. */
  readonly readScope: ReadScope;
  /** `somePiece` of src/plan/presence.ts. */
  readonly readPiece: ReadPiece;
  /** Milliseconds since the epoch, for conditions that compare with now. */
  readonly now: number;
  /** The schema that the pack was written for, if it has a lock. */
  readonly locked?: Catalog;
}

/** All problems that the rows show. Throws DatabaseError if the database does not answer. */
export async function checkLive({
  registry,
  database,
  readScope,
  readPiece,
  now,
  locked,
}: LiveCheck): Promise<readonly Problem[]> {
  const report = createReport();
  const asking = { database, readScope, readPiece, clock: { now } };
  const catalog = await database.catalog({ tables: [...tablesOf(registry), ...(locked?.tables.keys() ?? [])] });
  if (locked) checkDrift(locked, catalog, report);
  const { lookups, refs, children, pieces, values, expressions, tests } = partsOf(registry);
  const about = (at: Position, ask: () => Promise<void>): Promise<void> => askedAt(at, report, ask);
  for (const mapping of sourcesOf(registry)) await about(mapping.at, () => checkKey(mapping, catalog, asking, report));
  for (const mapping of registry.mappings) await about(mapping.at, () => checkIds(mapping, catalog, asking, report));
  await checkSharedIds(registry, asking, report);
  await checkNumbers(registry, asking, report);
  for (const one of lookups) await about(one.lookup.at, () => checkLookup(one, catalog, asking, report));
  for (const one of lookups) await about(one.lookup.at, () => checkOrders([one], [], catalog, asking, report));
  for (const one of children) await about(one.at, () => checkOrders([], [one], catalog, asking, report));
  for (const { node } of refs) await about(node.at, () => checkReference(node, registry, catalog, asking, report));
  for (const one of refs) await about(one.node.at, () => checkTargets([one], registry, asking, report));
  for (const one of tests) if (one.test.at) await about(one.test.at, () => checkLiterals([one], asking, report));
  for (const one of expressions) await about(one.node.at, () => checkExpressions([one], asking, report));
  for (const one of registry.pack.words ?? []) await about(one.at, () => checkWords([one], asking, report));
  await checkCodes(values, asking, report);
  await checkTableCodes(lookups, asking, report);
  for (const one of pieces) await about(one.at, () => checkPieces([one], asking, report));
  return report.problems();
}
