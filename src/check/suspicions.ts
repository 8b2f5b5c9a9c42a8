/**
 * Finds suspicious numbers of rows: dates far away, alternatives that no row takes, rules that exclude many rows. In:
 * parts of a mapping, with the rows that reach them. Out: conditions to count, and the warning for a count.
 */
import { plural } from '../common/plural.ts';
import type { Codec } from '../mapping/codecs/codec.ts';
import type { DateEdge } from '../mapping/criterion.ts';
import { codeMapOf } from '../mapping/load/codes/origin.ts';
import type { Report } from '../mapping/load/problem.ts';
import type { JoinColumn, Node, Position, Scope, ValueNode } from '../mapping/model.ts';
import { conditionPredicate, joinEquals, scopeRelation } from '../plan/condition.ts';
import type { Environment } from '../plan/environment.ts';
import { notAbsent, presentPredicate } from '../plan/presence.ts';
import { and, constant, equals, exists, glob, not, or, TRUE } from '../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../sql/expression.ts';
import { renameRelation } from '../sql/rename.ts';

/** What is counted: a condition, and who is told the number. */
export interface Counted {
  readonly when: Predicate;
  readonly tell: (rows: number) => void;
}

/** Fewer rows prove nothing. */
export const ENOUGH = 20;
/** Years from now after which nothing is planned: what lies behind them stands for "no end" or is a slip. */
const AHEAD = 50;
/** Spans of years behind those: dates of a column in several of them are no word for "no end". */
const SPANS = 4;
const SPAN = 40;
/** Nobody in a database of today was born before. */
const OLDEST = 1850;
/** Where a larger share of rows is taken away by a rule that is meant for exceptions, somebody should look. */
const MANY = 0.1;

/**
 * Rows whose date is emitted and can hardly be meant. `element`: as `Patient.birthDate`. A column whose dates are
 * spread over the years ahead has been shifted, as in data for research: of it the dates behind these years are told.
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
  const source = column.kind === 'column' ? column.column : '`sql`';
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

function asCounted(when: Predicate | undefined, tell: Counted['tell']): Counted | undefined {
  return when && { when, tell };
}

const DATES: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant']);

/**
 * Alternatives that no row of many takes: of a row the first counts that is there. `alternatives`: the nodes of each,
 * as they are written. The last may be for rows that are still to come, so only one that is there in no row is told.
 */
export function untaken(
  alternatives: readonly (readonly Node[])[],
  served: Predicate,
  env: Environment,
  report: Report,
): readonly Counted[] {
  const places = new Set(alternatives.map(([first]) => JSON.stringify(first?.at)));
  // Those of a code map in a table stand where the map is named.
  if (places.size < alternatives.length) return [];
  const present = alternatives.map(nodes => or(...nodes.map(node => presentPredicate(node, env))));
  let all = 0;
  const counts = alternatives.flatMap((nodes, i): readonly Counted[] => {
    const [first] = nodes;
    const here = present[i];
    const isLast = i === alternatives.length - 1;
    if (!first || !here || (isLast && here.kind === 'true')) return [];
    let there = 0;
    const tell = (rows: number): void => {
      if (all < ENOUGH || rows > 0 || (isLast && there > 0)) return;
      report.warning('never-used', first.at, `no row of ${all} takes this alternative of \`first\``, {
        found: there === 0 ? 'it is there in none' : `it is there in ${plural(there, 'row')}, behind an earlier one`,
      });
    };
    const taken = and(served, here, not(or(...present.slice(0, i))));
    return [
      {
        when: and(served, here),
        tell: rows => {
          there = rows;
        },
      },
      { when: taken, tell },
    ];
  });
  const reached: Counted = {
    when: served,
    tell: rows => {
      all = rows;
    },
  };
  return [reached, ...counts];
}

/**
 * The alternatives of a node, each with its nodes: of a `first`, and of each `first` among the elements of an object.
 */
export function alternativesIn(node: Node): readonly (readonly (readonly Node[])[])[] {
  if (node.kind === 'first') return [node.alternatives.map(one => [one])];
  if (node.kind !== 'object') return [];
  return node.members.flatMap(member =>
    member.kind === 'element' ? [] : [member.alternatives.map(named => named.map(one => one.node))],
  );
}

/**
 * Rows without what they need, and not because a rule has chosen them: where the other table has no row with the key at
 * all.
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

/** One value of a mapping, with the rows that reach it. */
export interface Reading {
  readonly node: ValueNode;
  readonly column: ColumnExpression;
  /** As `Patient.birthDate`. */
  readonly element: string;
  /** The rows of which it is asked: its resource is served, and each `if` above it holds. */
  readonly reached: Predicate;
}

/**
 * Rows whose column has a value that no element shows: a text in another form than its codec reads, a number that means
 * nothing to it. `readings`: of one source, by column. Told once per column, at its first value. Not judged: columns of
 * dates and times, whose forms are told apart; values of code maps, whose unmapped codes are; pieces of a text.
 */
export function unshownValues(
  readings: ReadonlyMap<string, readonly Reading[]>,
  isGiven: (column: ColumnExpression) => Predicate,
  env: Environment,
  report: Report,
): readonly Counted[] {
  return [...readings.values()].flatMap((all): readonly Counted[] => {
    const [first] = all;
    if (!first || all.some(({ node, column }) => MOMENTS.has(column.type.kind) || isOfPart(node))) return [];
    const { node, column, element } = first;
    const isDate = all.every(one => one.node.codec.yields.some(type => DATES.has(type)));
    const given = and(
      isGiven(column),
      isDate ? not(isNoDay(column)) : TRUE,
      ...all.map(one => notAbsent(one.node, env)),
    );
    const shown = or(...all.map(one => and(one.reached, presentPredicate(one.node, env))));
    let read = 0;
    const tell = (rows: number): void => {
      // Where none is read, the element itself is told.
      if (rows === 0 || read === 0) return;
      report.warning(
        'wrong-values',
        node.at,
        `${element} is absent in ${plural(rows, 'row')} though ${column.column} has a value`,
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
        tell: rows => {
          read = rows;
        },
      },
      { when: and(reached, given, not(shown)), tell },
    ];
  });
}

/** Zeros, with or without separators, are how programs write that there is no day. */
function isNoDay(column: ColumnExpression): Predicate {
  return column.type.kind === 'text' ? not(glob(column, '*[^-0 /.]*')) : equals(column, constant(0, column.type));
}

const MOMENTS: ReadonlySet<string> = new Set(['date', 'datetime', 'instant', 'time']);

/**
 * Whether the value is made of a code map, or of a piece of the text: what they leave out is meant, or told elsewhere.
 */
function isOfPart({ codec, from }: ValueNode): boolean {
  return from.length > 1 || isOfCodeMap(codec) || skips(codec, 1);
}

function isOfCodeMap(codec: Codec): boolean {
  return codeMapOf(codec) !== undefined || / code map /.test(` ${codec.label}`);
}

/**
 * Whether a value may be there in no row. What a code map has no row for is told with its values (LNT-705), and what a
 * row of it makes absent is meant; `else: absent` says neither. A piece behind the second, or what a single word
 * leaves, may be there in none; that no text of many has a separator is a slip.
 */
export function mayFindNothing({ codec, from: [column] }: ValueNode): boolean {
  const origin = codeMapOf(codec);
  if (origin && column) return / code map .*\.text$/.test(` ${codec.label}`) || origin.known(column).kind !== 'true';
  return isOfCodeMap(codec) || skips(codec, 2);
}

/** A text step asks for a piece behind this one, or for what is left of several words. */
function skips({ options }: Codec, behind: number): boolean {
  return (options?.steps ?? []).some(
    step => (step.step === 'piece' && step.at > behind) || (step.step === 'words' && /^all-but-/.test(step.words)),
  );
}

/** Some row of the table has the key, whatever else is asked of it. */
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

/** Told where a rule takes away a good part of the rows that come to it. `rule`: as the mapping says it. */
export function tellTaken(
  { at, rule, table }: { readonly at: Position; readonly rule: string; readonly table: string },
  { taken, of }: { readonly taken: number; readonly of: number },
  report: Report,
): void {
  // A rule that leaves none is told as that.
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
