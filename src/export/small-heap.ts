/**
 * Loads mappings with a small heap: loading leaves more garbage than mappings, and a heap seldom shrinks again. In: a
 * function that loads. Out: its result. Young objects are collected often while it runs, and all garbage behind it.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Flags of V8 belong to the process, and several threads load at a time: one that took this flag back would take it
// from under another. So it stays.
setFlagsFromString('--expose-gc');

/** For a thread that afterwards works in little memory for a long time. */
export async function withSmallHeap<T>(load: () => Promise<T>): Promise<T> {
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await load();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
    collectGarbage();
  }
}

/** Gives the memory back to the system. Contexts that are made after the flag was set have the function. */
function collectGarbage(): void {
  const collect: (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void = runInNewContext('gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
