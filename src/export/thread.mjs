// Entry point of an export thread. Plain JavaScript, because it enables the cache of compiled modules, in the folder
// that bin/lintel.mjs uses; with it, a thread loads no TypeScript compiler, which takes 20 MB.
// https://nodejs.org/docs/latest-v24.x/api/module.html#module-compile-cache
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache({
  directory: fileURLToPath(new URL('../../node_modules/.cache/lintel', import.meta.url)),
  portable: true,
});
await import('./worker.ts');
