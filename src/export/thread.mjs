// What a thread of an export begins with. Plain JavaScript, because it comes before what it saves: with compiled
// modules from where bin/lintel.mjs keeps them, a thread loads no compiler of TypeScript, which is 20 MB.
// https://nodejs.org/docs/latest-v24.x/api/module.html#module-compile-cache
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/lintel', import.meta.url)));
await import('./worker.ts');
