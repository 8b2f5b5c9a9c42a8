/**
 * Finds suspicious numbers of rows: dates far away, alternatives that no row takes, rules that exclude many rows. In:
 * parts of a mapping, with the rows that reach them. Out: conditions to count, each with the function that warns.
 */
import { plural } from '../common/plural.ts';
import type { Codec } from '../mapping/codecs/codec.ts';
import type { DateEdge } from '../mapping/criterion.ts';
import { codeMapOf } from '../mapping/load/codes/origin.ts';
import { placeText, type Report } from '../mapping/load/problem.ts';
import type { JoinColumn, Node, Position, Scope, ValueNode } from '../mapping/model.ts';
import { conditionPredicate, joinEquals, scopeRelation } from '../plan/condition.ts';
import type { Environment } from '../plan/environment.ts';
import { notAbsent, presentPredicate } from '../plan/presence.ts';
import { and, constant, equals, exists, glob, not, or, TRUE } from '../sql/construct.ts';
import type { Expression, Predicate } from '../sql/expression.ts';
import { renameRelation } from '../sql/rename.ts';

/** A condition to count, and the function that takes the number. */
export interface Counted {
  readonly when: Predicate;
  readonly take: (rows: number) => void;
}

/** With fewer rows than this, a number proves nothing. */
export const ENOUGH = 20;
/** Years from now after which nothing is planned. Later dates stand for "no end" or are mistakes. */
const AHEAD = 50;
/**
 * Number and length (in years) of the periods after that. If a column has dates in several of them, they do not mean
 * "no end".
 */
const SPANS = 4;
const SPAN = 40;
/** Assumed earliest birth year of anybody in a database. */
const OLDEST = 1850;
/** A rule for exceptions that drops a larger share of rows deserves a warning. */
const MANY = 0.1;

/**
 * Counts rows whose emitted date is implausible. `element`: as `Patient.birthDate`. If the dates of a column spread
 * over several future periods, they were shifted, as in data for research; only dates after these periods are then
 * reported.
 */
export function farDates(
  node: ValueNode,
  served: Predicate,
  element: string,
  env: Environment,
  report: Report,
): readonly Counted[] {
  const [column] = node.from;
  if (!DATES.has(node.type) || (column?.kind !== 'column' && column?.kind !== 'raw')) return [];
  const source = nameOf(column);
  const present = and(served, presentPredicate(node, env));
  const last = new Date(env.now).getUTCFullYear() + AHEAD;
  const between = (from: number | undefined, to: number | undefined): Predicate | undefined => {
    const edges: DateEdge[] = [
      ...(from === undefined ? [] : [{ edge: 'start', op: '>=', at: Date.UTC(from, 0, 1) } as const]),
      ...(to === undefined ? [] : [{ edge: 'end', op: '<=', at: Date.UTC(to, 0, 1) } as const]),
    ];
    const match = node.codec.match(node.from, { kind: 'date', any: [edges] }, env);
    return match && and(present, match);
  };
  const warn = (said: string, rows: number): void => {
    if (rows === 0) return;
    report.warning('wrong-values', node.at, `${element} is a date ${said} in ${plural(rows, 'row')} of ${source}`, {
      expected:
        'a rule of `absent` in pack.yaml, or `none`, if it means that there is no date; `lintel profile` names such values',
    });
  };
  let all = 0;
  const counts: number[] = [];
  const shifted = Array.from({ length: SPANS }, (_, i) => last + 1 + i * SPAN);
  const behind = last + SPANS * SPAN;
  const counted: readonly (Counted | undefined)[] = [
    asCounted(present, rows => {
      all = rows;
    }),
    ...shifted.map(from => asCounted(between(from, from + SPAN), rows => counts.push(rows))),
    asCounted(between(behind + 1, undefined), rows => {
      const isShifted = counts.filter(one => one >= all * MANY && one > 0).length > 1;
      if (isShifted) warn(`after ${behind}`, rows);
      else
        warn(
          `after ${last}`,
          counts.reduce((sum, one) => sum + one, rows),
        );
    }),
    asCounted(between(undefined, OLDEST), rows => warn(`before ${OLDEST}`, rows)),
  ];
  return counted.flatMap(one => one ?? []);
}

/** Counts resources without a time of change. `changed`: the node of that time. `name`: of the mapping. */
export function timeless(changed: ValueNode, name: string, env: Environment, report: Report): readonly Counted[] {
  let all = 0;
  const warn = (rows: number): void => {
    if (all < ENOUGH || rows < all * MANY) return;
    const said = `${rows} of ${plural(all, 'resource')} of ${name} have no time of change`;
    report.warning('no-time-of-change', changed.at, `${said}: exports with \`_since\` leave them out`, {
      expected: 'another column of times beside it, such as that of creation: `changed: [MADE_AT, CHANGED_AT]`',
    });
  };
  return [
    {
      when: TRUE,
      take: rows => {
        all = rows;
      },
    },
    { when: not(presentPredicate(changed, env)), take: warn },
  ];
}

function asCounted(when: Predicate | undefined, take: Counted['take']): Counted | undefined {
  return when && { when, take };
}

const DATES: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant']);

/** Whether rows take an alternative, by its place in the pack. The place of a fragment is in several mappings. */
export class Takings {
  readonly #taken = new Set<string>();
  readonly #untaken: { readonly at: Position; readonly warn: () => void }[] = [];

  take(at: Position): void {
    this.#taken.add(placeText(at));
  }

  leave(at: Position, warn: () => void): void {
    this.#untaken.push({ at, warn });
  }

  /** Warns of places that no row takes. `isWhole`: all mappings were counted, so that those of fragments are known. */
  report(isWhole: boolean): void {
    for (const { at, warn } of this.#untaken)
      if (!this.#taken.has(placeText(at)) && (isWhole || at.by === undefined)) warn();
  }
}

/**
 * Counts alternatives that no row takes; a row takes the first that has a value. `alternatives`: the nodes of each, as
 * written. The last may be for future rows, so it is reported only if no row has a value for it.
 */
export function untaken(
  alternatives: readonly (readonly Node[])[],
  served: Predicate,
  env: Environment,
  { takings, report }: { readonly takings: Takings; readonly report: Report },
): readonly Counted[] {
  const places = new Set(alternatives.map(([first]) => JSON.stringify(first?.at)));
  // Alternatives of a code map in a table have the position where the map is named.
  if (places.size < alternatives.length) return [];
  const present = alternatives.map(nodes => or(...nodes.map(node => presentPredicate(node, env))));
  let all = 0;
  const counts = alternatives.flatMap((nodes, i): readonly Counted[] => {
    const [first] = nodes;
    const here = present[i];
    const isLast = i === alternatives.length - 1;
    if (!first || !here || (isLast && here.kind === 'true')) return [];
    let there = 0;
    const warn = (rows: number): void => {
      if (rows > 0) takings.take(first.at);
      if (all < ENOUGH || rows > 0 || (isLast && there > 0)) return;
      const found =
        there === 0 ? 'it is there in none' : `it is there in ${plural(there, 'row')}, behind an earlier one`;
      takings.leave(first.at, () =>
        report.warning('never-used', first.at, `no row of ${all} takes this alternative of \`first\``, { found }),
      );
    };
    const taken = and(served, here, not(or(...present.slice(0, i))));
    return [
      {
        when: and(served, here),
        take: rows => {
          there = rows;
        },
      },
      { when: taken, take: warn },
    ];
  });
  const reached: Counted = {
    when: served,
    take: rows => {
      all = rows;
    },
  };
  return [reached, ...counts];
}

/**
 * Matches rows that lack a required value although no rule chose them: for a reference, if the other table has no row
 * with the key at all.
 */
export function lacks(node: Node, env: Environment): Predicate {
  const without = (): Predicate => {
    switch (node.kind) {
      case 'ref': {
        const { source } = env.registry.mapping(node.target);
        return not(hasRow(source, node.on, env));
      }
      case 'list':
        return and(...node.items.map(item => lacks(item, env)));
      case 'first':
        return and(...node.alternatives.map(one => lacks(one, env)));
      default:
        return not(presentPredicate(node, env));
    }
  };
  return node.if ? and(conditionPredicate(node.if, env), without()) : without();
}

/** Returns the name of a column for messages and tables. */
export function nameOf(column: Expression): string {
  return column.kind === 'column' ? column.column : '`sql`';
}

/** One value of a mapping, with the rows that reach it. */
export interface Reading {
  readonly node: ValueNode;
  /** A column, or an `sql`. */
  readonly column: Expression;
  /** Such as `Patient.birthDate`. */
  readonly element: string;
  /**
   * Matches the rows for which it is evaluated: the resource is served, each `if` above it holds, and no earlier
   * alternative gives the element.
   */
  readonly reached: Predicate;
  /** Matches the rows for which a later alternative gives the element if this value is missing. */
  readonly instead: Predicate;
}

/**
 * Counts rows whose column has a value that no element shows: a text in a form that its codec does not read, a number
 * without meaning. `readings`: of one source, by column. Reported once per column, at its first value. Excluded:
 * columns of dates and times, whose forms are reported separately; code maps, whose unmapped codes are; pieces of a
 * text.
 */
export function unshownValues(
  readings: ReadonlyMap<string, readonly Reading[]>,
  isGiven: (column: Expression) => Predicate,
  env: Environment,
  report: Report,
): readonly Counted[] {
  return [...readings.values()].flatMap((all): readonly Counted[] => {
    const [first] = all;
    if (!first || all.some(({ node, column }) => MOMENTS.has(column.type.kind) || isOfPart(node))) return [];
    const { node, column, element } = all.find(({ instead }) => instead.kind !== 'true') ?? first;
    const isDate = all.every(one => one.node.codec.yields.some(type => DATES.has(type)));
    const given = and(
      isGiven(column),
      isDate ? not(isNoDay(column)) : TRUE,
      ...all.map(one => notAbsent(one.node, env)),
    );
    const shown = or(...all.map(one => and(one.reached, presentPredicate(one.node, env))));
    let read = 0;
    const warn = (rows: number): void => {
      // If no value is read, the warning about the element itself covers it.
      if (rows === 0 || read === 0) return;
      report.warning(
        'wrong-values',
        node.at,
        `${element} is absent in ${plural(rows, 'row')} though ${nameOf(column)} has a value`,
        {
          expected: `values that ${node.codec.label} reads, another alternative for the rest, or a rule of \`absent\``,
          found: `${plural(read, 'row')} with a value that is read`,
        },
      );
    };
    const reached = or(...all.map(one => one.reached));
    return [
      {
        when: and(reached, given, shown),
        take: rows => {
          read = rows;
        },
      },
      { when: and(or(...all.map(one => and(one.reached, not(one.instead)))), given, not(shown)), take: warn },
    ];
  });
}

/** Matches zeros, with or without separators: programs write them for "no day". */
function isNoDay(column: Expression): Predicate {
  return column.type.kind === 'text' ? not(glob(column, '*[^-0 /.]*')) : equals(column, constant(0, column.type));
}

const MOMENTS: ReadonlySet<string> = new Set(['date', 'datetime', 'instant', 'time']);

/**
 * True if the value comes from a code map or a piece of the text: what they leave out is intended, or reported
 * elsewhere.
 */
function isOfPart({ codec, from }: ValueNode): boolean {
  return from.length > 1 || isOfCodeMap(codec) || skips(codec, 1);
}

function isOfCodeMap(codec: Codec): boolean {
  return codeMapOf(codec) !== undefined || / code map /.test(` ${codec.label}`);
}

/**
 * True if it is acceptable that no row has this value. For a code map, codes without a row are reported with its values
 * (LNT-705), and codes that a row makes absent are intended; neither covers `else: absent`. A piece after the second,
 * or the remainder of a single word, may be missing in all rows; a separator that is missing in all texts is a mistake.
 */
export function mayFindNothing({ codec, from: [column] }: ValueNode): boolean {
  const origin = codeMapOf(codec);
  if (origin && column) return / code map .*\.text$/.test(` ${codec.label}`) || origin.known(column).kind !== 'true';
  return isOfCodeMap(codec) || skips(codec, 2);
}

/** True if a text step reads a piece after this one, or the remainder of several words. */
function skips({ options }: Codec, behind: number): boolean {
  return (options?.steps ?? []).some(
    step => (step.step === 'piece' && step.at > behind) || (step.step === 'words' && /^all-but-/.test(step.words)),
  );
}

/** Matches if any row of the table has the key, without further conditions. */
export function hasRow(
  { table, alias }: Pick<Scope, 'table' | 'alias'>,
  on: readonly JoinColumn[],
  env: Environment,
): Predicate {
  if (on.length === 0 || on.some(({ theirs }) => theirs.alias !== alias)) return TRUE;
  const bare: Scope = { table, alias, where: { kind: 'always' }, lookups: [] };
  const { relation, aliases } = renameRelation(scopeRelation(bare, TRUE, env));
  const joined = on.map(one => joinEquals({ ...one, theirs: { ...one.theirs, alias: aliases.get(alias) ?? alias } }));
  return exists({ ...relation, where: and(...joined) });
}

/** Warns if a rule drops a large share of the rows that reach it. `rule`: its name in the mapping. */
export function warnOfTaken(
  { at, rule, table }: { readonly at: Position; readonly rule: string; readonly table: string },
  { taken, of }: { readonly taken: number; readonly of: number },
  report: Report,
): void {
  // A rule that drops every row is reported elsewhere.
  if (of < ENOUGH || taken < of * MANY || taken === of) return;
  const percent = Math.round((100 * taken) / of);
  report.warning(
    'rows-left-out',
    at,
    `\`${rule}\` takes away ${plural(taken, 'row')} of ${of} of ${table} (${percent} %)`,
    {
      expected: `less than ${MANY * 100} %, or a \`where\` that selects the intended rows`,
    },
  );
}
