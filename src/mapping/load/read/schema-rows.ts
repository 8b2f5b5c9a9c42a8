/**
 * Defines the zod schemas of the mapping language for rows: conditions, joins, child rows, scalars. schema.ts has those
 * for elements. docs/mapping-language.md
 */
import { z } from 'zod';

/** Text. Every scalar of a pack is read as text; an editor may read `01`, `1.10` or `true` as another type. */
export const text = z.string().meta({ id: 'text' });
export const texts = z.union([text, z.array(text)]).meta({ id: 'texts' });
export const flag = z.enum(['true', 'false']).meta({ id: 'flag' });
export const anything: z.ZodType = z
  .lazy(() => z.union([text, z.array(anything), z.record(z.string(), anything)]))
  .meta({
    id: 'anything',
  });

const codecOptions = z.record(z.string(), anything);
export const via = z
  .union([text, codecOptions, z.array(z.union([text, codecOptions]))])
  .meta({ id: 'via', description: 'a codec, {codec: options}, or text steps and then one codec' });

const test: z.ZodType = z
  .lazy(() =>
    z.union([
      text,
      z.array(text),
      z.strictObject({
        not: test.optional().describe('the exact complement: true for NULL'),
        gt: text.optional().describe('a literal, or another column of numbers or dates'),
        ge: text.optional().describe('a literal, or another column of numbers or dates'),
        lt: text.optional().describe('a literal, or another column of numbers or dates'),
        le: text.optional().describe('a literal, or another column of numbers or dates'),
        before: text.optional().describe('`now`, a literal, or another column'),
        after: text.optional().describe('`now`, a literal, or another column'),
        via: via.optional(),
        'in-list': text.optional().describe('a list of pack.yaml'),
        matches: text.optional().describe('a pattern with * ? [0-9] [^…]'),
        'same-as': text.optional().describe('another column'),
      }),
    ]),
  )
  .meta({ id: 'test', description: 'a literal, a list of literals, or operators' });

export const joinColumns = z
  .record(z.string(), text)
  .meta({ id: 'on', description: 'column of the joined table: column in scope' });

export const condition: z.ZodType = z
  .lazy(() =>
    z
      .object({
        any: z.array(condition).optional(),
        all: z.array(condition).optional(),
        none: z.union([condition, z.array(condition)]).optional(),
        present: texts.optional().describe('columns that are neither NULL nor blank'),
        absent: texts.optional().describe('columns that are NULL or blank'),
        exists: z.union([existsScope, z.array(existsScope)]).optional(),
        missing: z.union([existsScope, z.array(existsScope)]).optional(),
      })
      .catchall(test),
  )
  .meta({ id: 'condition', description: 'column: test; all must hold' });

const lookupColumns = z
  .record(z.string(), z.union([text, z.strictObject({ from: text, via })]))
  .meta({ id: 'lookupOn', description: 'column of the joined table: column in scope, or text steps on one' });

const lookup = z
  .strictObject({
    table: text,
    on: lookupColumns.optional().describe('omitted if `where` alone selects the row'),
    where: condition.optional(),
    fold: flag.optional().describe('texts of `on` are joined without case'),
    required: flag.optional().describe('rows without it are excluded'),
    pick: texts.optional().describe('of several rows the first in this order; -COL descending'),
  })
  .meta({ id: 'lookup' });

export const lookups = z.record(z.string(), lookup);

const existsScope = z
  .strictObject({
    table: text,
    as: text.optional(),
    on: joinColumns,
    where: condition.optional(),
    lookup: lookups.optional(),
  })
  .meta({ id: 'existsScope' });

export const eachRows = z.strictObject({
  table: text,
  as: text.optional(),
  on: joinColumns,
  where: condition.optional(),
  lookup: lookups.optional(),
  order: texts.optional(),
});

export const eachPieces = z.strictObject({
  split: text.describe('a column whose pieces are the rows'),
  by: text.describe('one character'),
  parse: text.optional().describe('"{sys}:{code}" names parts of a piece'),
  as: text.optional(),
  lookup: lookups.optional(),
});
