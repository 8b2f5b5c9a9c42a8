/**
 * Counts rows: how many become resources, and why others do not. A section of `check`. In: the pack and the database.
 * Out: numbers per mapping, element and reference, and warnings for suspicious ones. One statement counts many
 * conditions; of a large table it reads some ranges of the key.
 */

import { plural } from '../common/plural.ts';
import { columnsUsed } from '../coverage/unused.ts';
import { nodesOfParameter } from '../law/compare.ts';
import { aliasesIn, isClosed } from '../mapping/check/questions.ts';
import { childrenOf, namedNodesOf, referencesIn } from '../mapping/children.ts';
import { columnsIn } from '../mapping/id-rule.ts';
import { createReport, type Report } from '../mapping/load/problem.ts';
import type { ChildRows, Mapping, Node, Position, Scope } from '../mapping/model.ts';
import { conditionPredicate } from '../plan/condition.ts';
import { type Environment, environment } from '../plan/environment.ts';
import { findsRows, searchUses } from '../plan/index-use.ts';
import { idPartsPresent, presentPredicate, servedPredicate, targetRelation } from '../plan/presence.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import { findTable, type TableInfo, unfitIn } from '../sql/catalog.ts';
import { and, exists, FALSE, isNull, not, or, TRUE } from '../sql/construct.ts';
import type { TableSurvey } from '../sql/database.ts';
import type { ColumnExpression, Predicate } from '../sql/expression.ts';
import { aliasesOf } from '../sql/walk.ts';
import { warnOfDangling } from './dangling.ts';
import { unreadMarks } from './deleted-marks.ts';
import { ElementCounts } from './element-counts.ts';
import { RowCounter } from './row-counter.ts';
import { isOver, yieldToEventLoop } from './sample.ts';
import { type CheckContext, type CheckSection, someOf, type Table } from './section.ts';
import { type Counted, ENOUGH, farDates, hasRow, lacks, timeless, warnOfTaken } from './suspicions.ts';

/** For a table of which nothing reads a column. */
const NONE: ReadonlySet<string> = new Set();
/** From this number of rows on, a missing index is reported. */
const LARGE = 1000;
/** Tolerated error of the engine's row count: in rows, and as a share. */
const FEW = 20;
const SLACK = 0.01;

export const ROWS: CheckSection = {
  name: 'rows',
  title: 'Rows',
  weight: 2,
  async run(context) {
    const counts = new Counts(context);
    const unreached: string[] = [];
    let refused = 0;
    const groups = Map.groupBy(context.mappings, mapping => mapping.group);
    for (const [group, mappings] of groups) {
      await yieldToEventLoop();
      try {
        if (context.signal.aborted) unreached.push(group);
        else await counts.group(mappings);
      } catch (error) {
        if (context.refused(error, `numbers of rows of ${group}`, mappings[0])) refused++;
        else if (isOver(error, context.signal)) unreached.push(group);
        else throw error;
      }
    }
    counts.reportUntaken(
      unreached.length + refused === 0 && context.mappings.length === context.registry.mappings.length,
    );
    const notes = [`${plural(groups.size - unreached.length - refused, 'source')} counted.`];
    if (counts.sampled.length > 0)
      notes.push(`Of large tables some ranges of the key were counted: ${someOf(counts.sampled)}.`);
    if (counts.empty.length > 0) notes.push(`Serves nothing: ${someOf(counts.empty)}.`);
    if (unreached.length > 0) notes.push(`Not reached within the time budget: ${someOf(unreached)}.`);
    return { problems: counts.report.problems(), notes, tables: counts.tables() };
  },
};

const STEPS = ['where', 'deleted', 'required', 'needs', 'no id', 'one-per'] as const;

/** One rule that a row must pass to become a resource. */
interface Step {
  readonly name: (typeof STEPS)[number];
  readonly left: Predicate;
  /** Line of the step. Undefined: that of the mapping. */
  readonly at?: Position;
  /** Rows that the step drops although no rule chose them. */
  readonly lacks?: Predicate;
}

/** A step with the number of rows that it drops. */
interface Taken {
  readonly name: Step['name'];
  readonly at: Position;
  readonly rows: number;
}

class Counts {
  readonly report: Report = createReport();
  readonly #context: CheckContext;
  readonly #env: Environment;
  readonly #counter: RowCounter;
  readonly #elements: ElementCounts;
  readonly #mappings: (string | number)[][] = [];
  /** Tables and columns whose missing index was reported. */
  readonly #withoutIndex = new Set<string>();
  /** Sizes of all tables; read once. */
  #surveys: Promise<ReadonlyMap<string, TableSurvey>> | undefined;
  /** Marks of deleted rows that were reported. */
  readonly #reportedMarks = new Set<string>();
  /** Mappings that serve nothing although their table has rows. */
  readonly #empty: string[] = [];
  /** Scopes of the source that is being counted, by alias. */
  readonly #scopes = new Map<string, Scope>();

  constructor(context: CheckContext) {
    this.#context = context;
    this.#env = environment(context.registry, context.now, FULL_VISIBILITY);
    this.#counter = new RowCounter(context, this.#env);
    this.#elements = new ElementCounts(context, this.#env, this.report);
  }

  /** Reports alternatives that no row takes. `isWhole`: all mappings of the pack were counted. */
  reportUntaken(isWhole: boolean): void {
    this.#elements.takings.report(isWhole);
  }

  /** Tables of which only ranges were counted. */
  get sampled(): readonly string[] {
    return this.#counter.sampled;
  }

  get empty(): readonly string[] {
    return this.#empty;
  }

  tables(): readonly Table[] {
    return [
      {
        name: 'mappings',
        title: 'Rows of the table, rows excluded by each rule, and rows that are resources',
        columns: ['mapping', 'table', 'rows', ...STEPS, 'served', 'note'],
        rows: this.#mappings,
      },
      ...this.#elements.tables(),
    ];
  }

  /** Counts all mappings of one source, and the child rows under it. */
  async group(mappings: readonly Mapping[]): Promise<void> {
    const [first] = mappings;
    if (!first) return;
    this.#elements.begin();
    const scope = withoutRequired(first.source);
    const [lead] = first.source.key;
    const { total, all, within } = await this.#counter.range(scope, lead);
    for (const mapping of mappings) this.#reportNoIndex(mapping, all);
    await this.#reportHidden(first, all);
    for (const mapping of mappings) this.#reportNoIndexOfPatient(mapping, all);
    const asked: Counted[] = [];
    for (const mapping of mappings) {
      asked.push(...this.#funnel(mapping, total, mappings.length > 1));
    }
    this.#scopes.set(scope.alias, scope);
    await this.#counter.count(scope, within, asked);
    for (const mapping of mappings) {
      // The condition for served rows is part of the range, so each statement evaluates it once per row.
      const served = and(within, this.#served(mapping));
      const { changed, resource, root } = mapping;
      const stamp = changed
        ? [
            ...farDates(changed, TRUE, `${resource}.meta.lastUpdated`, this.#env, this.report),
            ...timeless(changed, mapping.name, this.#env, this.report),
          ]
        : [];
      await this.#counter.count(scope, served, [
        ...this.#elements.nodes(mapping, mapping.source, TRUE, root, []),
        ...stamp,
        ...this.#deletedMarks(mapping.source, mapping, mapping.at),
      ]);
      await this.#counter.count(scope, served, this.#elements.unshown());
      await this.#children(mapping);
    }
    await warnOfDangling(this.#elements.suspects.splice(0), this.#scopes, this.#counter, this.report);
  }

  /**
   * Warns if the login sees fewer rows than the engine counts. The slack is there because the engine's count is
   * approximate and rows change during the count.
   */
  async #reportHidden({ source, at }: Mapping, seen: number): Promise<void> {
    const { catalog, database } = this.#context;
    const info = findTable(catalog, source.table);
    if (!info || info.isView || (catalog.unseen === undefined && info.alteredReads === undefined)) return;
    this.#surveys ??= database.survey?.(catalog);
    const surveys = await this.#surveys;
    const [key] = [...catalog.tables].find(([, table]) => table === info) ?? [];
    const kept = key === undefined ? undefined : surveys?.get(key)?.rows?.count;
    if (kept === undefined || kept - seen <= Math.max(FEW, kept * SLACK)) return;
    this.report.warning(
      'disguised-table',
      at,
      `the login sees ${plural(seen, 'row')} of table ${info.name}, which has about ${kept}: a security policy may hide others`,
      { expected: 'a login that sees all rows, unless these are to be left out' },
    );
  }

  /** Warns if reads by id, pages by key, and references from other tables need a full scan. */
  #reportNoIndex({ source, id, at }: Mapping, rows: number): void {
    const info = findTable(this.#context.catalog, source.table);
    if (!info) return;
    const ofIds = id.alternatives.map(columnsIn);
    for (const asked of [source.key, ...ofIds]) {
      const own = asked.filter(({ alias }) => alias === source.alias);
      if (own.length === 0 || findsRows(source, own, this.#context.catalog)) continue;
      const columns = own.map(({ column }) => column).join(', ');
      this.#reportIndex(info, own, rows, at, `no index finds a row of ${info.name} (${rows} rows) by ${columns}`);
    }
  }

  /** Warns if reading the rows of one patient needs a full scan. */
  #reportNoIndexOfPatient(mapping: Mapping, rows: number): void {
    const { registry, catalog, facade } = this.#context;
    const { source } = mapping;
    const info = findTable(catalog, source.table);
    const offered = facade.offers.find(mapping.resource, 'patient');
    if (!info || offered?.inverse !== 'indexed') return;
    const uses = searchUses(mapping, offered, environment(registry, 0, FULL_VISIBILITY));
    const own = uses.map(({ columns }) => columns.filter(({ alias }) => alias === source.alias));
    for (const columns of own) {
      if (columns.length === 0 || findsRows(source, columns, catalog)) continue;
      const at = nodesOfParameter(mapping, offered.parameter.expression)[0]?.at ?? mapping.at;
      const names = columns.map(({ column }) => column).join(', ');
      const message = `no index finds the rows of a patient in ${info.name} (${rows} rows) by ${names}`;
      this.#reportIndex(info, columns, rows, at, message);
    }
  }

  /** Warns if reading the child rows of one row needs a full scan. */
  #reportNoIndexOfChildren(scope: Scope, by: readonly ColumnExpression[], rows: number, at: Position): void {
    const info = findTable(this.#context.catalog, scope.table);
    if (!info || by.length === 0 || findsRows(scope, by, this.#context.catalog)) return;
    const names = by.map(({ column }) => column).join(', ');
    this.#reportIndex(info, by, rows, at, `no index finds the child rows in ${info.name} (${rows} rows) by ${names}`);
  }

  /** Reports each table and columns once, for all mappings. */
  #reportIndex(
    { name, isView, indexes }: TableInfo,
    columns: readonly ColumnExpression[],
    rows: number,
    at: Position,
    message: string,
  ): void {
    const key = `${name} ${columns.map(({ column }) => column).join()}`.toLowerCase();
    if (rows < LARGE || isView || this.#withoutIndex.has(key)) return;
    this.#withoutIndex.add(key);
    const [unfit] = columns.flatMap(({ column }) =>
      indexes
        .filter(({ columns: [leading] }) => leading?.toLowerCase() === column.toLowerCase())
        .flatMap(index => ({ index: index.name, ...unfitIn(index, column) })),
    );
    this.report.warning(
      'no-index',
      at,
      message,
      unfit
        ? {
            expected: `an index in the collation ${unfit.needed}, as \`lintel indexes\` prints it`,
            found: `${unfit.index} in ${unfit.collation}`,
          }
        : { expected: 'an index that begins with it, as `lintel indexes` prints it' },
    );
  }

  /**
   * Checks the table of the mapping, or its child rows. Includes the columns that the targets of references read,
   * because a reference leaves out the rows that its target leaves out.
   */
  #deletedMarks(scope: Scope, { name, group }: Mapping, at: Position, item?: Node): readonly Counted[] {
    const { registry, catalog } = this.#context;
    const targets = new Set(item && referencesIn(item).map(({ target }) => target));
    const own = registry.mappings.filter(one => one.group === group || targets.has(one.name) || targets.has(one.group));
    const used = columnsUsed({ mappings: own }).get(scope.table.name.toLowerCase()) ?? NONE;
    return unreadMarks(scope, { used, name, at, reported: this.#reportedMarks }, catalog, this.report);
  }

  /** Counts the rows after each step on the way to a resource; each step drops some of the remaining rows. */
  #funnel(mapping: Mapping, total: number, isVariant: boolean): readonly Counted[] {
    const { source, needs, id, deleted } = mapping;
    const steps: readonly Step[] = [
      { name: 'where', left: deleted ? or(this.#where(source), this.#where(deleted.source)) : this.#where(source) },
      { name: 'deleted', left: this.#where(source) },
      ...source.lookups
        .filter(({ required }) => required)
        .map(lookup => ({
          name: 'required' as const,
          left: foundBy(lookup.on),
          at: lookup.at,
          lacks: and(not(hasRow(lookup, lookup.on, this.#env)), not(this.#servedElsewhere(mapping))),
        })),
      ...needs.map(need => ({
        name: 'needs' as const,
        left: presentPredicate(need, this.#env),
        at: need.at,
        ...(isVariant ? {} : { lacks: lacks(need, this.#env) }),
      })),
      { name: 'no id', left: or(...id.alternatives.map(idPartsPresent)) },
      { name: 'one-per', left: servedPredicate(mapping, this.#env) },
    ];
    const removed: Taken[] = [];
    let left = total;
    const found: Counted[] = [];
    let before: Predicate = TRUE;
    for (const [i, { name, left: when, at = mapping.at, lacks: lacking }] of steps.entries()) {
      if (lacking) {
        const rule = { at, rule: name, table: source.table.name };
        found.push({
          when: and(before, lacking),
          take: taken => warnOfTaken(rule, { taken, of: left }, this.report),
        });
      }
      before = and(before, when);
      found.push({
        when: before,
        take: rows => {
          removed.push({ name, at, rows: left - rows });
          left = rows;
          if (i < steps.length - 1) return;
          const of = STEPS.map(step =>
            removed.filter(one => one.name === step).reduce((sum, one) => sum + one.rows, 0),
          );
          const note = this.#counter.sampled.includes(source.table.name) ? 'in ranges' : '';
          this.#mappings.push([mapping.name, source.table.name, total, ...of, rows, note]);
          this.#reportEmpty(mapping, { total, served: rows, isVariant }, removed);
        },
      });
    }
    return found;
  }

  /**
   * Matches rows that another mapping of the table serves: for them the required lookup is a way to tell kinds of rows
   * apart.
   */
  #servedElsewhere({ group, source }: Mapping): Predicate {
    const others = this.#context.registry.mappings.filter(
      other => other.group !== group && other.source.table.name === source.table.name,
    );
    return or(
      ...others.map(other => {
        const on = source.key.flatMap((ours, i) => {
          const theirs = other.source.key[i];
          return theirs?.column === ours.column ? [{ ours, theirs }] : [];
        });
        const isSame = on.length === source.key.length && on.length === other.source.key.length;
        return isSame ? exists(targetRelation(other, on, this.#env).relation) : FALSE;
      }),
    );
  }

  /** Matches served rows in a scope whose required lookups are left joins. */
  #served(mapping: Mapping): Predicate {
    const required = mapping.source.lookups.filter(lookup => lookup.required);
    return and(...required.map(({ on }) => foundBy(on)), servedPredicate(mapping, this.#env));
  }

  #where(scope: Scope): Predicate {
    return conditionPredicate(scope.where, this.#env);
  }

  /**
   * Warns if a mapping serves nothing, at the line that takes most rows away. A variant may have few rows, so small
   * numbers do not count.
   */
  #reportEmpty(
    { name, source }: Mapping,
    { total, served, isVariant }: { readonly total: number; readonly served: number; readonly isVariant: boolean },
    removed: readonly Taken[],
  ): void {
    if (total < (isVariant ? ENOUGH : 1) || served > 0) return;
    this.#empty.push(name);
    const [most] = removed.toSorted((a, b) => b.rows - a.rows);
    if (!most || most.rows === 0) return;
    this.report.warning(
      'never-used',
      most.at,
      `${name} serves nothing: none of ${plural(total, 'row')} of ${source.table.name} is a resource`,
      {
        found: `${plural(most.rows, 'row')} taken away by \`${most.name}\``,
      },
    );
  }

  /**
   * Counts the values of child rows. If mappings of other rows read the table too, those of the parent rows that this
   * mapping serves.
   */
  async #children(mapping: Mapping): Promise<void> {
    const found: {
      readonly scope: Scope;
      readonly item: Node;
      readonly path: readonly string[];
      readonly at: Position;
      readonly by: readonly ColumnExpression[];
      readonly ofParent: Predicate;
      /** Aliases of the rows around. */
      readonly around: readonly string[];
    }[] = [];
    const visit = (node: Node, path: readonly string[], parent: Scope, around: readonly string[]): void => {
      if (node.kind === 'each' && node.from.kind === 'rows') {
        const { scope, on } = node.from;
        const by = on.map(({ theirs }) => theirs).filter(({ alias }) => alias === scope.alias);
        const ofParent = parent === mapping.source ? this.#ofServed(mapping, node.from) : TRUE;
        if (isClosed(scope)) found.push({ scope, item: node.item, path, at: node.at, by, ofParent, around });
        visit(node.item, path, scope, [...around, ...aliasesIn(scope)]);
        return;
      }
      if (node.kind !== 'object') for (const child of childrenOf(node)) visit(child, path, parent, around);
      else for (const one of node.members.flatMap(namedNodesOf)) visit(one.node, [...path, one.name], parent, around);
    };
    visit(mapping.root, [], mapping.source, aliasesIn(mapping.source));
    for (const { scope, item, path, at, by, ofParent, around } of found) {
      const own = aliasesIn(scope);
      // The rows are counted without those around them, so an `if` that compares with these cannot be.
      const isOpen = ({ when }: Counted): boolean =>
        [...aliasesOf({ predicates: [when] })].some(alias => around.includes(alias) && !own.includes(alias));
      this.#scopes.set(scope.alias, scope);
      const { within, all } = await this.#counter.range(scope, by[0]);
      this.#reportNoIndexOfChildren(scope, by, all, at);
      const rows = and(within, this.#where(scope), ofParent);
      await this.#counter.count(scope, rows, [
        ...this.#elements.nodes(mapping, scope, TRUE, item, path).filter(one => !isOpen(one)),
        ...this.#deletedMarks(scope, mapping, at, item),
      ]);
      const unshown = this.#elements.unshown().filter(one => !isOpen(one));
      await this.#counter.count(scope, rows, unshown);
    }
  }

  /** Matches child rows of served rows; all, if no other mapping reads their table or no index finds the parent. */
  #ofServed(mapping: Mapping, { scope, on }: ChildRows): Predicate {
    const { registry, catalog } = this.#context;
    const isShared = registry.mappings.some(
      other => other.group !== mapping.group && readsChildren(other.root, scope.table.name),
    );
    const ours = on.map(one => one.ours);
    const isOwn = ours.every(({ alias }) => alias === mapping.source.alias);
    if (!isShared || !isOwn || !findsRows(mapping.source, ours, catalog)) return TRUE;
    const reversed = on.map(one => ({ theirs: one.ours, ours: one.theirs }));
    return exists(targetRelation(mapping, reversed, this.#env).relation);
  }
}

function readsChildren(node: Node, table: string): boolean {
  const isOfTable = node.kind === 'each' && node.from.kind === 'rows' && node.from.scope.table.name === table;
  return isOfTable || childrenOf(node).some(child => readsChildren(child, table));
}

/** Turns the lookups into left joins, so that rows without a match can be counted. */
function withoutRequired(scope: Scope): Scope {
  return {
    ...scope,
    where: { kind: 'always' },
    lookups: scope.lookups.map(lookup => ({ ...lookup, required: false })),
  };
}

function foundBy(on: Scope['lookups'][number]['on']): Predicate {
  // In a left join the lookup's columns can be NULL, whatever the catalog says.
  return and(...on.map(({ theirs: { notNull: _, ...theirs } }) => not(isNull(theirs))));
}
