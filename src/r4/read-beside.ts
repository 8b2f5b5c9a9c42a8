/**
 * Reads a generated JSON file beside a module. In: `import.meta.url` and the name of the file. Not a JSON module,
 * because TypeScript would infer the type of each file's whole content.
 */
import { readFileSync } from 'node:fs';

export function readBeside<T>(module: string, file: string): T {
  return JSON.parse(readFileSync(new URL(file, module), 'utf8'));
}
