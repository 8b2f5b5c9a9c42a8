/**
 * Makes JSON Schemas for editors from the zod schemas of the language. Out: one schema per kind of file. Macros are
 * allowed everywhere: `$name` for any node, `insert` and arguments in any map.
 * https://json-schema.org/draft-07
 */
import { z } from 'zod';
import { resourceTypes } from '../../../r4/definitions.ts';
import { CODECS, TEXT_STEPS } from '../../codecs/table.ts';
import { accessSchema } from './other-schemas.ts';
import { codesSchema, mappingFileSchema, packSchema } from './schema.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const SCALARS = ['string', 'number', 'boolean', 'null'] as const;
const MACRO = '^\\$[A-Za-z_][A-Za-z0-9_]*$';

/**
 * Returns the texts of `mapping.json`, `codes.json`, `pack.json` and `access.json`. The first line of each file of a
 * pack refers to one of them.
 */
export function editorSchemas(): Readonly<Record<string, string>> {
  return {
    'mapping.json': print(mappingFileSchema, 'A mapping of tables to a FHIR resource'),
    'codes.json': print(codesSchema, 'Code maps: raw values to codes'),
    'pack.json': print(packSchema, 'A pack of mappings'),
    'access.json': print(accessSchema, 'Who may see what of a pack'),
  };
}

function print(schema: z.ZodType, title: string): string {
  const json = schemaOf(schema);
  // A pack that extends another inherits the required keys.
  if (json.properties?.['extends']) json.anyOf?.push({ required: ['extends'] });
  const resource = json.properties?.['resource'];
  if (typeof resource === 'object') Object.assign(resource, { examples: resourceTypes() });
  const definitions = json['definitions'] as Readonly<Record<string, JsonSchema>> | undefined;
  const named = definitions?.['via'] ? { definitions: { ...definitions, ...codecDefinitions() } } : {};
  return `${JSON.stringify({ ...json, ...named, title }, undefined, 2)}\n`;
}

function schemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    // The newest draft that common YAML editors read.
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      widen(zodSchema._zod.def.type, jsonSchema);
      if (path.length > 0) orMacro(jsonSchema);
    },
  });
}

/**
 * Returns the names of codecs that an editor completes, with options that it checks. Other names are allowed, because
 * they may be code maps.
 */
function codecDefinitions(): Readonly<Record<'codec' | 'via', JsonSchema>> {
  const entries = [...Object.entries(CODECS), ...Object.entries(TEXT_STEPS)];
  const names = entries.flatMap(([name, entry]) => {
    const facets = 'facets' in entry ? entry.facets : [];
    return facets.length === 0 ? [name] : facets.map(facet => `${name}.${facet}`);
  });
  const properties = Object.fromEntries(
    entries.flatMap(([name, { options }]) => {
      const schema = optionsSchema(options);
      return schema === undefined ? [] : [[name, schema] as const];
    }),
  );
  const one = { $ref: '#/definitions/codec' };
  return {
    codec: { anyOf: [{ enum: names }, { $ref: '#/definitions/text' }, { type: 'object', properties }] },
    via: { anyOf: [one, { type: 'array', items: one }], description: 'a codec, or text steps and then one codec' },
  };
}

/** Returns the schema of a codec's options; undefined if it has none. */
function optionsSchema(options: z.ZodType): JsonSchema | undefined {
  const { $schema: _, ...schema } = schemaOf(options);
  const given = schema.anyOf?.filter(one => typeof one === 'object' && Object.keys(one).length > 0) ?? [schema];
  const [only] = given;
  if (given.length === 1 && typeof only === 'object') return Object.keys(only).length === 0 ? undefined : only;
  return { ...schema, anyOf: given };
}

/** Allows scalars as an editor reads them, and macros in maps and lists. */
function widen(kind: string, schema: JsonSchema): void {
  if (schema.type === 'string') {
    Object.assign(schema, { type: [...SCALARS] });
    if (kind === 'enum') extendEnum(schema);
    return;
  }
  if (kind === 'record') delete schema.propertyNames;
  if (schema.type === 'object' && schema.additionalProperties === false) {
    const { required } = schema;
    schema.properties = { insert: { type: 'string', description: 'a fragment of pack.yaml' }, ...schema.properties };
    schema.patternProperties = { [MACRO]: {} };
    if (required) {
      delete schema.required;
      schema.anyOf = [{ required }, { required: ['insert'] }];
    }
  }
}

/** Allows a macro's argument in place of a whole map or list. */
function orMacro(schema: JsonSchema): void {
  if (schema.type !== 'object' && schema.type !== 'array') return;
  const { description, ...written } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, { ...(description === undefined ? {} : { description }) });
  schema.anyOf = [written, { type: 'string', pattern: MACRO }];
}

/** Allows booleans, because an editor reads unquoted `true` as one, and a macro's argument in place of a word. */
function extendEnum(schema: JsonSchema): void {
  const words = schema.enum ?? [];
  const booleans = words.flatMap(word => (word === 'true' ? [true] : word === 'false' ? [false] : []));
  delete schema.enum;
  schema.anyOf = [{ enum: [...words, ...booleans] }, { type: 'string', pattern: MACRO }];
}
