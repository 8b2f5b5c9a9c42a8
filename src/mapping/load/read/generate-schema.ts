/**
 * Writes the JSON Schemas of packs to mappings/schema (`npm run schema`). The first line of each file of a pack refers
 * to one: `# yaml-language-server: $schema=../schema/mapping.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { editorSchemas } from './json-schema.ts';

const folder = new URL('../../../../mappings/schema', import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(editorSchemas())) writeFileSync(join(folder, name), text);
