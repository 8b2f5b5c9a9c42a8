/**
 * Judges references whose key often finds no row. In: such references with their numbers. Out: warnings. Whole numbers
 * may match rows of a wrong table by chance, so the share of matches is compared with chance.
 */
import { plural } from '../common/plural.ts';
import type { Report } from '../mapping/load/problem.ts';
import type { Mapping, RefNode, Scope } from '../mapping/model.ts';
import { and, compare, value } from '../sql/construct.ts';
import { bareOf, type RowCounter } from './row-counter.ts';

/** A share of matches that differs from chance by at most this counts as chance. */
const NEAR_CHANCE = 0.1;

/** A reference whose key often finds no row. */
export interface Suspect {
  readonly node: RefNode;
  readonly target: Mapping;
  readonly columns: string;
  readonly withKey: number;
  readonly found: number;
  /** How many of the dangling ones lead to a row that the target's rules leave out. */
  readonly leftOut: number;
}

/** Warns of each suspect; says so if its matches may be chance. Rejects with DatabaseError. */
export async function warnOfDangling(
  suspects: readonly Suspect[],
  scopes: ReadonlyMap<string, Scope>,
  counter: RowCounter,
  report: Report,
): Promise<void> {
  for (const suspect of suspects) {
    const { node, target, columns, withKey, found } = suspect;
    const chance = await chanceOf(node, target, scopes, counter);
    report.warning(
      'dangling-reference',
      node.at,
      `${plural(withKey - found, 'reference')} of ${withKey} from ${columns} find no ${target.resource} of ${node.target}`,
      adviceOn(suspect, chance),
    );
  }
}

/** Explains a suspect: a wrong column, or rows that the target leaves out. */
function adviceOn(
  { node, target, columns, withKey, found, leftOut }: Suspect,
  chance: number | undefined,
): { readonly expected: string; readonly found: string } {
  const percent = (part: number): string => `${Math.round(100 * part)} %`;
  const share = found / withKey;
  const table = target.source.table.name;
  // Rows that the target leaves out are keys of its table, too, such as the row -1 of a warehouse for "none".
  const known = (found + leftOut) / withKey;
  if (chance !== undefined && found > 0 && Math.abs(known - chance) <= NEAR_CHANCE) {
    return {
      expected: `another table, whose keys ${columns} holds`,
      found: `rows for ${percent(share)}, as for ${percent(chance)} of all numbers between least and greatest`,
    };
  }
  if (leftOut === withKey - found) {
    return {
      expected: `an \`if\` of the reference, or a mapping of the rows of ${table} that ${node.target} leaves out`,
      found: 'such a row for each',
    };
  }
  const others = leftOut === 0 ? '' : `, and for ${percent(leftOut / withKey)} rows that ${node.target} leaves out`;
  return { expected: `keys of ${table}`, found: `rows for ${percent(share)}${others}` };
}

/** Returns the share of all whole numbers between our least and greatest key that are keys of the target. */
async function chanceOf(
  { on }: RefNode,
  { source }: Mapping,
  scopes: ReadonlyMap<string, Scope>,
  counter: RowCounter,
): Promise<number | undefined> {
  const [only] = on;
  if (!only || on.length > 1 || only.ours.type.kind !== 'integer' || only.theirs.type.kind !== 'integer')
    return undefined;
  const ours = scopes.get(only.ours.alias);
  if (!ours || only.theirs.alias !== source.alias) return undefined;
  const [low, high] = [await counter.end(ours, only.ours, false), await counter.end(ours, only.ours, true)];
  const between = and(
    compare(only.theirs, '>=', value(low, only.theirs.type)),
    compare(only.theirs, '<=', value(high, only.theirs.type)),
  );
  const [keys = 0] = await counter.sums(bareOf(source), between, []);
  return Math.min(1, keys / (high - low + 1));
}
