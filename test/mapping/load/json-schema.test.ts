import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { editorSchemas } from '../../../src/mapping/load/read/json-schema.ts';
import { fits, type JsonSchema } from './json-schema-subset.ts';
import { ACTIVE, PEOPLE } from './problems-of.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const schemas = editorSchemas();

/** Validates like an editor: reads YAML with its own types, and validates it against the JSON Schema. */
function accepts(name: string, text: string): boolean {
  const schema: JsonSchema = JSON.parse(schemas[name] ?? '');
  return parseAllDocuments(text).every(document => fits(schema, document.toJSON(), schema));
}

function schemaFor(path: string): string {
  for (const name of ['pack', 'access']) if (path.endsWith(`${name}.yaml`)) return `${name}.json`;
  return /(^|\/|\.)codes\.ya?ml$/.test(path) ? 'codes.json' : 'mapping.json';
}

describe('the JSON Schemas for editors', () => {
  test('in mappings/schema equal those that the code generates', () => {
    for (const [name, text] of Object.entries(schemas)) {
      expect(readFileSync(join(root, 'mappings/schema', name), 'utf8'), `${name}: run \`npm run schema\``).toBe(text);
    }
  });

  // Test files and the choice of documents (ccds.yaml) have other formats.
  const described = globSync('{mappings,test/mapping/load}/**/*.yaml', { cwd: root }).filter(
    path => !/\.test\.yaml$|(^|\/)ccds\.yaml$/.test(path),
  );
  test.each(described)('accept %s', path => {
    expect(accepts(schemaFor(path), readFileSync(join(root, path), 'utf8'))).toBe(true);
  });

  test('accept scalars that YAML does not read as text', () => {
    expect(
      accepts('mapping.json', `${PEOPLE}  active: true\n  multipleBirthInteger: 01\n  gender: { from: NO }\n`),
    ).toBe(true);
  });

  test('list the codecs for completion, and accept names of code maps', () => {
    for (const via of ['ymd8', '{ datetime: { midnight: date } }', '[{ words: first }, number]', 'house-map.display'])
      expect(accepts('mapping.json', `${PEOPLE}  birthDate: { from: BORN, via: ${via} }\n`), via).toBe(true);
    expect(JSON.parse(schemas['mapping.json'] ?? '').definitions.codec.anyOf[0].enum).toContain('range-text.low');
  });

  test('accept macros wherever a node can stand', () => {
    const text = ACTIVE.replace('id:', 'variants: [{ insert: common, $a: [x] }]\nid:').replace(
      '"true"',
      '{ insert: flag }',
    );
    expect(accepts('mapping.json', text)).toBe(true);
  });

  test.each([
    ['an unknown key of a mapping', `${ACTIVE}soruce: x\n`],
    ['an unknown key of a source', ACTIVE.replace('as: p', 'sa: p')],
    ['an unknown key of a binding', `${PEOPLE}  gender: { from: SEX, vai: sex }\n`],
    [
      'an option that a codec does not have',
      `${PEOPLE}  birthDate: { from: BORN, via: { datetime: { midnite: date } } }\n`,
    ],
    [
      'a value that an option does not take',
      `${PEOPLE}  birthDate: { from: BORN, via: { datetime: { midnight: day } } }\n`,
    ],
    ['an unknown operator', ACTIVE.replace('as: p', 'where: { SEX: { is: M } }')],
    ['a lookup without a table', ACTIVE.replace('as: p', 'lookup: { c: { on: { CD: SEX } } }')],
  ])('refuse %s', (_, text) => {
    expect(accepts('mapping.json', text)).toBe(false);
  });
});
