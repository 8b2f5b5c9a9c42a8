/**
 * Loads mappings with a small heap: loading leaves more garbage than mappings, and a heap seldom shrinks again. In: a
 * function that loads. Out: its result. Young objects are collected often while it runs, and all garbage behind it.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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

/** Gives the memory back to the system. A context that is made while the flag is set has the function. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
