/**
 * Inserts mutants into a folder of src whenever Node loads one of its files: in the process of the tests, in its
 * threads and in its child processes. Loaded before everything else there (`--import` in NODE_OPTIONS). Threads and
 * children learn the current mutant from the environment, which is copied when they start; in the process of the tests
 * setup.ts answers.
 */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutantsOf, withMutants } from './mutants.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const JOURNAL = join(process.env['MUTATION_WORK'] ?? '', 'journal.jsonl');
const FOLDER = process.env['MUTATION_FOLDER'] ?? '';
/** The number of questions reveals a mutant that makes a loop endless. */
const LOOPING = 10_000_000;

const tried = process.env['MUTATION_TRIED'];
const reached = new Set<string>();
let asked = 0;

globalThis.mutant = id => {
  if (process.env['MUTATION_DRY'] === '1' && !reached.has(id)) {
    reached.add(id);
    appendFileSync(JOURNAL, `${JSON.stringify({ reached: id })}\n`);
  }
  if (id !== tried) return false;
  asked++;
  if (asked > LOOPING) throw new RangeError('the mutant loops');
  return true;
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const file = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : '';
    if (!file.startsWith(`${FOLDER}/`) || !file.endsWith('.ts')) return loaded;
    const text = Buffer.from(loaded.source as Uint8Array).toString('utf8');
    return { ...loaded, source: withMutants(text, mutantsOf(file, text)) };
  },
});
