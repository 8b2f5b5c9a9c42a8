/**
 * Finds columns of a record outside of its own table. In: a kind of record, its table, and the elements that were found
 * there. Out: columns of the table that shares its key (the person of a patient), and of tables with a row for each
 * value (names, addresses, identifiers). Excludes tables of other people and of other records.
 */
import type { TableInfo } from '../../sql/catalog.ts';
import { isIdentifier } from '../../sql/identifier.ts';
import { bestIn, bestOf, KINDS, type Kind, kindNamed, type Names, OF_KEYS, rounded } from './hints.ts';
import { isSame, type Step } from './parents.ts';
import type { ProposedElement } from './propose.ts';

/** Words for people around a patient, and for records that name another person. */
const OTHERS: readonly string[] = [
  ...['contact', 'relative', 'relation', 'relationship', 'kin', 'guardian', 'emergency', 'spouse', 'employer'],
  ...['insurance', 'insured', 'policy', 'subscriber', 'guarantor', 'history', 'log', 'audit'],
];
/** Weight of a declared foreign key, and of names alone. */
const DECLARED = 0.95;
const GUESSED = 0.8;

/** Finds the table that shares this table's key by a declared foreign key, and the step to it. */
export function sameKey(table: TableInfo, key: readonly string[], { stepsOf }: Names): Step | undefined {
  const [own, ...more] = key;
  if (own === undefined || more.length > 0) return undefined;
  return stepsOf(table).find(({ table: to, on, isDeclared }) => {
    const [[theirs, ours] = []] = on;
    const [theirKey, ...others] = to.primaryKey;
    if (!isDeclared || on.length !== 1 || others.length > 0 || to === table) return false;
    return isSame(ours ?? '', own) && isSame(theirs ?? '', theirKey ?? '');
  });
}

/** Returns elements of the kind that were not found yet. */
export function elementsAround(
  kind: Kind,
  table: TableInfo,
  key: readonly string[],
  found: readonly ProposedElement[],
  names: Names,
): readonly ProposedElement[] {
  const [own, ...more] = key;
  const person = kind.persons && personOf(table, kind.persons, names);
  const step = sameKey(table, key, names) ?? person;
  const above = step ? elementsAbove(kind, step, found, names) : [];
  if (own === undefined || more.length > 0 || kind.children === undefined) return above;
  const children = names.childrenOf(table).filter(({ on }) => isSame(on[0]?.[1] ?? '', own));
  // Children of a table with the same key: `person_id` of a name is `patient_id` of a patient.
  const cousins = [step?.table, ...sharing(table, own, names)].flatMap(
    other =>
      (other &&
        names
          .childrenOf(other)
          .filter(({ on, table: to }) => to !== table && isSame(on[0]?.[1] ?? '', other.primaryKey[0] ?? ''))
          .map(({ on, ...child }) => ({ ...child, on: on.map(([theirs]) => [theirs, own] as const) }))) ??
      [],
  );
  const isChild =
    (of?: TableInfo) =>
    ({ table: to, on }: Step): boolean =>
      isOfRecord(kind, to, on, names, of);
  const ofPerson = person ? childrenBy(person, names).filter(isChild(person.table)) : [];
  const all = [...[...children, ...cousins].filter(isChild()), ...ofPerson];
  return [...above, ...elementsBelow(kind, table, all, [...found, ...above], names)];
}

/** Finds the person of a row: a declared foreign key named after a table of people, such as `person_id`. */
function personOf(table: TableInfo, persons: readonly string[], names: Names): Step | undefined {
  const { wordsOf, stepsOf } = names;
  const isOfPeople = ({ name }: TableInfo): boolean =>
    name
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split(/[^a-z]+/)
      .some(word => persons.includes(word));
  return stepsOf(table).find(({ table: to, on, isDeclared }) => {
    const [[, ours] = [], ...more] = on;
    if (!isDeclared || ours === undefined || more.length > 0 || to === table || !isOfPeople(to)) return false;
    const words = new Set([...wordsOf(to.name), ...OF_KEYS]);
    return [...wordsOf(ours)].every(word => words.has(word));
  });
}

/** Returns steps from a record to the rows that refer to its person. */
function childrenBy({ table, on }: Step, { childrenOf }: Names): readonly Step[] {
  const [[theirs, ours] = []] = on;
  if (theirs === undefined || ours === undefined) return [];
  return childrenOf(table)
    .filter(({ on: by, isDeclared }) => isDeclared && isSame(by[0]?.[1] ?? '', theirs))
    .map(({ on: by, ...child }) => ({ ...child, on: by.map(([column]) => [column, ours] as const) }));
}

/** Returns tables whose key is declared as a foreign key to this one's. */
function sharing(table: TableInfo, own: string, names: Names): readonly TableInfo[] {
  return names
    .childrenOf(table)
    .filter(({ table: to, on, isDeclared }) => {
      const [key, ...more] = to.primaryKey;
      return isDeclared && more.length === 0 && isSame(on[0]?.[0] ?? '', key ?? '') && isSame(on[0]?.[1] ?? '', own);
    })
    .map(({ table: to }) => to);
}

function elementsAbove(
  kind: Kind,
  step: Step,
  found: readonly ProposedElement[],
  names: Names,
): readonly ProposedElement[] {
  const taken = new Set<string>();
  return kind.elements.flatMap(({ path, columns, kind: type, system, with: fixed }): readonly ProposedElement[] => {
    if (type === 'patient' || found.some(one => one.path === path)) return [];
    const best = bestIn(step.table, columns, type, names, taken);
    if (!best) return [];
    taken.add(best.column);
    const more = { ...(system === undefined ? {} : { system }), ...(fixed === undefined ? {} : { with: fixed }) };
    return [{ path, kind: type, ...best, score: rounded(DECLARED * best.score), join: [step], ...more }];
  });
}

function elementsBelow(
  kind: Kind,
  table: TableInfo,
  children: readonly Step[],
  found: readonly ProposedElement[],
  names: Names,
): readonly ProposedElement[] {
  const all = [...found];
  for (const group of kind.children ?? []) {
    const isOf = ({ path }: { readonly path: string }): boolean => path.startsWith(`${group.path}.`);
    const wanted = kind.elements.filter(isOf);
    if (all.some(isOf)) continue;
    const [best] = children
      .filter(
        ({ table: to }) =>
          group.tables === undefined ||
          isNamed(to, table, group.tables, names) ||
          all.some(({ child }) => child?.table === to),
      )
      .map(child => {
        const [single, ...keys] = child.table.primaryKey;
        const taken = new Set(child.on.map(([theirs]) => theirs));
        if (single !== undefined && keys.length === 0) taken.add(single);
        const elements = wanted.flatMap(({ path, columns, child: more = [], kind: type, with: fixed }) => {
          const one = bestIn(child.table, [...columns, ...more], type, names, taken);
          if (!one) return [];
          taken.add(one.column);
          const score = rounded((child.isDeclared ? DECLARED : GUESSED) * one.score);
          return [{ path, kind: type, ...one, score, child, ...(fixed === undefined ? {} : { with: fixed }) }];
        });
        return { elements, score: elements.reduce((sum, { score }) => sum + score, 0) };
      })
      .filter(({ elements }) => elements.length >= group.least)
      .filter(({ elements: [first] }) => first !== undefined && !isOfSomebodyElse(first, all, names))
      .toSorted((a, b) => b.score - a.score);
    all.push(...(best?.elements ?? []));
  }
  return all.slice(found.length);
}

/**
 * True if rows of a table describe the record that they refer to, and are not records of their own. `of`: the person
 * that they refer to, after whom the table may be named.
 */
function isOfRecord({ resource }: Kind, table: TableInfo, on: Step['on'], names: Names, of?: TableInfo): boolean {
  const { wordsOf } = names;
  const has = (name: string, words: readonly string[]): boolean => words.some(word => wordsOf(name).has(word));
  const parentWords = of ? wordsOf(of.name) : new Set<string>();
  const kind = kindNamed(new Set([...wordsOf(table.name)].filter(word => !parentWords.has(word))));
  if (!isIdentifier(table.name) || (kind !== undefined && kind.resource !== resource)) return false;
  if (has(table.name, OTHERS) || on.some(([theirs]) => has(theirs, [...OTHERS, ...WRITERS]))) return false;
  if ([...table.columns.values()].some(({ name }) => has(name, RELATIONS))) return false;
  return ['birthDate', 'gender'].every(path => ofPatients(path, table, names) === undefined);
}

/** Columns that give the relationship between two people. */
const RELATIONS: readonly string[] = ['relation', 'relationship', 'kin', 'insured', 'subscriber', 'guarantor'];
/** Words for the author of a row. */
export const WRITERS: readonly string[] = ['by', 'creator', 'author'];

/** Returns the column that would be this element of a patient. */
function ofPatients(path: string, table: TableInfo, names: Names): string | undefined {
  const { columns = [], kind = 'text' } = KINDS[0]?.elements.find(one => one.path === path) ?? {};
  return bestIn(table, columns, kind, names)?.column;
}

/** True if the table's name has words of its content, apart from the words of the record's table. */
function isNamed({ name }: TableInfo, record: TableInfo, tables: readonly string[], { wordsOf }: Names): boolean {
  const rest = new Set([...wordsOf(name)].filter(word => !wordsOf(record.name).has(word)));
  return bestOf(tables, rest).score === 1;
}

/** True for a table with the name of another person than the record's subject. */
function isOfSomebodyElse({ path, child }: ProposedElement, found: readonly ProposedElement[], names: Names): boolean {
  if (child === undefined || path.startsWith('name.') || ofPatients('name.family', child.table, names) === undefined)
    return false;
  return !found.some(one => one.path === 'name.family' && one.child?.table === child.table);
}
