/**
 * Loading mappings leaves more garbage than they take, and a heap that has grown for it seldom shrinks. In: what loads.
 * Out: its result; while it runs, young objects are collected before they make the heap grow, and all garbage after it.
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
