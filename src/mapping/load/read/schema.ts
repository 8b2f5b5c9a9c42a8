/**
 * Defines the mapping language as zod schemas: which keys are allowed where. In: plain data with text scalars and
 * expanded macros. Out: the checked shape. json-schema.ts derives completion and checks for editors. Later stages check
 * what names mean. docs/mapping-language.md
 */
import { z } from 'zod';
import { brandSchema } from '../pack/brand.ts';
import {
  anything,
  condition,
  eachPieces,
  eachRows,
  flag,
  joinColumns,
  lookups,
  text,
  texts,
  via,
} from './schema-rows.ts';

const stamp = z.union([
  text,
  z.array(text).min(1).describe('columns of one type; the latest counts'),
  z.strictObject({
    from: texts,
    via: via.optional(),
    none: texts.optional().describe('raw values that mean "no value"'),
    if: condition.optional(),
  }),
]);

/** Keys that make a map another node than an object. An element of the same name goes under `elements:`. */
export const NODE_DIRECTIVES = ['from', 'const', 'each', 'ref', 'join', 'rows-as-text', 'template', 'sql'] as const;
export const NODE_MODIFIERS = ['via', 'none', 'else', 'on', 'exists', 'item', 'with', 'as', 'type'] as const;

const node: z.ZodType = z
  .lazy(() =>
    z.union([
      text,
      z.array(node),
      z.strictObject({
        from: texts,
        via: via.optional(),
        none: texts.optional().describe('raw values that mean "no value"'),
        else: node.optional(),
        if: condition.optional(),
      }),
      z.strictObject({ const: anything, if: condition.optional() }),
      z.strictObject({
        each: z.union([eachRows, eachPieces]),
        elements: elements.optional(),
        needs: texts.optional(),
        item: node.optional(),
        if: condition.optional(),
      }),
      z.strictObject({
        ref: texts,
        on: joinColumns,
        exists: flag.optional(),
        as: z.enum(['url', 'reference']).optional(),
        display: node.optional(),
        identifier: node.optional(),
        type: node.optional(),
        if: condition.optional(),
      }),
      z.strictObject({ join: z.array(node), with: text.optional(), if: condition.optional() }),
      z.strictObject({
        'rows-as-text': eachRows.describe('rows whose texts are one'),
        from: text,
        with: text.optional().describe('what stands between two rows; a line end if omitted'),
        via: via.optional(),
        if: condition.optional(),
      }),
      z.strictObject({ template: text, if: condition.optional() }),
      z.strictObject({ sql: text, type: text, via: via.optional(), if: condition.optional() }),
      z
        .object({
          if: condition.optional(),
          needs: texts.optional(),
          elements: elements.optional(),
          first: z.array(node).optional(),
          ...never([...NODE_DIRECTIVES, ...NODE_MODIFIERS.filter(name => name !== 'type')]),
        })
        .catchall(node),
    ]),
  )
  .meta({ id: 'node', description: 'constant, binding, list, reference or map of elements' });

const elements: z.ZodType = z
  .lazy(() => z.object({ first: z.union([z.array(node), node]).optional() }).catchall(node))
  .meta({ id: 'elements', description: 'in the shape of FHIR' });

function never(names: readonly string[]): Record<string, z.ZodOptional<z.ZodNever>> {
  return Object.fromEntries(names.map(name => [name, z.never().optional()]));
}

const id = texts.describe('"{COL}", "x-{COL|uuid}"; a list: the first whose columns are present');
const profile = z.union([text, z.array(z.union([text, z.record(z.string(), condition)]))]);

const source = z
  .strictObject({
    table: text,
    as: text.optional(),
    key: texts.describe('unique under `where`; pages are ordered by it'),
    where: condition.optional(),
    'one-per': texts.optional(),
    changed: stamp.optional().describe('meta.lastUpdated, _lastUpdated, _since'),
    deleted: condition.optional().describe('deleted records: never served, and named as deleted in exports'),
    'deleted-at': z
      .lazy(() => node)
      .optional()
      .describe('time of deletion, if not in `changed`'),
    lookup: lookups.optional(),
  })
  .meta({ id: 'source' });

const compartment = z
  .strictObject({ none: text.describe('why the resources belong to no patient') })
  .describe('the patient of the resources, if neither type nor references determine it');

/** A mapping with all macros expanded. */
export const mappingSchema = z.strictObject({
  mapping: text.describe('unique in the pack'),
  resource: text.describe('a FHIR resource type'),
  profile: profile.optional(),
  source,
  id,
  number: z
    .union([text, z.strictObject({ from: text })])
    .optional()
    .describe('a whole number: identifies a patient or an encounter in the REST interface'),
  needs: texts.optional().describe('rows without these elements are not served'),
  compartment: compartment.optional(),
  elements,
});

const macroArguments = { with: z.array(text).optional(), rows: z.array(z.array(anything)).optional() };

const variant = z.strictObject({
  ...macroArguments,
  variant: text,
  resource: text.optional(),
  id: id.optional(),
  profile: profile.optional(),
  needs: texts.optional(),
  compartment: compartment.optional(),
  elements: elements.optional(),
});

/** The parts of a mapping document that macros consume. */
export const macroSchema = z.looseObject({
  mapping: text,
  ...macroArguments,
  variants: z.array(z.looseObject({ ...macroArguments, variant: text })).optional(),
  only: z.strictObject({ schema: texts }).optional(),
  patch: z.record(z.string(), anything).optional(),
});

/** A mapping document as written, before macros. The JSON Schema of mapping files is made from it. */
export const mappingFileSchema = mappingSchema.partial().extend({
  mapping: text,
  ...macroArguments,
  variants: z.array(variant).optional(),
  only: z.strictObject({ schema: texts }).optional(),
  patch: z.record(z.string(), anything).optional(),
});

const elseRule = z.union([text, z.strictObject({ system: text })]);
const outcomes = { blank: text.optional(), else: elseRule.optional(), fold: flag.optional() };

/** codes.yaml: name of the code map → where its rows are. */
export const codesSchema = z.record(
  z.string(),
  z.union([
    z.strictObject({ system: text.optional(), rows: z.record(z.string(), text).optional(), ...outcomes }),
    z.strictObject({
      table: text,
      where: condition.optional(),
      key: texts,
      code: text,
      display: text.optional(),
      system: z.union([text, z.strictObject({ from: text, via: via.optional() })]).optional(),
      pick: texts.optional(),
      ...outcomes,
    }),
  ]),
);

export const packSchema = z.strictObject({
  name: text,
  title: text,
  extends: text.optional().describe('the folder of a pack that this one extends, beside or below it: ../name'),
  schema: text.optional().describe('picks `only:` documents'),
  schemas: z.array(text).optional().describe('all versions that `schema` and `only:` may name'),
  zone: text.describe('IANA zone of the local times in the database'),
  publisher: text.optional(),
  brand: brandSchema.optional().describe('how apps present the hospital'),
  oid: text
    .optional()
    .describe('of the organization: documents name systems of identifiers that are addresses below it'),
  systems: z.record(z.string(), text).optional(),
  deny: z.array(text).optional().describe('columns that are never read: table.COLUMN, *.COLUMN'),
  absent: z
    .strictObject({
      text: z.array(text).optional(),
      number: z.array(text).optional(),
      date: z.array(text).optional(),
      columns: z.record(z.string(), z.array(text)).optional(),
    })
    .optional()
    .describe('raw values that mean "no value" in bindings, never in keys'),
  lists: z.record(z.string(), z.array(text)).optional(),
  words: z
    .record(z.string(), z.strictObject({ table: text, on: joinColumns, word: text, columns: texts }))
    .optional()
    .describe('TABLE → the table with the words of some of its columns, used by searches by words'),
  hierarchies: z.record(z.string(), text).optional().describe('CSV files parent,code of code systems'),
  fragments: z.record(z.string(), anything).optional(),
});

const testRow = z.record(z.string(), text);

/** A test beside the mappings: a document of `*.test.yaml`. */
export const testSchema = z.strictObject({
  mapping: text,
  rows: z.record(z.string(), z.union([testRow, z.array(testRow)])).optional(),
  resource: z.record(z.string(), anything).optional(),
  matches: texts.optional(),
  misses: texts.optional(),
});
