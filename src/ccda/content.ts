/**
 * Reads `ccds.yaml` of a pack: the FHIR search behind each list of the documents, the encounters that are listed, and
 * the custodian. In: the file and the searches that the pack offers. Out: the searches, and each problem with its
 * place. Everything else of C-CDA (codes, templates) is code and not configuration. docs/mapping-language.md,
 * "ccds.yaml"
 */

import type { PackErrorKind } from '../errors/pack-errors.ts';
import { createReport, type Detail, type Problem } from '../mapping/load/problem.ts';
import type { PackFile } from '../mapping/load/read/files.ts';
import { ccdsSchema } from '../mapping/load/read/other-schemas.ts';
import { readYaml } from '../mapping/load/read/read.ts';
import { checkShape } from '../mapping/load/read/shape.ts';
import { child, type Entry, entriesOf, type ScalarTree, scalarsOf, type Tree } from '../mapping/load/read/tree.ts';
import type { Pack, Position } from '../mapping/model.ts';
import { rootOf } from './code-systems.ts';
import { rootedSystem } from './ids.ts';
import { LISTS, type ListName } from './lists.ts';

export interface Search {
  readonly type: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** A search with its position in the file. */
interface WrittenSearch extends Search {
  readonly at: Position;
}

export interface Content {
  /** URIs of the identifier systems of medical record numbers. */
  readonly mrn: readonly string[];
  /** The organization that keeps the record. */
  readonly custodian: WrittenSearch | undefined;
  /** Encounters for which documents exist. */
  readonly listed: Search | undefined;
  /** A list without a search stays empty. */
  readonly lists: ReadonlyMap<ListName, readonly Search[]>;
}

/** Returns the problems of a search. */
export type CheckSearch = (search: Search) => readonly Pick<Problem, 'severity' | 'message'>[];

export interface LoadedContent {
  readonly content: Content | undefined;
  readonly problems: readonly Problem[];
}

/** The keys of ccds.yaml as a schema. */
export const contentSchema = ccdsSchema(LISTS);

/** The type that each of the single searches finds. */
export const SEARCHED = { custodian: 'Organization', 'listed-encounters': 'Encounter' } as const;

export function readContent(file: PackFile, pack: Pack, check: CheckSearch): LoadedContent {
  const report = createReport();
  const [document, ...more] = readYaml(file.path, file.text, report);
  for (const other of more) report.error('written-twice', other.at, 'a second document', { expected: 'one' });
  if (document) checkShape(document, contentSchema, report);
  const content: Content = {
    mrn: scalarsOf(child(document, 'mrn')).flatMap(recordNumbers),
    custodian: one('custodian'),
    listed: one('listed-encounters'),
    lists: new Map(entriesOf(child(document, 'lists')).flatMap(entry => list(entry))),
  };
  const problems = report.problems();
  return { content: problems.some(({ severity }) => severity === 'error') ? undefined : content, problems };

  function problem(kind: PackErrorKind, tree: Tree | undefined, message: string, detail: Detail): void {
    report.error(kind, tree?.at ?? { file: file.path, line: 1, column: 1 }, message, detail);
  }

  /** Returns the URI of a system of record numbers. Warns if no mapping of Patient can be searched by them. */
  function recordNumbers(written: ScalarTree): readonly string[] {
    const found = written.text;
    const system = pack.systems[found] ?? (found.includes(':') ? found : undefined);
    if (system === undefined) {
      problem('unknown-name', written, 'unknown system', { found, among: Object.keys(pack.systems) });
    } else if (check({ type: 'Patient', parameters: [['identifier', `${system}|`]] }).length > 0) {
      const message = 'no mapping of Patient gives a record number of this system that can be searched';
      report.warning('limited-interface', written.at, message, { found });
    }
    if (rootOf(rootedSystem(system, pack.oid)) === undefined && system !== undefined) {
      report.warning('limited-interface', written.at, 'documents omit the record number: its system is a URL', {
        found: system,
        expected: '`oid` in pack.yaml, below which systems get an OID, or a system `urn:oid:…`',
      });
    }
    return system === undefined ? [] : [system];
  }

  function one(key: keyof typeof SEARCHED): WrittenSearch | undefined {
    const tree = child(document, key);
    const scalars = tree === undefined ? [] : scalarsOf(tree);
    const [first] = scalars.map(text => ({ at: text.at, found: search(text, SEARCHED[key]) }));
    return first?.found && { ...first.found, at: first.at };
  }

  function list({ key, value }: Entry): readonly (readonly [ListName, readonly Search[]])[] {
    if (!isListName(key)) return [];
    const searches = scalarsOf(value).map(text => search(text, LISTS[key].type));
    return [[key, searches.filter(found => found !== undefined)]];
  }

  function search(written: ScalarTree, type: string): Search | undefined {
    const found = parseSearchText(written.text);
    if (found?.type !== type) {
      problem('wrong-search', written, 'not a search of the right type', {
        found: written.text,
        expected: `${type}?…`,
      });
      return undefined;
    }
    for (const { severity, message } of check(found)) report[severity]('wrong-search', written.at, message);
    return found;
  }
}

function isListName(key: string): key is ListName {
  return Object.hasOwn(LISTS, key);
}

/** Parses `Type?name=value&name=value`; `&` and `%` in a value are percent-encoded. */
function parseSearchText(text: string): Search | undefined {
  const match = /^([A-Z][A-Za-z]+)(?:\?(.*))?$/.exec(text.trim());
  if (!match) return undefined;
  return { type: match[1] ?? '', parameters: [...new URLSearchParams(match[2] ?? '')] };
}
