/**
 * Proposes tables for a pack that is begun. In: the catalog of a database. Out: for each kind of record (hints.json) the tables that may
 * hold it, each with a score, the columns that may make its elements, and the reasons. Names, types and keys are looked at; no row is.
 * A person decides: packFiles writes proposals as comments alone.
 */
import { readFileSync } from 'node:fs';
import type { Catalog, ColumnInfo, TableInfo } from '../sql/catalog.ts';
import { tableText } from '../sql/catalog.ts';
import { isIdentifier } from '../sql/identifier.ts';

interface Hints {
  /** A word of a name to the words that it stands for. */
  readonly abbreviations: Readonly<Record<string, string>>;
  readonly candidates: readonly Kind[];
}

interface Kind {
  readonly name: string;
  readonly resource: string;
  /** Names of tables, in words. */
  readonly tables: readonly string[];
  readonly elements: readonly {
    readonly path: string;
    readonly columns: readonly string[];
    readonly kind: string;
    readonly weight: number;
  }[];
}

interface ProposedElement {
  readonly path: string;
  readonly kind: string;
  readonly column: string;
  readonly declared: string;
  /** How well the name fits, from 0 to 1. */
  readonly score: number;
  /** The words that the name was taken for. */
  readonly words: string;
}

export interface Proposal {
  /** `patients`: the name of the mapping that is proposed. */
  readonly kind: string;
  readonly resource: string;
  readonly table: string;
  /** From 0 to 1, two decimals. */
  readonly score: number;
  readonly reasons: readonly string[];
  readonly key: readonly string[];
  readonly elements: readonly ProposedElement[];
}

/** Tables that score less are no candidates. */
const LEAST = 0.4;
/** Candidates of one kind. */
const MOST = 3;
/** Of the score: the name of the table; the columns have the rest. */
const NAME_SHARE = 0.4;

const hints: Hints = JSON.parse(readFileSync(new URL('./hints.json', import.meta.url), 'utf8'));

/** Which columns a kind of element takes. `patient`: a key of patients. */
const FITS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  date: ['date', 'datetime', 'text', 'integer'],
  code: ['text', 'integer', 'bit'],
};

/** Candidates of each kind, best first. */
export function proposalsFor(catalog: Catalog): readonly Proposal[] {
  const words = new Map<string, ReadonlySet<string>>();
  const wordsOf = (name: string): ReadonlySet<string> => {
    const known = words.get(name) ?? wordsIn(name);
    words.set(name, known);
    return known;
  };
  const tables = [...new Set(catalog.tables.values())].filter(({ name }) => isIdentifier(name));
  return hints.candidates.flatMap(kind =>
    tables
      .map(table => proposalOf(kind, table, wordsOf))
      .filter(({ score, elements }) => score >= LEAST && elements.length > 0)
      .toSorted((a, b) => b.score - a.score || (a.table < b.table ? -1 : 1))
      .slice(0, MOST),
  );
}

type WordsOf = (name: string) => ReadonlySet<string>;

function proposalOf(kind: Kind, table: TableInfo, wordsOf: WordsOf): Proposal {
  const named = bestOf(kind.tables, wordsOf(table.name));
  const taken = new Set<string>();
  const elements: ProposedElement[] = [];
  for (const { path, columns, kind: type } of kind.elements) {
    const [best] = [...table.columns.values()]
      .filter(column => !taken.has(column.name) && isIdentifier(column.name) && fits(column, type))
      .map(column => ({ column, ...bestOf(columns, wordsOf(column.name)) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score);
    if (best === undefined) continue;
    taken.add(best.column.name);
    const { name: column, declared } = best.column;
    elements.push({ path, kind: type, column, declared, score: rounded(best.score), words: best.words });
  }
  const scores = new Map(elements.map(({ path, score }) => [path, score]));
  const whole = kind.elements.reduce((sum, { weight }) => sum + weight, 0);
  const had = kind.elements.reduce((sum, { path, weight }) => sum + weight * (scores.get(path) ?? 0), 0);
  const score = NAME_SHARE * named.score + (1 - NAME_SHARE) * (had / whole);
  const missing = kind.elements.filter(({ path }) => !scores.has(path)).map(({ path }) => path);
  return {
    ...{ kind: kind.name, resource: kind.resource, table: tableText(table), elements },
    score: rounded(table.primaryKey.length > 0 ? score : 0.8 * score),
    key: table.primaryKey,
    reasons: [
      named.score > 0 ? `the name reads as "${named.words}"` : 'the name says nothing',
      ...(table.primaryKey.length > 0 ? [] : ['the table declares no primary key']),
      ...(missing.length > 0 ? [`no column found for ${missing.join(', ')}`] : []),
    ],
  };
}

function fits({ type, denied }: ColumnInfo, kind: string): boolean {
  if (denied || type === undefined) return false;
  return FITS[kind]?.includes(type.kind) ?? true;
}

/** How well a name fits the best of several texts: all words of the text are there, and few others. */
function bestOf(
  texts: readonly string[],
  words: ReadonlySet<string>,
): { readonly score: number; readonly words: string } {
  let best = { score: 0, words: '' };
  for (const text of texts) {
    const wanted = text.split(' ');
    if (!wanted.every(word => words.has(word))) continue;
    const score = 0.6 + 0.4 * Math.min(1, wanted.length / words.size);
    if (score > best.score) best = { score, words: text };
  }
  return best;
}

/** `LST_NM`, `lastName`: last, name. */
function wordsIn(name: string): ReadonlySet<string> {
  const parts = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(part => part !== '');
  const expanded = parts.map(part => (Object.hasOwn(hints.abbreviations, part) ? hints.abbreviations[part] : part));
  return new Set(expanded.flatMap(part => part?.split(' ') ?? []));
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}

export interface NewPack {
  readonly name: string;
  /** Undefined: not known. */
  readonly zone: string | undefined;
}

/** The files of the pack that is begun, by name. All but pack.yaml are comments. */
export function packFiles(proposals: readonly Proposal[], { name, zone }: NewPack): ReadonlyMap<string, string> {
  const files = new Map([['pack.yaml', packText(name, zone)]]);
  for (const [kind, own] of Map.groupBy(proposals, one => one.kind)) {
    files.set(`${kind}.yaml`, `${own.flatMap(proposalLines).join('\n')}\n`);
  }
  return files;
}

function packText(name: string, zone: string | undefined): string {
  return [
    ...[`name: ${JSON.stringify(name)}`, `title: ${JSON.stringify(name)}`],
    ...(zone === undefined ? ['# The zone is not known: write the IANA zone of the local times in the database.'] : []),
    `zone: ${JSON.stringify(zone ?? 'UTC')}`,
    '# Columns that are never read, such as passwords:',
    '# deny: ["*.PASSWORD", "*.SSN"]',
    '',
  ].join('\n');
}

/** `## ` before what explains, so that it stays a comment when the `#` before the mapping is taken away. */
function proposalLines(
  { kind, resource, table, score, reasons, key, elements }: Proposal,
  index: number,
): readonly string[] {
  return [
    ...(index > 0 ? ['#', '# ---'] : []),
    `## Candidate ${index + 1} for ${resource}, score ${score.toFixed(2)}: table ${table}`,
    ...reasons.map(reason => `##   ${reason}`),
    ...[`# mapping: ${index === 0 ? kind : `${kind}-${index + 1}`}`, `# resource: ${resource}`],
    `# source: { table: ${table}, as: t, key: [${key.join(', ')}] }`,
    '## Columns that may make elements; docs/mapping-language.md says how each is written:',
    ...elements.map(
      one =>
        `##   ${one.path}: ${one.column} (${one.declared}), score ${one.score.toFixed(2)}: it reads as "${one.words}"${adviceOn(one)}`,
    ),
  ];
}

function adviceOn({ kind }: ProposedElement): string {
  if (kind === 'code') return '; wants a code map';
  return kind === 'patient' ? '; wants a ref to patients' : '';
}
