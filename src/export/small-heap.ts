/**
 * Loading mappings leaves more garbage than they take, and a heap that has grown for it seldom shrinks. In: what loads.
 * Out: its result; while it runs, young objects are collected before they make the heap grow.
 */
import { setFlagsFromString } from 'node:v8';

/** For a thread that afterwards works in little memory for a long time. */
export async function withSmallHeap<T>(load: () => Promise<T>): Promise<T> {
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await load();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
  }
}
