/**
 * Finds references of a table to those of other proposed mappings. In: a proposal, and the best of each kind. Out: for
 * each reference that FHIR knows the columns that may be it, likeliest first: declared foreign keys, columns named like
 * the key of the other table or like the element, also in the tables that lead to the patient.
 */
import { type ColumnInfo, findColumn, type TableInfo, tableText } from '../../sql/catalog.ts';
import { bestOf, type Found, found, kindOf, type Names } from './hints.ts';
import { isSame, type Step } from './parents.ts';
import { type Proposal, type ProposedElement, restOfKey } from './propose.ts';

export interface PossibleReference extends ProposedElement {
  readonly reference: NonNullable<ProposedElement['reference']>;
  /** The proposal that it refers to. */
  readonly target: Proposal;
  readonly isDeclared: boolean;
}

/** Words of columns for the user who changed or removed a row. */
const AFTERWARDS: readonly string[] = ['updated', 'deleted', 'removed', 'retired'];
/** Words of columns for the user who entered a row: only a reference with such a name leads there. */
const AT_FIRST: readonly string[] = ['creator', 'created', 'entered', 'inserted', 'author'];
/** Weight of a match by the name of the other table's key, and of each step on the way to the patient. */
const BY_KEY = 0.9;
const PER_STEP = 0.95;

/** Returns possible references. `best`: all proposals, the best of each kind first. */
export function possibleReferences(
  proposal: Proposal,
  best: readonly Proposal[],
  names: Names,
): readonly PossibleReference[] {
  const patient = proposal.elements.find(({ kind }) => kind === 'patient');
  return (kindOf(proposal.kind)?.references ?? []).flatMap(({ path, to, columns, onPatientPath }) => {
    const target = best.find(({ resource }) => resource === to);
    if (!target || target.info === proposal.info) return [];
    const steps = onPatientPath ? (patient?.join ?? []) : [];
    const ways = [[], ...steps.map((_, i) => steps.slice(0, i + 1))];
    return ways.flatMap(join => {
      const from = join.at(-1)?.table ?? proposal.info;
      if (from === target.info) return [];
      return keysTo(target, from, columns, names).map(({ on, isDeclared, ...one }) => ({
        ...{ path, kind: 'reference', ...one, score: one.score * PER_STEP ** join.length, isDeclared, target },
        ...(join.length > 0 ? { join } : {}),
        reference: { mapping: target.kind, on },
      }));
    });
  });
}

/** Returns the column of the target's key that a column of ours means: the only one, or the one of the same name. */
function keyColumn({ info, key }: Proposal, ours: string): ColumnInfo | undefined {
  const theirs = key.length === 1 ? key[0] : key.find(name => isSame(name, ours));
  return theirs === undefined ? undefined : findColumn(info, theirs);
}

/** Returns the columns of a table that may be the key of another, likeliest first. */
function keysTo(
  target: Proposal,
  from: TableInfo,
  texts: readonly string[],
  { wordsOf, stepsOf }: Names,
): readonly (Found & Pick<Step, 'on' | 'isDeclared'>)[] {
  const nameOf = (column: string): number => bestOf(texts, wordsOf(column)).score;
  const has = (column: string, words: readonly string[]): boolean => words.some(word => wordsOf(column).has(word));
  const isOfUser = (column: string): boolean =>
    has(column, AFTERWARDS) || (has(column, AT_FIRST) && nameOf(column) === 0);
  const steps = stepsOf(from).flatMap(({ table, on, isDeclared }) => {
    const [[theirs, ours] = []] = on;
    const column = ours === undefined ? undefined : findColumn(from, ours);
    if (table !== target.info || !column || column.denied || isOfUser(column.name)) return [];
    const what = `${tableText(table)}.${theirs}`;
    const why = isDeclared ? `declared foreign key to ${what}` : `may be ${what}, by the names`;
    return [{ ...found(column, isDeclared ? 1 : BY_KEY, why), on, isDeclared, named: nameOf(column.name) }];
  });
  const known = new Set(stepsOf(from).flatMap(({ on, isDeclared }) => (isDeclared ? on.map(([, ours]) => ours) : [])));
  for (const step of steps) for (const [, ours] of step.on) known.add(ours);
  const named = [...from.columns.values()].flatMap(column => {
    const { score, words } = bestOf(texts, wordsOf(column.name));
    if (score === 0 || column.denied || known.has(column.name)) return [];
    const theirs = keyColumn(target, column.name);
    const rest = theirs && restOfKey(target, theirs.name, from);
    if (!rest || theirs.type === undefined || theirs.type.kind !== column.type?.kind) return [];
    const on = [[theirs.name, column.name], ...rest] as const;
    return [{ ...found(column, score, `reads as "${words}"`), on, isDeclared: false, named: score }];
  });
  return [...steps, ...named]
    .toSorted((a, b) => Number(b.isDeclared) - Number(a.isDeclared) || b.named - a.named || b.score - a.score)
    .map(({ named: _, ...one }) => one);
}
