/**
 * Validates by the keywords of JSON Schema (draft 7) that the editors' schemas use. In: a schema and a value. Out:
 * whether it is valid. An unknown keyword throws, so that no part of a schema is ignored.
 * https://json-schema.org/draft-07/draft-handrews-json-schema-validation-01
 */

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

const SAID = new Set(['$schema', '$comment', 'title', 'description', 'examples', 'definitions', '$ref', 'id']);

export function fits(schema: JsonSchema | boolean, value: unknown, root: JsonSchema): boolean {
  if (typeof schema === 'boolean') return schema;
  return Object.entries(schema).every(([keyword, says]) => check(keyword, says, schema, value, root));
}

function check(keyword: string, says: unknown, schema: JsonSchema, value: unknown, root: JsonSchema): boolean {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const members = isMap ? Object.entries(value) : [];
  switch (keyword) {
    case '$ref':
      return fits(resolve(String(says), root), value, root);
    case 'type':
      return (Array.isArray(says) ? says : [says]).includes(typeOf(value));
    case 'enum':
      return Array.isArray(says) && says.includes(value);
    case 'pattern':
      return typeof value !== 'string' || new RegExp(String(says)).test(value);
    case 'not':
      return !fits(asSchema(says), value, root);
    case 'anyOf':
      return Array.isArray(says) && says.some(one => fits(asSchema(one), value, root));
    case 'allOf':
      return Array.isArray(says) && says.every(one => fits(asSchema(one), value, root));
    case 'items':
      return !Array.isArray(value) || value.every(item => fits(asSchema(says), item, root));
    case 'minItems':
      return !Array.isArray(value) || value.length >= Number(says);
    case 'required':
      return !isMap || (Array.isArray(says) && says.every(name => Object.hasOwn(value, String(name))));
    case 'properties':
    case 'patternProperties':
      return members.every(([name, member]) => schemasFor(keyword, says, name).every(s => fits(s, member, root)));
    case 'additionalProperties': {
      const others = members.filter(
        ([name]) =>
          schemasFor('properties', schema['properties'], name).length === 0 &&
          schemasFor('patternProperties', schema['patternProperties'], name).length === 0,
      );
      return others.every(([, member]) => fits(asSchema(says), member, root));
    }
    default:
      if (SAID.has(keyword)) return true;
      throw new TypeError(`keyword ${keyword}`);
  }
}

function schemasFor(keyword: string, says: unknown, name: string): readonly (JsonSchema | boolean)[] {
  if (typeof says !== 'object' || says === null) return [];
  const found = Object.entries(says).filter(([key]) =>
    keyword === 'properties' ? key === name : new RegExp(key).test(name),
  );
  return found.map(([, schema]) => asSchema(schema));
}

function asSchema(content: unknown): JsonSchema | boolean {
  if (typeof content === 'boolean') return content;
  if (typeof content !== 'object' || content === null) throw new TypeError('no schema');
  return content as JsonSchema;
}

function resolve(ref: string, root: JsonSchema): JsonSchema | boolean {
  const [, definition = ''] = /^#\/definitions\/(.+)$/.exec(ref) ?? [];
  return ref === '#' ? root : asSchema((root['definitions'] as JsonSchema)[definition]);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
