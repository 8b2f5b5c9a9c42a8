/**
 * Loads mappings with a small heap, because loading leaves more garbage than mappings, and a heap seldom shrinks again.
 * In: a function that loads. Out: its result. Young objects are collected often while it runs, and all garbage after
 * it.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// V8 flags belong to the process, and several threads load at the same time: resetting this flag would take it from
// another thread, so it stays set.
setFlagsFromString('--expose-gc');

/** Calls `load` with a small heap, for a thread that afterwards works for long in little memory. */
export async function withSmallHeap<T>(load: () => Promise<T>): Promise<T> {
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await load();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
    collectGarbage();
  }
}

/** Returns the memory to the system. Only contexts made after the flag was set have `gc`. */
function collectGarbage(): void {
  const collect: (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void = runInNewContext('gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
