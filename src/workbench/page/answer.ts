/**
 * The answer of a question that a view asks as long as it is shown.
 */
import { useEffect, useState } from 'preact/hooks';
import { ask } from './ask.ts';

/** Neither is there while the first answer is waited for. */
export interface Answer<T> {
  readonly is: T | undefined;
  /** Why there is no other. */
  readonly failed: string | undefined;
}

const NOTHING = { is: undefined, failed: undefined };

/**
 * Asks when one of `when` changes, and where `isWanted`; what nobody waits for any more is cancelled at the server,
 * too. The answer before stays until then, as long as the first `same` of `when` are the same.
 */
export function useAnswer<T>(
  path: string,
  body: object,
  when: readonly unknown[],
  { same = 0, isWanted = true }: { readonly same?: number; readonly isWanted?: boolean } = {},
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { readonly of: readonly unknown[] }>({ ...NOTHING, of: [] });
  const stays = (of: readonly unknown[]): boolean => when.slice(0, same).every((one, i) => one === of[i]);
  useEffect(() => {
    if (!isWanted) return;
    const abort = new AbortController();
    ask<T>(path, body, abort.signal).then(
      is => setAnswer({ is, failed: undefined, of: when }),
      (error: Error) => {
        if (abort.signal.aborted) return;
        setAnswer(({ is, of }) => ({ is: stays(of) ? is : undefined, failed: error.message, of: when }));
      },
    );
    return () => abort.abort();
  }, when);
  return stays(answer.of) ? answer : NOTHING;
}
