/** Hook that asks the server a question while a view is shown, and holds the answer. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from './ask.ts';

/** Both are undefined until the first answer arrives. */
export interface Answer<T> {
  readonly is: T | undefined;
  /** The reason if the last question failed. */
  readonly failed: string | undefined;
}

const NOTHING = { is: undefined, failed: undefined };

/**
 * Asks when one of `when` changes, if `isWanted`. Cancels the previous request, also at the server. The previous answer
 * stays until the next one, as long as the first `same` of `when` are unchanged.
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
