/**
 * Checks the versions of the legacy schema that `only:` documents name. In: the documents, the pack's version and the
 * versions of pack.yaml. Out: reports: an unknown version would silently drop documents.
 */
import type { Position } from '../../model.ts';
import type { Report } from '../problem.ts';
import { child, type ScalarTree, scalarsOf, type Tree } from './tree.ts';

export interface Versions {
  /** The version that counts. */
  readonly schema: string | undefined;
  /** Where it is written, or where it would be. */
  readonly at: Position;
  /** `schemas` of pack.yaml; empty where it lists none. */
  readonly known: readonly ScalarTree[];
}

/** Reports versions outside `schemas`; without such a list, documents that no version in use will ever pick. */
export function checkVersions(documents: readonly Tree[], { schema, at, known }: Versions, report: Report): void {
  const named = documents.map(document => scalarsOf(child(child(document, 'only'), 'schema')));
  if (known.length > 0) {
    const among = known.map(version => version.text);
    const wrong = (found: string, place: Position): void =>
      report.error('schema-version', place, 'version of the schema that `schemas` does not list', {
        expected: among.join(' or '),
        found,
        among,
      });
    if (schema !== undefined && !among.includes(schema)) wrong(schema, at);
    for (const version of named.flat()) if (!among.includes(version.text)) wrong(version.text, version.at);
    return;
  }
  const versions = [...new Set(named.flat().map(version => version.text))].sort();
  if (versions.length === 0 || (schema !== undefined && versions.includes(schema))) return;
  const dropped = named.filter(of => of.length > 0).length;
  const documentsDropped = dropped === 1 ? '1 document with `only` is' : `${dropped} documents with \`only\` are`;
  const what = schema === undefined ? 'pack.yaml names no `schema`' : 'no `only` names this version of the schema';
  report.warning('schema-version', at, `${what}: ${documentsDropped} left out`, {
    expected: `${versions.join(' or ')}, or \`schemas\` with all versions`,
    ...(schema === undefined ? {} : { found: schema, among: versions }),
  });
}
