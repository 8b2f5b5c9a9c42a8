/**
 * JSON Schemas for editors, from the zod schemas of the language. In: nothing. Out: one schema per kind of file, by name.
 * What macros add is put in everywhere: `$name` may stand for any node, `insert` and arguments in any map.
 * https://json-schema.org/draft-07
 */
import { z } from 'zod';
import { resourceTypes } from '../../r4/definitions.ts';
import { CODECS, TEXT_STEPS } from '../codecs/table.ts';
import { codesSchema, mappingFileSchema, packSchema } from './schema.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const SCALARS = ['string', 'number', 'boolean', 'null'] as const;
const MACRO = '^\\$[A-Za-z_][A-Za-z0-9_]*$';

/** Text of `mapping.json`, `codes.json` and `pack.json`, which the first line of each file of a pack refers to. */
export function editorSchemas(): Readonly<Record<string, string>> {
  return {
    'mapping.json': print(mappingFileSchema, 'A mapping of tables to a FHIR resource'),
    'codes.json': print(codesSchema, 'Code maps: raw values to codes'),
    'pack.json': print(packSchema, 'A pack of mappings'),
  };
}

function print(schema: z.ZodType, title: string): string {
  const json = z.toJSONSchema(schema, {
    // The newest that the common YAML editors read.
    target: 'draft-7',
    io: 'input',
    override: ({ zodSchema, jsonSchema, path }) => {
      widen(zodSchema._zod.def.type, jsonSchema);
      if (path.length > 0) orMacro(jsonSchema);
    },
  });
  const resource = json.properties?.['resource'];
  if (typeof resource === 'object') Object.assign(resource, { examples: resourceTypes() });
  return `${JSON.stringify({ ...json, title, $comment: codecNames() }, undefined, 2)}\n`;
}

/** Scalars as an editor reads them; macros in maps and lists. */
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

/** A macro's argument may stand for a whole map or list. */
function orMacro(schema: JsonSchema): void {
  if (schema.type !== 'object' && schema.type !== 'array') return;
  const { description, ...written } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, { ...(description === undefined ? {} : { description }) });
  schema.anyOf = [written, { type: 'string', pattern: MACRO }];
}

/** `true` unquoted is a boolean to an editor, and a macro's argument may stand for any of the words. */
function extendEnum(schema: JsonSchema): void {
  const words = schema.enum ?? [];
  const booleans = words.flatMap(word => (word === 'true' ? [true] : word === 'false' ? [false] : []));
  delete schema.enum;
  schema.anyOf = [{ enum: [...words, ...booleans] }, { type: 'string', pattern: MACRO }];
}

function codecNames(): string {
  return `codecs: ${Object.keys(CODECS).join(', ')}; text steps: ${Object.keys(TEXT_STEPS).join(', ')}; and the code maps`;
}
