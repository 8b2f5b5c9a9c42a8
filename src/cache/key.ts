/**
 * Makes the key of a cached answer. In: a request. Out: a text of everything that the answer depends on, beside the
 * database.
 */
import type { Access } from '../auth/access.ts';
import { type BoundedCache, boundedCache } from './bounded.ts';

export interface AnswerKey {
  /** Of the mappings. */
  readonly version: string;
  readonly access: Access;
  /** Absolute base of the interface: it stands in links and references. */
  readonly base: string;
  readonly handling: 'strict' | 'lenient';
  readonly accept: string | undefined;
  /** Path and query, as they were sent. */
  readonly target: string;
}

/**
 * None of the parts can hold the line ends that stand between them: header values and addresses have none. All but the
 * address is few and comes again: it stands as a number, for a key is hashed as a whole at each look-up.
 */
export function answerKey({ version, access, base, handling, accept = '', target }: AnswerKey): string {
  const stem = `${version}\n${accessKey(access)}\n${base}\n${handling}\n${accept}`;
  return `${numbers.get(stem, () => ({ number: ++last })).number}\n${target}`;
}

/** A stem that was forgotten gets another number, never one that was another's: its answers are made anew. */
const numbers: BoundedCache<{ readonly number: number }> = boundedCache(10_000);
let last = 0;

/** Access objects live as long as a session; each is written out once. */
const known = new WeakMap<Access, string>();

/** Equal for equal access, and for no other: no answer ever goes to somebody who may see more or less. */
function accessKey(access: Access): string {
  const kept = known.get(access);
  if (kept !== undefined) return kept;
  const made = JSON.stringify(access);
  known.set(access, made);
  return made;
}
