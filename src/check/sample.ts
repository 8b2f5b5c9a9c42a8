/**
 * Reads a sample of rows by an independent reading. In: the mappings and the database. Out: each row by each mapping of
 * its source: the resource that it must become, what the server has under its id, and the values that were read. The
 * sample covers each form of a value, each mapping and each branch of it.
 */

import { OPEN_CONTEXT } from '../auth/access.ts';
import { getOrInsert } from '../common/caches.ts';
import { plural } from '../common/plural.ts';
import { readColumns } from '../law/columns.ts';
import { agreeing } from '../law/expected.ts';
import type { StoredRow } from '../law/fetched-rows.ts';
import { Interpreter } from '../law/interpret.ts';
import { contradicts } from '../law/readings.ts';
import { StoredRows, type View } from '../law/stored-rows.ts';
import { ifJudged, type Thing } from '../law/thing.ts';
import type { Primitive } from '../mapping/codecs/codec.ts';
import type { Mapping, Node, ValueNode } from '../mapping/model.ts';
import { bareRelation } from '../plan/condition.ts';
import { environment } from '../plan/environment.ts';
import { idsPredicate } from '../plan/identity.ts';
import { servedPredicate } from '../plan/presence.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import { and, TRUE } from '../sql/construct.ts';
import { DatabaseError, TOO_LONG } from '../sql/database.ts';
import type { Expression, Predicate, SqlValue } from '../sql/expression.ts';
import { tableKey } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { branchesOfMapping } from './mapping-branches.ts';
import { everyRow, poolOf, randomFrom, strangest } from './pool.ts';
import type { CheckContext, SampledResource } from './section.ts';
import { withServed } from './served.ts';

/** Rows compared per source, and rows per list if all are compared. */
const PER_SOURCE = 40;
const PER_LIST = 400;
/** Rows for a mapping of which the sample has no resource. */
const PER_RARE = 5;
/** Rows of each branch of a mapping. */
const PER_BRANCH = 1;
/**
 * Limit of resources that are kept for further sections if every row is read. Beyond it, the source with the most loses
 * one, so that a large table leaves room for the sources after it.
 */
const KEPT = 20_000;
/** Rounds of fetching: a row may need other rows, which need further ones. */
const ROUNDS = 12;

/** One row, read by one mapping. */
export interface SampledRow {
  readonly mapping: Mapping;
  /** The resource by the interpreter; undefined if the row is no resource. */
  readonly expected: Thing | undefined;
  /** Undefined if no id can be written. */
  readonly id: string | undefined;
  /** Every resource that the server has under the id. */
  readonly served: readonly string[];
  /** Stored values and their interpretation, by node. */
  readonly values: ReadonlyMap<Node, ReadValue>;
}

export interface ReadValue {
  readonly stored: readonly SqlValue[];
  readonly value: Primitive | undefined;
  /** True if the codec and an independent reading of the stored value contradict each other. */
  readonly contradicted: boolean;
}

export interface Sample {
  readonly rows: number;
  readonly resources: readonly SampledResource[];
  /** Sources that the time budget did not reach. */
  readonly unreached: readonly string[];
  /** Rows that depend on an expression which only the engine can evaluate. */
  readonly unjudged: number;
  /** Mappings with too many branches, each with the number of branches left out. */
  readonly cut: readonly string[];
}

/** The inputs of a sample. */
export type Asking = Pick<
  CheckContext,
  'registry' | 'mappings' | 'database' | 'facade' | 'now' | 'seed' | 'all' | 'signal' | 'refused'
> & {
  readonly progress?: CheckContext['progress'];
  /** Rows per source. Default: enough to see each form of a value. */
  readonly perSource?: number;
};

/** Takes the sample. `onRow` is called once per row. Rejects with DatabaseError. */
export async function takeSample(asking: Asking, onRow: (row: SampledRow) => void): Promise<Sample> {
  const { registry, mappings: chosen, database, seed, now, signal, perSource = PER_SOURCE } = asking;
  const { catalog, columns } = await readColumns(registry, database);
  const random = randomFrom(seed);
  const kept = createKept(random);
  const unreached = new Set<string>();
  const looks: Look[] = [];
  const cut: string[] = [];
  let rows = 0;
  let unjudged = 0;
  for (const mappings of Map.groupBy(chosen, asking.all ? readTogether : ({ group }) => group).values()) {
    const [first] = mappings;
    const groups = [...new Set(mappings.map(({ group }) => group))];
    if (!first) continue;
    const reader = readerOf(asking, new StoredRows(registry, database, columns));
    const seen = new Set<Mapping>();
    const known = new Set<string>();
    const see = async (list: readonly StoredRow[]): Promise<void> => {
      const fresh = asking.all ? list : list.filter(row => isFresh(row, known));
      const read = await readAll(fresh, mappings, reader, signal);
      unjudged += fresh.length * mappings.length - read.length;
      rows += fresh.length;
      for (const one of await withoutRowsOfSameId(await withServed(read, reader.interpreter, asking), reader, asking)) {
        onRow(one);
        if (!one.expected) continue;
        seen.add(one.mapping);
        const [json] = one.served;
        if (json !== undefined) kept.add(one.mapping.group, { mapping: one.mapping, id: one.id ?? '', json });
      }
    };
    const seeAll = async (): Promise<void> => {
      for await (const list of everyRow(first.source, reader.rows, PER_LIST, signal)) {
        await see(list);
        asking.progress?.(`${plural(rows, 'row')}, ${first.source.table.name}`);
        await yieldToEventLoop();
      }
    };
    const seeSome = async (): Promise<void> => {
      const pool = await poolOf(first.source, reader.rows, catalog, random, signal);
      await see(strangest(pool, perSource));
    };
    const find = async (mapping: Mapping, where: Predicate, limit: number): Promise<void> =>
      see(await servedRows(mapping, where, limit, reader.rows, asking));
    looks.push({ groups, of: first, isDeep: false, look: asking.all ? seeAll : seeSome });
    if (asking.all) continue;
    for (const mapping of mappings) {
      looks.push({
        groups,
        of: mapping,
        isDeep: false,
        look: async () => (seen.has(mapping) ? undefined : find(mapping, TRUE, PER_RARE)),
      });
      const branches = branchesOfMapping(mapping, environment(registry, now, FULL_VISIBILITY));
      if (branches.left > 0) cut.push(`${mapping.name} (${branches.left})`);
      for (const branch of branches.looked)
        looks.push({ groups, of: mapping, isDeep: true, look: () => find(mapping, branch, PER_BRANCH) });
    }
  }
  // Finding the rare row of a branch may need a full scan, so each source has its turn before.
  for (const { groups, of, look } of [...looks.filter(one => !one.isDeep), ...looks.filter(one => one.isDeep)]) {
    await yieldToEventLoop();
    try {
      if (!signal.aborted) {
        await look();
        continue;
      }
    } catch (error) {
      if (asking.refused(error, `values of ${groups.join(', ')}`, of)) continue;
      if (!isOver(error, signal)) throw error;
    }
    for (const group of groups) unreached.add(group);
  }
  return { rows, resources: kept.all(), unreached: [...unreached], unjudged, cut };
}

/** Keeps resources by source, up to the limit. */
function createKept(random: () => number): {
  add(group: string, resource: Omit<SampledResource, 'resource'>): void;
  all(): readonly SampledResource[];
} {
  const groups = new Map<string, Omit<SampledResource, 'resource'>[]>();
  let count = 0;
  return {
    add(group, resource) {
      getOrInsert(groups, group, () => []).push(resource);
      if (++count <= KEPT) return;
      const most = [...groups.values()].reduce((a, b) => (b.length > a.length ? b : a));
      const [last, at] = [most.pop(), Math.floor(random() * (most.length + 1))];
      if (last !== undefined && at < most.length) most[at] = last;
      count--;
    },
    all: () => [...groups.values()].flat().map(one => ({ ...one, resource: JSON.parse(one.json) })),
  };
}

/** A set of rows of a source to read. */
interface Look {
  readonly groups: readonly string[];
  readonly of: Mapping;
  /** True if the rows must be searched by a condition. */
  readonly isDeep: boolean;
  readonly look: () => Promise<void>;
}

/** True if a row was not read before; remembers it. */
function isFresh(row: StoredRow, known: Set<string>): boolean {
  const name = JSON.stringify([...row.values()].map(String));
  if (known.has(name)) return false;
  known.add(name);
  return true;
}

/** True if an error only means that the time is over. */
export function isOver(error: unknown, signal: AbortSignal): boolean {
  return (
    error instanceof DatabaseError && (error.publicText === TOO_LONG || (signal.aborted && error.reason !== 'failed'))
  );
}

/**
 * Yields to the event loop. Timers, including the time budget, run only between its turns, and SQLite answers
 * synchronously.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}

/** Returns stored rows of a mapping that the server's predicates select as resources and that satisfy a condition. */
async function servedRows(
  mapping: Mapping,
  where: Predicate,
  limit: number,
  stored: StoredRows,
  { registry, database, now, signal }: Asking,
): Promise<readonly StoredRow[]> {
  const { source } = mapping;
  const env = environment(registry, now, FULL_VISIBILITY);
  const from = bareRelation(source, and(servedPredicate(mapping, env), where), env, source.key);
  const orderBy = source.key.map(by => ({ by, descending: false }));
  const plan: SqlPlan = { from, columns: source.key, orderBy, limit, shape: 'rows', searches: true };
  const keys = await database.query(plan, { signal });
  const rows: StoredRow[] = [];
  for (const key of keys) rows.push(...(await stored.byKey(source, key, signal)));
  return rows;
}

interface Reader {
  readonly rows: StoredRows;
  readonly interpreter: Interpreter<View>;
  /** Values of the row that is being read. */
  readonly values: Map<Node, ReadValue>;
}

function readerOf({ registry, now }: Asking, rows: StoredRows): Reader {
  const values = new Map<Node, ReadValue>();
  const { zone } = registry.pack;
  const onValue = (node: ValueNode, view: View, value: Primitive | undefined, isAbsent: boolean): void => {
    const stored = storedOf(node, rows, view);
    if (stored === undefined) return;
    const read = { codec: node.codec, type: node.from[0]?.type, stored, value, zone, codeMaps: registry.codeMaps };
    const contradicted = !isAbsent && contradicts(read) === true;
    if (!values.get(node)?.contradicted) values.set(node, { stored, value, contradicted });
  };
  const instead = (node: Node, view: View) => {
    const stored = node.kind === 'value' ? storedOf(node, rows, view) : undefined;
    if (node.kind !== 'value' || stored === undefined) return undefined;
    values.set(node, { stored, value: undefined, contradicted: false });
    return agreeing(node, stored, zone, registry.codeMaps);
  };
  const interpreter = new Interpreter({ base: OPEN_CONTEXT.base, now, zone }, rows, { onValue, instead });
  rows.interpreter = interpreter;
  return { rows, interpreter, values };
}

/**
 * Returns the stored values; undefined if one is neither a column of a row nor a time that SQL computes from a column.
 */
function storedOf(node: ValueNode, rows: StoredRows, view: View): readonly SqlValue[] | undefined {
  return ifJudged(() => node.from.map(from => rows.stored(countedColumn(from) ?? from, view)));
}

/** Returns the number column from which SQL computes the time, for `epoch` and `julian`. */
function countedColumn(from: Expression): Expression | undefined {
  const [of] = from.kind === 'function' && from.name === 'instant' ? from.args : [];
  return typeof of === 'object' ? of : undefined;
}

/** A row before the server was asked for it. */
export type ReadRow = Omit<SampledRow, 'served'>;

/** Groups mappings that share a table and key: each row is read once, and its id searched once. */
function readTogether({ source, resource }: Mapping): string {
  const key = source.key.map(({ alias, column }) => (alias === source.alias ? column : `${alias}.${column}`));
  return JSON.stringify([resource, tableKey(source.table), key]);
}

/** Reads each row by each mapping; leaves out those that cannot be judged. */
async function readAll(
  rows: readonly StoredRow[],
  mappings: readonly Mapping[],
  reader: Reader,
  signal: AbortSignal,
): Promise<readonly ReadRow[]> {
  const read: ReadRow[] = [];
  let left = rows.flatMap(row => {
    // What lookups find is kept for all mappings of a source.
    const views = new Map(mappings.map(({ source }) => [source, reader.rows.view(source, row)]));
    return mappings.flatMap(mapping => {
      const view = views.get(mapping.source);
      return view ? [{ mapping, view }] : [];
    });
  });
  for (let round = 0; round < ROUNDS && left.length > 0; round++) {
    const lacking: typeof left = [];
    let lacked = false;
    for (const one of left) {
      reader.rows.lacking = false;
      const made = readRow(one.mapping, one.view, reader);
      if (reader.rows.lacking) {
        lacking.push(one);
        lacked = true;
      } else if (made) read.push(made);
    }
    if (lacked) await reader.rows.fetch(signal);
    left = lacking;
  }
  return read;
}

/**
 * Drops what the server has under the id of a row if it belongs to another row. This occurs if only the newest of
 * several rows is served, or if a key is unique under `where` only: rows that `where` excludes then share the id of the
 * served one.
 */
async function withoutRowsOfSameId(
  rows: readonly SampledRow[],
  reader: Reader,
  asking: Asking,
): Promise<readonly SampledRow[]> {
  const isOdd = ({ mapping, expected, served }: SampledRow): boolean =>
    expected === undefined && served.length > 0 && mapping.source.where.kind !== 'always';
  const env = environment(asking.registry, asking.now, FULL_VISIBILITY);
  const ofAnother = new Map<Mapping, ReadonlySet<string>>();
  for (const [mapping, odd] of Map.groupBy(rows.filter(isOdd), one => one.mapping)) {
    const ids = [...new Set(odd.flatMap(({ id }) => id ?? []))];
    const others = await servedRows(mapping, idsPredicate(mapping, ids, env), ids.length, reader.rows, asking);
    const read = await readAll(others, [mapping], reader, asking.signal);
    ofAnother.set(mapping, new Set(read.flatMap(({ expected, id }) => (expected === undefined ? [] : (id ?? [])))));
  }
  return rows.map(one =>
    isOdd(one) && one.id !== undefined && ofAnother.get(one.mapping)?.has(one.id) ? { ...one, served: [] } : one,
  );
}

function readRow(mapping: Mapping, view: View, { rows, interpreter, values }: Reader): ReadRow | undefined {
  return ifJudged(() => {
    values.clear();
    const isServed = rows.isServed(mapping, view, interpreter);
    const id = interpreter.id(mapping.id, column => rows.raw(column, view));
    values.clear();
    const expected = isServed && id !== undefined ? interpreter.resource(mapping, view) : undefined;
    return { mapping, expected, id, values: new Map(values) };
  });
}
