/**
 * Finds codes in tables of concepts, which have a code, its name and its vocabulary. In: a table, and the names and
 * foreign keys that lead to it. Out: the elements that the concept of a record makes.
 */
import { type ColumnInfo, findColumn, type TableInfo, tableText } from '../../sql/catalog.ts';
import { isIdentifier } from '../../sql/identifier.ts';
import { bestOf, type Found, found, type Kind, type Names, rounded } from './hints.ts';
import { isSame, type Step } from './parents.ts';
import type { ProposedElement } from './propose.ts';

/** A table of concepts, with its columns. */
interface Concepts {
  readonly table: TableInfo;
  readonly key: string;
  readonly code: ColumnInfo;
  readonly name: ColumnInfo;
  readonly vocabulary: ColumnInfo;
}

/** The text of the CodeableConcept that says what a record is about. */
const TEXT_OF_CODE = /^(code|vaccineCode|medicationCodeableConcept)\.text$/;
const NAMES = ['name', 'text', 'term', 'display', 'description'];
const VOCABULARIES = ['vocabulary', 'system', 'terminology', 'source'];
/** Minimum score at which a text of the record itself stays; the concept then gives only the code. */
const OWN_TEXT = 0.9;
/** Weight of a declared foreign key, and of a name alone. */
const DECLARED = 0.95;
const GUESSED = 0.85;

/**
 * Adds the elements from a record's concept: text, code and its system. `own`: elements found by other rules; a sure
 * text among them stays. `keyOf`: the key columns of a table.
 */
export function withConcept(
  kind: Kind,
  table: TableInfo,
  own: readonly ProposedElement[],
  names: Names,
  keyOf: (table: TableInfo) => readonly string[],
): readonly ProposedElement[] {
  const [, base] = kind.elements.map(({ path }) => TEXT_OF_CODE.exec(path)).find(match => match !== null) ?? [];
  if (base === undefined) return own;
  const [best] = names.tables
    .flatMap(one => conceptsIn(one, names, keyOf) ?? [])
    .flatMap(concepts => leadingTo(concepts, kind, table, names))
    .toSorted((a, b) => b.score - a.score);
  if (!best) return own;
  const { concepts, join, score, why } = best;
  const isWanted = kind.elements.some(({ path }) => path === `${base}.coding.code`);
  const coding = isWanted ? `${base}.coding` : `${base}.coding[concept]`;
  const made = (path: string, column: ColumnInfo, of: string): ProposedElement => {
    const one: Found = found(column, score, why);
    return { path, kind: of, ...one, join: [join] };
  };
  const isSure = own.some(one => one.path === `${base}.text` && one.score >= OWN_TEXT && one.join === undefined);
  const text = isSure ? [] : [made(`${base}.text`, concepts.name, 'text')];
  const codes = [
    made(`${coding}.code`, concepts.code, 'code'),
    made(`${coding}.system`, concepts.vocabulary, 'system'),
  ];
  const more = [...text, ...(own.some(({ path }) => path === `${coding}.code`) ? [] : codes)];
  return [...own.filter(({ path }) => !more.some(one => one.path === path)), ...more];
}

/** Returns the columns of a table of concepts; undefined for any other table. */
function conceptsIn(
  table: TableInfo,
  { wordsOf }: Names,
  keyOf: (table: TableInfo) => readonly string[],
): Concepts | undefined {
  const [key, ...others] = keyOf(table);
  if (key === undefined || others.length > 0 || !isIdentifier(key)) return undefined;
  const columns = [...table.columns.values()].filter(
    ({ name, denied, type }) => !denied && isIdentifier(name) && type?.kind === 'text' && !isSame(name, key),
  );
  if (columns.some(({ name }) => ['patient', 'birth'].some(word => wordsOf(name).has(word)))) return undefined;
  const having = (words: readonly string[], but: readonly string[] = []): ColumnInfo | undefined =>
    columns.find(({ name }) => {
      const own = wordsOf(name);
      return words.some(word => own.has(word)) && !but.some(word => own.has(word));
    });
  const vocabulary = having(VOCABULARIES);
  const code = having(['code'], VOCABULARIES);
  const name = having(NAMES, ['code', ...VOCABULARIES]);
  return code && name && vocabulary ? { table, key, code, name, vocabulary } : undefined;
}

interface Leading {
  readonly concepts: Concepts;
  readonly join: Step;
  readonly score: number;
  readonly why: string;
}

/** Finds the columns of a table that lead to its concepts and whose names say that the record is about them. */
function leadingTo(concepts: Concepts, kind: Kind, table: TableInfo, { wordsOf, stepsOf }: Names): readonly Leading[] {
  if (table === concepts.table) return [];
  const keyWords = new Set([...wordsOf(concepts.key), ...wordsOf(concepts.table.name), 'id', 'code', 'number']);
  const type = findColumn(concepts.table, concepts.key)?.type?.kind;
  return [...table.columns.values()].flatMap((column): readonly Leading[] => {
    if (column.denied || !isIdentifier(column.name) || column.type?.kind !== type) return [];
    const declared = stepsOf(table).find(
      step =>
        step.isDeclared && step.table === concepts.table && step.on.length === 1 && step.on[0]?.[1] === column.name,
    );
    // `condition_concept_id`: the subject, followed by the name of the key.
    const isNamed = column.name.toLowerCase().endsWith(`_${concepts.key.toLowerCase()}`);
    if (
      !declared &&
      (!isNamed || stepsOf(table).some(({ isDeclared, on }) => isDeclared && on[0]?.[1] === column.name))
    )
      return [];
    const words = new Set([...wordsOf(column.name)].filter(word => !keyWords.has(word)));
    const tableWords = wordsOf(table.name);
    const score =
      words.size > 0 && [...words].every(word => tableWords.has(word)) ? 1 : bestOf(kind.tables, words).score;
    if (score === 0) return [];
    const join: Step = declared ?? { table: concepts.table, on: [[concepts.key, column.name]], isDeclared: false };
    const way = declared ? 'a declared foreign key' : 'its name';
    return [
      {
        ...{ concepts, join, score: rounded(score * (declared ? DECLARED : GUESSED)) },
        why: `${column.name} leads to ${tableText(concepts.table)} by ${way}`,
      },
    ];
  });
}
