/**
 * Counts which values and references of rows appear in resources. In: the nodes of a mapping, and the rows that reach
 * them. Out: conditions to count, two tables of the results, warnings for suspicious numbers, and references to
 * examine.
 */

import { plural } from '../common/plural.ts';
import { hasKey, isOwn } from '../mapping/check/questions.ts';
import { alternativesIn, neededBeside, wayOf, wayTo } from '../mapping/check/way.ts';
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import { codeMapOf } from '../mapping/load/codes/origin.ts';
import type { Report } from '../mapping/load/problem.ts';
import type { Mapping, Node, RefNode, Scope, ValueNode } from '../mapping/model.ts';
import { conditionPredicate } from '../plan/condition.ts';
import type { Environment } from '../plan/environment.ts';
import { notAbsent, presentPredicate, targetRelation } from '../plan/presence.ts';
import { UNICODE } from '../sql/column-type.ts';
import { among, and, call, constant, exists, hasValue, not, or } from '../sql/construct.ts';
import type { Expression, Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { aliasesOf, walk } from '../sql/walk.ts';
import type { Suspect } from './dangling.ts';
import type { CheckContext, Table } from './section.ts';
import {
  type Counted,
  ENOUGH,
  farDates,
  hasRow,
  mayFindNothing,
  nameOf,
  type Reading,
  Takings,
  unshownValues,
  untaken,
} from './suspicions.ts';

/** A larger share of dangling references deserves a warning. */
const DANGLING = 0.1;

/** The rows around a node. */
interface Around {
  /** Those for which it is evaluated. */
  readonly served: Predicate;
  /** Those for which a later alternative gives the element. */
  readonly instead: Predicate;
}

interface CountedReading extends Reading {
  /** Rows with a value of the column that is none of `absent`. */
  readonly given: Predicate;
  /** Rows that reach it with a value, and those that emit it; 0 until they are counted. */
  readonly counts: { readonly given: number; readonly emitted: number };
}

/** One instance per check. The caller takes the suspects of one group of mappings before the next group begins. */
export class ElementCounts {
  /** References with many keys that find no row. */
  readonly suspects: Suspect[] = [];
  readonly #registry: CheckContext['registry'];
  readonly #env: Environment;
  readonly report: Report;
  readonly #rows: (string | number)[][] = [];
  readonly #references: (string | number)[][] = [];
  /** Alternatives of all sources. */
  readonly takings: Takings = new Takings();
  /** Values of the source that is being counted. */
  readonly #readings: CountedReading[] = [];
  /** Columns that `sql`, a value of several columns, or a `split` reads: they are shown in another way. */
  readonly #combined: Expression[] = [];

  constructor({ registry }: CheckContext, env: Environment, report: Report) {
    this.#registry = registry;
    this.#env = env;
    this.report = report;
  }

  tables(): readonly Table[] {
    return [
      {
        name: 'elements',
        title: 'Rows with a value in the column, those that emit one, by `else`, and those that do not',
        columns: ['mapping', 'element', 'column', 'rows', 'with a value', 'emitted', 'by else', 'absent though there'],
        rows: this.#rows,
      },
      {
        name: 'references',
        title: 'References: rows with a key, those that find a resource, and those that find none',
        columns: ['mapping', 'element', 'columns', 'to', 'with a key', 'found', 'dangling'],
        rows: this.#references,
      },
    ];
  }

  /** Starts a source: drops leftovers of the previous source, whose statements may have failed. */
  begin(): void {
    this.suspects.length = 0;
    this.#readings.length = 0;
    this.#combined.length = 0;
  }

  /**
   * Returns conditions for the values and references of a scope's rows. Child rows are counted separately. `served`:
   * the rows for which the node is evaluated; `instead`: those for which a later alternative replaces it.
   */
  nodes(
    mapping: Mapping,
    scope: Scope,
    served: Predicate,
    node: Node,
    path: readonly string[],
    instead: Predicate = NEVER,
  ): readonly Counted[] {
    if (node.kind === 'each') {
      if (node.from.kind === 'pieces') this.#combined.push(node.from.column);
      return [];
    }
    const here = node.if ? and(served, conditionPredicate(node.if, this.#env)) : served;
    const own = [
      ...this.#ofNode(mapping, scope, { served: here, instead }, node, path),
      ...alternativesIn(node).flatMap(alternatives => untaken(alternatives, here, this.#env, this)),
    ];
    if (node.kind !== 'object') {
      const inner = node.kind === 'ref' ? [] : childrenOf(node);
      return [
        ...own,
        ...inner.flatMap(child => this.#child(mapping, scope, { served: here, instead }, node, child, path)),
      ];
    }
    const named = node.members.flatMap(namedNodesOf);
    return [
      ...own,
      ...named.flatMap(one =>
        this.#child(mapping, scope, { served: here, instead }, node, one.node, [...path, one.name]),
      ),
    ];
  }

  /** Of an alternative, counts only the rows that no earlier one gives the element. */
  #child(
    mapping: Mapping,
    scope: Scope,
    { served, instead }: Around,
    node: Node,
    child: Node,
    path: readonly string[],
  ): readonly Counted[] {
    const { earlier, later } = wayTo(child, node, wayOf(mapping));
    const present = (of: Node): Predicate => presentPredicate(of, this.#env);
    const some = (nodes: readonly Node[]): Predicate => or(...nodes.map(present));
    const beside = instead === NEVER ? [] : neededBeside(child, node);
    const here = and(served, not(some(earlier)), ...beside.map(present));
    return this.nodes(mapping, scope, here, child, path, or(beside.length > 0 ? NEVER : instead, some(later)));
  }

  #ofNode(mapping: Mapping, scope: Scope, around: Around, node: Node, path: readonly string[]): readonly Counted[] {
    const { served } = around;
    if (node.kind === 'value') {
      const [column, ...more] = node.from;
      this.#combined.push(...(column?.kind === 'column' ? more : node.from));
      if (column?.kind === 'column' && isOwn(column, scope)) return this.#value(mapping, around, node, column, path);
      const isWorkedOut =
        column?.kind === 'raw' && [...aliasesOf({ expressions: [column] })].every(alias => isOwn({ alias }, scope));
      return isWorkedOut ? this.#value(mapping, around, node, column, path) : [];
    }
    if (node.kind !== 'ref' || !node.on.every(({ ours }) => isOwn(ours, scope))) return [];
    return this.#reference(mapping, served, node, path);
  }

  /** Returns conditions over the values that were visited since the last call. */
  unshown(): readonly Counted[] {
    const combined = columnKeys(this.#combined.splice(0));
    const all = this.#readings.splice(0);
    const readings = all.filter(({ column }) => !combined.has(columnKey(column)));
    return [
      ...this.#neverEmitted(all),
      ...unshownValues(
        Map.groupBy(readings, ({ column }) => columnKey(column)),
        hasValue,
        this.#env,
        this.report,
      ),
    ];
  }

  /**
   * Counts the values that a value which is never emitted would lose: no other alternative or item reads the column for
   * the same element, and no later alternative replaces it.
   */
  #neverEmitted(readings: readonly CountedReading[]): readonly Counted[] {
    return readings.flatMap((one): readonly Counted[] => {
      const { node, column, element, given, reached, instead, counts } = one;
      if (counts.given < ENOUGH || counts.emitted > 0 || mayFindNothing(node)) return [];
      const same = readings.filter(
        other => other !== one && other.element === element && columnKey(other.column) === columnKey(column),
      );
      const shown = or(...same.map(other => and(other.reached, presentPredicate(other.node, this.#env))));
      const warn = (rows: number): void => {
        if (rows === 0) return;
        this.report.warning('never-used', node.at, `${element} is never emitted though ${nameOf(column)} has a value`, {
          expected: `values that ${node.codec.label} reads`,
          found: plural(counts.given, 'row'),
        });
      };
      return [{ when: and(reached, given, not(shown), not(instead)), take: warn }];
    });
  }

  #value(
    mapping: Mapping,
    { served, instead }: Around,
    node: ValueNode,
    column: Expression,
    path: readonly string[],
  ): readonly Counted[] {
    const given = and(hasValue(column), notAbsent(node, this.#env));
    const present = presentPredicate(node, this.#env);
    const taken: number[] = [];
    const counts = { given: 0, emitted: 0 };
    const take = (rows: number): void => {
      taken.push(rows);
      const [all = 0, raw = 0, emitted = 0, lost = 0, byElse = 0] = taken;
      if (taken.length < 5) return;
      counts.given = raw;
      counts.emitted = emitted;
      this.#rows.push([mapping.name, path.join('.'), nameOf(column), all, raw, emitted, byElse, lost]);
      if (raw >= ENOUGH && emitted > 0 && byElse === raw) {
        this.report.warning('never-used', node.at, `every value of ${nameOf(column)} falls to \`else\``, {
          found: plural(raw, 'row'),
        });
      }
    };
    const unmapped = this.#unmapped(node, column);
    const element = `${mapping.resource}.${path.join('.')}`;
    this.#readings.push({ node, column, element, reached: served, given, instead, counts });
    return [
      ...farDates(node, served, element, this.#env, this.report),
      { when: served, take },
      { when: and(served, given), take },
      { when: and(served, present), take },
      { when: and(served, given, not(present), not(instead)), take },
      { when: and(served, given, present, unmapped), take },
    ];
  }

  /** Matches values that a code map has no row for. */
  #unmapped({ codec }: ValueNode, column: Expression): Predicate {
    const origin = codeMapOf(codec);
    const map = this.#registry.codeMaps.find(({ name }) => name === origin?.name);
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
    const target = this.#registry.mapping(node.target);
    const keyed = and(served, ...node.on.map(hasKey));
    const found = exists(targetRelation(target, node.on, this.#env).relation);
    const columns = node.on.map(({ ours }) => ours.column).join(', ');
    const { source } = target;
    const hasKeys = node.on.every(({ theirs }) => theirs.alias === source.alias);
    let withKey = 0;
    let dangling = 0;
    return [
      {
        when: keyed,
        take: rows => {
          withKey = rows;
        },
      },
      {
        when: and(keyed, found),
        take: rows => {
          dangling = withKey - rows;
          this.#references.push([mapping.name, path.join('.'), columns, node.target, withKey, rows, dangling]);
        },
      },
      {
        when: hasKeys ? and(keyed, not(found), hasRow(source, node.on, this.#env)) : NEVER,
        take: leftOut => {
          if (withKey < ENOUGH || dangling < withKey * DANGLING || isAlternative(mapping.root, node)) return;
          this.suspects.push({ node, target, columns, withKey, found: withKey - dangling, leftOut });
        },
      },
    ];
  }
}

function columnKey(of: Expression): string {
  return of.kind === 'column' ? `${of.alias}.${of.column.toLowerCase()}` : expressionKey(of);
}

function columnKeys(expressions: readonly Expression[]): ReadonlySet<string> {
  const found = new Set<string>();
  walk({ expressions }, { column: column => void found.add(columnKey(column)) });
  return found;
}

const NEVER: Predicate = { kind: 'false' };

/** True if another node serves as the alternative when a reference finds no row. */
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
