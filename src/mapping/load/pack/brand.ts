/**
 * Defines `brand:` of pack.yaml: how apps show the hospital to people who look for their record. Out: the zod schema.
 * src/smart/brands.ts makes the User-access Brand Bundle from it.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/brands.html
 */
import { z } from 'zod';

/** Categories that apps filter brands by. */
export const BRAND_CATEGORIES = [
  'clinical',
  'lab',
  'imaging',
  'pharmacy',
  'insurance',
  'network',
  'aggregator',
] as const;

const words = z.string().regex(/\S/, 'empty');

const webPage = z.string().regex(/^https:\/\/[^\s/?#]+\S*$/, 'not a URL that begins with https://');

/** A URL of a picture; `data:` puts the picture into the Bundle itself. */
const picture = z
  .string()
  .regex(/^(?:https:\/\/[^\s/?#]+|data:image\/)\S*$/, 'neither an https:// address nor data:image/');

export const brandSchema = z.strictObject({
  name: words.optional().describe('as people know the hospital; otherwise `publisher`, or else `title`'),
  website: webPage.describe('for the public'),
  alias: z
    .union([words, z.array(words)])
    .optional()
    .describe('other names and former names'),
  identifiers: z
    .array(z.strictObject({ system: words, value: words }))
    .min(1)
    .optional()
    .describe('the first identifies the hospital to apps; otherwise the URL of the website'),
  categories: z.array(z.enum(BRAND_CATEGORIES)).optional(),
  logo: picture.optional(),
  'logo-license': webPage.optional(),
  addresses: z
    .array(
      z
        .strictObject({
          line: z.array(words).min(1).optional(),
          city: words.optional(),
          state: words.optional(),
          zip: words.optional(),
          country: words.optional(),
        })
        .refine(address => Object.keys(address).length > 0, 'an address without a part'),
    )
    .optional(),
  portals: z
    .array(
      z.strictObject({
        name: words.optional(),
        description: words.optional().describe('who may use it, for people'),
        url: webPage.optional(),
        logo: picture.optional(),
        'logo-license': webPage.optional(),
      }),
    )
    .optional()
    .describe('where patients manage their accounts'),
  developers: webPage.optional().describe('where makers of apps learn how to register; otherwise `website`'),
});

export type Brand = z.output<typeof brandSchema>;
