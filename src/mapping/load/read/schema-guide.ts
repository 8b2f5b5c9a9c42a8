/**
 * NAME.guide.json as a zod schema: what a guide requires of each profile. What its texts mean is checked by
 * src/coverage. docs/coverage.md
 */
import { z } from 'zod';
import { flag, text } from './schema-rows.ts';

const searches = z.array(text);

/** Groups by name. */
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
