/**
 * access.yaml as a zod schema: which user sees which patients. What its searches mean is checked by src/access.
 * docs/access-rules.md
 */
import { z } from 'zod';
import { text, texts } from './schema-rows.ts';

const OPENED = ['labels', 'patients'] as const;

const user = z.strictObject({
  patients: texts.describe(
    'searches on patients, any of which lets in: `Patient?general-practitioner={user}`; or `all`. ' +
      '`{user}` is the user as a reference (Practitioner/7), `{id}` the logical id alone (7)',
  ),
  also: texts.optional().describe('types that belong to no patient, of which such a user sees everything'),
});

const label = z.strictObject({
  hide: texts.describe('labels of meta.security, with an alias of pack.yaml: v3-confidentiality#R'),
  'shown-to': z
    .strictObject({
      users: texts.optional().describe('types of users who see such resources all the same: Patient'),
      purposes: texts.optional().describe('purposes of use for which they are seen: TREAT'),
    })
    .optional(),
});

const glass = z.strictObject({
  users: texts.describe(
    'searches on types of users, any of which lets in the user whom it finds: ' +
      '`Practitioner?_has:PractitionerRole:practitioner:role=<code>`; with `{user}` and `{id}` as above',
  ),
  clients: texts.optional().describe('applications in which they may, by client id; `rest` is the REST interface'),
  opens: z
    .union([z.enum(OPENED), z.array(z.enum(OPENED)).min(1, 'expected one or more')])
    .describe('labels: what `labels` hides; patients: those whom `users` does not let in'),
});

/** access.yaml, macros there are none. */
export const accessSchema = z.strictObject({
  users: z
    .record(z.string(), user)
    .optional()
    .describe('by the type of resource that the user is: Practitioner, Patient, RelatedPerson …'),
  logins: z
    .record(z.string(), text)
    .optional()
    .describe('whom a login of the database belongs to: staff: Practitioner?identifier=mk-login|{login}'),
  'break-glass': glass.optional().describe('who sees what is hidden by giving a reason (header Break-Glass)'),
  labels: z.array(label).optional().describe('resources that are hidden, from all but some'),
});
