/**
 * Defines the forms of the files of a pack that are not mappings: access.yaml, ccds.yaml, NAME.guide.json, and checks
 * the versions of the legacy schema. In: documents. Out: zod schemas, or reports. src/access, src/ccda and src/coverage
 * check the meaning of the texts.
 */
import { z } from 'zod';
import type { Position } from '../../model.ts';
import type { Report } from '../problem.ts';
import { flag, text, texts } from './schema-rows.ts';
import { child, type ScalarTree, scalarsOf, type Tree } from './tree.ts';

/** What break-glass may open. */
export const OPENED = ['labels', 'patients'] as const;

const user = z.strictObject({
  patients: texts.describe(
    'searches on patients, any of which permits: `Patient?general-practitioner={user}`; or `all`. ' +
      '`{user}` is the user as a reference (Practitioner/7), `{id}` the logical id alone (7)',
  ),
  also: texts.optional().describe('types that belong to no patient, of which such a user sees everything'),
});

const label = z.strictObject({
  hide: texts.describe('labels of meta.security, with an alias of pack.yaml: v3-confidentiality#R'),
  'shown-to': z
    .strictObject({
      users: texts.optional().describe('types of users who may still see such resources: Patient'),
      purposes: texts.optional().describe('purposes of use for which they are shown: TREAT'),
    })
    .optional(),
});

const glass = z.strictObject({
  users: texts.describe(
    'searches on types of users, any of which permits the user whom it finds: ' +
      '`Practitioner?_has:PractitionerRole:practitioner:role=<code>`; with `{user}` and `{id}` as above',
  ),
  clients: texts.optional().describe('applications in which they may, by client id; `rest` is the REST interface'),
  opens: z
    .union([z.enum(OPENED), z.array(z.enum(OPENED)).min(1, 'expected one or more')])
    .describe('labels: what `labels` hides; patients: those whom `users` does not permit'),
});

/**
 * access.yaml as a zod schema: which user sees which patients. It has no macros. src/access checks its searches.
 * docs/access-rules.md
 */
export const accessSchema = z.strictObject({
  users: z
    .record(z.string(), user)
    .optional()
    .describe('by the type of resource that the user is: Practitioner, Patient, RelatedPerson …'),
  logins: z
    .record(z.string(), text)
    .optional()
    .describe('the person of a database login: staff: Practitioner?identifier=mk-login|{login}'),
  'break-glass': glass.optional().describe('who may see hidden data by giving a reason (header Break-Glass)'),
  labels: z.array(label).optional().describe('resources that are hidden, from all but some'),
});

/**
 * Returns ccds.yaml as a zod schema: what goes into documents. src/ccda checks its searches. `lists`: the resource type
 * of each list. docs/ccds-documents.md
 */
export function ccdsSchema(lists: Readonly<Record<string, { readonly type: string }>>) {
  const found = Object.entries(lists).map(([name, { type }]) => {
    return [name, texts.optional().describe(`searches on ${type}`)] as const;
  });
  return z.strictObject({
    mrn: texts.optional().describe('systems of the medical record numbers: aliases of pack.yaml, or URIs'),
    custodian: text.optional().describe('the organization that keeps the record: Organization?_id=main'),
    'listed-encounters': text.optional().describe('encounters that there are documents of, as a search'),
    lists: z
      .strictObject(Object.fromEntries(found))
      .optional()
      .describe('what goes into documents; a list without a search stays empty'),
  });
}

const searches = z.array(text);

/**
 * NAME.guide.json as a zod schema: what a guide requires of each profile, by the name of a group. src/coverage checks
 * its texts. docs/coverage.md
 */
export const guideSchema = z.record(
  z.string(),
  z.strictObject({
    type: text,
    profile: text,
    mustSupport: text,
    shall: searches.optional(),
    should: searches.optional(),
    revinclude: flag.optional(),
    certified: flag.optional(),
    optional: flag.optional(),
    uncertified: searches.optional(),
    slices: text.optional(),
    extensions: text.optional(),
    choices: text.optional(),
  }),
);

export type StoredGroup = z.infer<typeof guideSchema>[string];

export interface Versions {
  /** The version in use. */
  readonly schema: string | undefined;
  /** Its position, or where it would be written. */
  readonly at: Position;
  /** `schemas` of pack.yaml; empty without such a list. */
  readonly known: readonly ScalarTree[];
}

/**
 * Checks the versions of the legacy schema that `only:` documents name, because an unknown version would silently drop
 * documents. In: the documents, the pack's version and the versions of pack.yaml. Out: reports of versions outside
 * `schemas`. Without such a list it reports documents that no version in use picks.
 */
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
