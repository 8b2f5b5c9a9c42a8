/**
 * The section of `check` that counts rows: how many become resources, and why others do not. In: the pack and the
 * database. Out: numbers per mapping, element and reference, and warnings for suspicious ones. One statement counts
 * many conditions; of a large table it reads some ranges of the key.
 */
import { plural } from '../common/plural.ts';
import { isClosed, isOwn } from '../mapping/check/questions.ts';
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import { codeMapOf } from '../mapping/load/codes/origin.ts';
import { createReport, type Report } from '../mapping/load/problem.ts';
import type { Mapping, Node, Position, RefNode, Scope, ValueNode } from '../mapping/model.ts';
import { conditionPredicate } from '../plan/condition.ts';
import { type Environment, environment } from '../plan/environment.ts';
import { idPartsPresent, notAbsent, presentPredicate, servedPredicate, targetRelation } from '../plan/presence.ts';
import { OPEN_SIGHT } from '../plan/sight.ts';
import { findTable, unfitIn } from '../sql/catalog.ts';
import { UNICODE } from '../sql/column-type.ts';
import { among, and, call, constant, exists, filled, isNull, not, or, TRUE } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate } from '../sql/expression.ts';
import { aliasesOf, walk } from '../sql/walk.ts';
import { type Suspect, warnOfDangling } from './dangling.ts';
import { RowCounter } from './row-counter.ts';
import { aTurn, isOver } from './sample.ts';
import { type CheckContext, type CheckSection, someOf, type Table } from './section.ts';
import {
  alternativesIn,
  type Counted,
  ENOUGH,
  farDates,
  hasRow,
  lacks,
  mayFindNothing,
  type Reading,
  tellTaken,
  unshownValues,
  untaken,
} from './suspicions.ts';

/** Rows of a table that nobody reads as a whole for each row of another one. */
const LARGE = 1000;
/** Where a larger share of references finds nothing, somebody should look. */
const DANGLING = 0.1;

export const ROWS: CheckSection = {
  name: 'rows',
  title: 'Rows',
  weight: 2,
  async run(context) {
    const counts = new Counts(context);
    const unreached: string[] = [];
    const groups = Map.groupBy(context.registry.mappings, mapping => mapping.group);
    for (const [group, mappings] of groups) {
      await aTurn();
      try {
        if (context.signal.aborted) unreached.push(group);
        else await counts.group(mappings);
      } catch (error) {
        if (!isOver(error, context.signal)) throw error;
        unreached.push(group);
      }
    }
    const notes = [`${plural(groups.size - unreached.length, 'source')} counted.`];
    if (counts.sampled.length > 0)
      notes.push(`Of large tables some ranges of the key were counted: ${someOf(counts.sampled)}.`);
    if (counts.empty.length > 0) notes.push(`Serves nothing: ${someOf(counts.empty)}.`);
    if (unreached.length > 0) notes.push(`Not reached in the time: ${someOf(unreached)}.`);
    return { problems: counts.report.problems(), notes, tables: counts.tables() };
  },
};

/** What a row has to pass on its way to a resource. */
interface Step {
  readonly name: 'where' | 'deleted' | 'required' | 'needs' | 'no id' | 'one-per';
  readonly left: Predicate;
  /** Of the rows that it takes away those that nothing has chosen, and the line that takes them. */
  readonly lacks?: { readonly when: Predicate; readonly at: Position };
}

class Counts {
  readonly report: Report = createReport();
  readonly #context: CheckContext;
  readonly #env: Environment;
  readonly #counter: RowCounter;
  readonly #mappings: (string | number)[][] = [];
  readonly #elements: (string | number)[][] = [];
  readonly #references: (string | number)[][] = [];
  readonly #suspects: Suspect[] = [];
  /** Mappings that serve nothing though their table has rows. */
  readonly #empty: string[] = [];
  /** Values of the source that is being counted. */
  readonly #readings: Reading[] = [];
  /** What `sql`, a value of several columns, or a `split` reads of it: there a column is shown in another way. */
  readonly #combined: Expression[] = [];
  /** Scopes of the source that is being counted, by alias. */
  readonly #scopes = new Map<string, Scope>();

  constructor(context: CheckContext) {
    this.#context = context;
    this.#env = environment(context.registry, context.now, OPEN_SIGHT);
    this.#counter = new RowCounter(context, this.#env);
  }

  /** Tables of which only ranges were counted. */
  get sampled(): readonly string[] {
    return this.#counter.sampled;
  }

  get empty(): readonly string[] {
    return this.#empty;
  }

  tables(): readonly Table[] {
    const removed = ['where', 'deleted', 'required', 'needs', 'no id', 'one-per'];
    return [
      {
        name: 'mappings',
        title: 'Rows of the table, those taken away by each rule, and those that are resources',
        columns: ['mapping', 'table', 'rows', ...removed, 'served', 'note'],
        rows: this.#mappings,
      },
      {
        name: 'elements',
        title: 'Rows with a value in the column, those that emit one, by `else`, and those that do not',
        columns: ['mapping', 'element', 'column', 'rows', 'with a value', 'emitted', 'by else', 'absent though there'],
        rows: this.#elements,
      },
      {
        name: 'references',
        title: 'References: rows with a key, those that find a resource, and those that find none',
        columns: ['mapping', 'element', 'columns', 'to', 'with a key', 'found', 'dangling'],
        rows: this.#references,
      },
    ];
  }

  /** All mappings of one source, and the child rows under it. */
  async group(mappings: readonly Mapping[]): Promise<void> {
    const [first] = mappings;
    if (!first) return;
    const scope = withoutRequired(first.source);
    const [lead] = first.source.key;
    const { total, within } = await this.#counter.range(scope, lead);
    this.#tellUnusedIndex(first, total);
    const asked: Counted[] = [];
    for (const mapping of mappings) {
      asked.push(...this.#funnel(mapping, total, mappings.length > 1));
    }
    this.#scopes.set(scope.alias, scope);
    await this.#counter.count(scope, within, asked);
    for (const mapping of mappings) {
      // What holds for every row that is counted is asked once of each.
      const served = and(within, this.#served(mapping));
      const { changed, resource, root } = mapping;
      const stamp = changed ? farDates(changed, TRUE, `${resource}.meta.lastUpdated`, this.#env, this.report) : [];
      await this.#counter.count(scope, served, [...this.#nodes(mapping, mapping.source, TRUE, root, []), ...stamp]);
      await this.#counter.count(scope, served, this.#unshown());
      await this.#children(mapping);
    }
    await warnOfDangling(this.#suspects.splice(0), this.#scopes, this.#counter, this.report);
  }

  /** Reads, and references from each row of other tables, would go through the whole table. */
  #tellUnusedIndex({ source, at }: Mapping, rows: number): void {
    const info = findTable(this.#context.catalog, source.table);
    const [lead] = source.key;
    if (rows < LARGE || !info || !lead) return;
    const column = lead.column.toLowerCase();
    const begun = info.indexes.filter(({ columns: [leading] }) => leading?.toLowerCase() === column);
    const [index] = begun;
    const unfit = index && unfitIn(index, lead.column);
    if (!unfit || begun.some(one => unfitIn(one, lead.column) === undefined)) return;
    this.report.warning('unused-index', at, `no index finds a row of ${info.name} (${rows} rows) by ${lead.column}`, {
      expected: `an index in the collation ${unfit.needed}, as \`lintel indexes\` prints it`,
      found: `${index.name} in ${unfit.collation}`,
    });
  }

  /** Steps of a row on its way to a resource: each takes away some of those that the steps before have left. */
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
          lacks: { when: not(hasRow(lookup, lookup.on, this.#env)), at: lookup.at },
        })),
      ...needs.map(need => ({
        name: 'needs' as const,
        left: presentPredicate(need, this.#env),
        ...(isVariant ? {} : { lacks: { when: lacks(need, this.#env), at: need.at } }),
      })),
      { name: 'no id', left: or(...id.alternatives.map(idPartsPresent)) },
      { name: 'one-per', left: servedPredicate(mapping, this.#env) },
    ];
    const removed = new Map<string, number>();
    let left = total;
    const found: Counted[] = [];
    let before: Predicate = TRUE;
    for (const [i, { name, left: when, lacks: lacking }] of steps.entries()) {
      if (lacking) {
        const rule = { at: lacking.at, rule: name, table: source.table.name };
        found.push({
          when: and(before, lacking.when),
          tell: taken => tellTaken(rule, { taken, of: left }, this.report),
        });
      }
      before = and(before, when);
      found.push({
        when: before,
        tell: rows => {
          removed.set(name, (removed.get(name) ?? 0) + left - rows);
          left = rows;
          if (i < steps.length - 1) return;
          const of = ['where', 'deleted', 'required', 'needs', 'no id', 'one-per'].map(one => removed.get(one) ?? 0);
          const note = this.#counter.sampled.includes(source.table.name) ? 'in ranges' : '';
          this.#mappings.push([mapping.name, source.table.name, total, ...of, rows, note]);
          this.#tellEmpty(mapping, { total, served: rows, isVariant }, removed);
        },
      });
    }
    return found;
  }

  /** Where no lookup that is required joins rows away. */
  #served(mapping: Mapping): Predicate {
    const required = mapping.source.lookups.filter(lookup => lookup.required);
    return and(...required.map(({ on }) => foundBy(on)), servedPredicate(mapping, this.#env));
  }

  #where(scope: Scope): Predicate {
    return conditionPredicate(scope.where, this.#env);
  }

  /** A variant may be of few rows; a lookup that takes nearly all of them was meant otherwise. */
  #tellEmpty(
    { name, source, at }: Mapping,
    { total, served, isVariant }: { readonly total: number; readonly served: number; readonly isVariant: boolean },
    removed: ReadonlyMap<string, number>,
  ): void {
    if (total < (isVariant ? ENOUGH : 1) || served > 0) return;
    this.#empty.push(name);
    const [rule, rows = 0] = [...removed].toSorted(([, a], [, b]) => b - a)[0] ?? [];
    if (rows === 0) return;
    const lookup = rule === 'required' ? source.lookups.find(({ required }) => required)?.at : undefined;
    this.report.warning(
      'never-used',
      lookup ?? at,
      `${name} serves nothing: none of ${plural(total, 'row')} of ${source.table.name} is a resource`,
      {
        found: `${plural(rows, 'row')} taken away by \`${rule}\``,
      },
    );
  }

  /** Values and references that a scope's rows have; those of child rows are counted for themselves. */
  #nodes(mapping: Mapping, scope: Scope, served: Predicate, node: Node, path: readonly string[]): readonly Counted[] {
    if (node.kind === 'each') {
      if (node.from.kind === 'pieces') this.#combined.push(node.from.column);
      return [];
    }
    const here = node.if ? and(served, conditionPredicate(node.if, this.#env)) : served;
    const own = [
      ...this.#ofNode(mapping, scope, here, node, path),
      ...alternativesIn(node).flatMap(alternatives => untaken(alternatives, here, this.#env, this.report)),
    ];
    if (node.kind !== 'object') {
      const inner = node.kind === 'ref' ? [] : childrenOf(node);
      return [...own, ...inner.flatMap(child => this.#nodes(mapping, scope, here, child, path))];
    }
    const named = node.members.flatMap(namedNodesOf);
    return [...own, ...named.flatMap(one => this.#nodes(mapping, scope, here, one.node, [...path, one.name]))];
  }

  #ofNode(mapping: Mapping, scope: Scope, served: Predicate, node: Node, path: readonly string[]): readonly Counted[] {
    if (node.kind === 'value') {
      const [column, ...more] = node.from;
      this.#combined.push(...(column?.kind === 'column' ? more : node.from));
      if (column?.kind === 'column' && isOwn(column, scope)) return this.#value(mapping, served, node, column, path);
      const isWorkedOut =
        column?.kind === 'raw' && [...aliasesOf({ expressions: [column] })].every(alias => isOwn({ alias }, scope));
      const element = `${mapping.resource}.${path.join('.')}`;
      return isWorkedOut ? farDates(node, served, element, this.#env, this.report) : [];
    }
    if (node.kind !== 'ref' || !node.on.every(({ ours }) => isOwn(ours, scope))) return [];
    return this.#reference(mapping, served, node, path);
  }

  /** Conditions over the values that were gone through since the last call. */
  #unshown(): readonly Counted[] {
    const combined = columnKeys(this.#combined.splice(0));
    const readings = this.#readings.splice(0).filter(({ column }) => !combined.has(columnKey(column)));
    return unshownValues(
      Map.groupBy(readings, ({ column }) => columnKey(column)),
      isGiven,
      this.#env,
      this.report,
    );
  }

  #value(
    mapping: Mapping,
    served: Predicate,
    node: ValueNode,
    column: ColumnExpression,
    path: readonly string[],
  ): readonly Counted[] {
    const given = and(isGiven(column), notAbsent(node, this.#env));
    const present = presentPredicate(node, this.#env);
    const counts: number[] = [];
    const tell = (rows: number): void => {
      counts.push(rows);
      const [all = 0, raw = 0, emitted = 0, both = 0, byElse = 0] = counts;
      if (counts.length < 5) return;
      const element = path.join('.');
      this.#elements.push([mapping.name, element, column.column, all, raw, emitted, byElse, raw - both]);
      if (raw < ENOUGH || all === 0 || mayFindNothing(node.codec)) return;
      if (emitted === 0) {
        this.report.warning(
          'never-used',
          node.at,
          `${mapping.resource}.${element} is never emitted though ${column.column} has a value`,
          {
            expected: `values that ${node.codec.label} reads`,
            found: plural(raw, 'row'),
          },
        );
      } else if (byElse === raw) {
        this.report.warning('never-used', node.at, `every value of ${column.column} falls to \`else\``, {
          found: plural(raw, 'row'),
        });
      }
    };
    const unmapped = this.#unmapped(node, column);
    const element = `${mapping.resource}.${path.join('.')}`;
    this.#readings.push({ node, column, element, reached: served });
    return [
      ...farDates(node, served, element, this.#env, this.report),
      { when: served, tell },
      { when: and(served, given), tell },
      { when: and(served, present), tell },
      { when: and(served, given, present), tell },
      { when: and(served, given, present, unmapped), tell },
    ];
  }

  /** Values that a code map has no row for. */
  #unmapped({ codec }: ValueNode, column: ColumnExpression): Predicate {
    const origin = codeMapOf(codec);
    const map = this.#context.registry.codeMaps.find(({ name }) => name === origin?.name);
    if (!origin?.isWhole || !map || map.else.kind === 'absent' || column.type.kind !== 'text') return NEVER;
    const keys = [...map.rows.keys()];
    const upper = (key: string): string => key.replace(/[a-z]/g, letter => letter.toUpperCase());
    return map.fold
      ? not(
          among(
            call('upper', [column], UNICODE),
            keys.map(key => constant(upper(key), UNICODE)),
          ),
        )
      : not(
          among(
            column,
            keys.map(key => constant(key, column.type)),
          ),
        );
  }

  #reference(mapping: Mapping, served: Predicate, node: RefNode, path: readonly string[]): readonly Counted[] {
    const target = this.#context.registry.mapping(node.target);
    const keyed = and(served, ...node.on.map(({ ours }) => isGiven(ours)));
    const found = exists(targetRelation(target, node.on, this.#env).relation);
    const columns = node.on.map(({ ours }) => ours.column).join(', ');
    let withKey = 0;
    return [
      {
        when: keyed,
        tell: rows => {
          withKey = rows;
        },
      },
      {
        when: and(keyed, found),
        tell: rows => {
          const dangling = withKey - rows;
          this.#references.push([mapping.name, path.join('.'), columns, node.target, withKey, rows, dangling]);
          if (withKey < ENOUGH || dangling < withKey * DANGLING || isAlternative(mapping.root, node)) return;
          this.#suspects.push({ node, target, columns, withKey, found: rows });
        },
      },
    ];
  }

  /** Values of child rows, whatever rows they hang on. */
  async #children(mapping: Mapping): Promise<void> {
    const found: {
      readonly scope: Scope;
      readonly item: Node;
      readonly path: readonly string[];
      lead: Expression | undefined;
    }[] = [];
    const visit = (node: Node, path: readonly string[]): void => {
      if (node.kind === 'each' && node.from.kind === 'rows') {
        const { scope, on } = node.from;
        if (isClosed(scope)) found.push({ scope, item: node.item, path, lead: on[0]?.theirs });
        visit(node.item, path);
        return;
      }
      if (node.kind !== 'object') for (const child of childrenOf(node)) visit(child, path);
      else for (const one of node.members.flatMap(namedNodesOf)) visit(one.node, [...path, one.name]);
    };
    visit(mapping.root, []);
    for (const { scope, item, path, lead } of found) {
      this.#scopes.set(scope.alias, scope);
      const { within } = await this.#counter.range(scope, lead?.kind === 'column' ? lead : undefined);
      const rows = and(within, this.#where(scope));
      await this.#counter.count(scope, rows, this.#nodes(mapping, scope, TRUE, item, path));
      await this.#counter.count(scope, rows, this.#unshown());
    }
  }
}

function columnKey({ alias, column }: Pick<ColumnExpression, 'alias' | 'column'>): string {
  return `${alias}.${column.toLowerCase()}`;
}

function columnKeys(expressions: readonly Expression[]): ReadonlySet<string> {
  const found = new Set<string>();
  walk({ expressions }, { column: column => void found.add(columnKey(column)) });
  return found;
}

const NEVER: Predicate = { kind: 'false' };

/** The lookups join no row away, so that those without one can be counted. */
function withoutRequired(scope: Scope): Scope {
  return {
    ...scope,
    where: { kind: 'always' },
    lookups: scope.lookups.map(lookup => ({ ...lookup, required: false })),
  };
}

function foundBy(on: Scope['lookups'][number]['on']): Predicate {
  // Here the lookup joins no row away, so its columns can be NULL whatever the catalog says.
  return and(...on.map(({ theirs: { notNull: _, ...theirs } }) => not(isNull(theirs))));
}

function isGiven(column: ColumnExpression): Predicate {
  return column.type.kind === 'text' ? filled(column) : not(isNull(column));
}

/** Whether another node takes what a reference does not find. */
function isAlternative(root: Node, node: RefNode): boolean {
  const isWithin = (one: Node): boolean => one === node || childrenOf(one).some(isWithin);
  const visit = (one: Node): boolean =>
    (one.kind === 'first' && one.alternatives.some(isWithin)) ||
    (one.kind === 'object' &&
      one.members.some(
        member =>
          member.kind === 'choice' &&
          member.alternatives.some(named => named.some(({ node: child }) => isWithin(child))),
      )) ||
    childrenOf(one).some(visit);
  return visit(root);
}
