/**
 * Hook that runs the `*.test.yaml` files of the pack after each save and on request. A newer run cancels an older one.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Unsaved } from '../../wire/mapping.ts';
import type { WireTestCase, WireTests } from '../../wire/tests.ts';
import { ask } from '../ask.ts';

export interface TestRuns {
  readonly running: boolean;
  /** Undefined until they have run. */
  readonly last: TestRun | undefined;
  run(): void;
}

export interface TestRun {
  /** Undefined: nothing ran, because the pack had errors. */
  readonly cases: readonly WireTestCase[] | undefined;
  readonly failed: number;
  /** The texts that were tested. */
  readonly of: Unsaved;
  /** The reason if the request failed. */
  readonly refused: string | undefined;
}

/**
 * Runs the tests. `saves`: number of saves; each runs them. `takes`: number of changes by other programs; these run
 * them too, but without a message, so only the number of failures shows the outcome. `announce`: shows the outcome as a
 * message.
 */
export function useTestRuns(
  unsaved: Unsaved,
  saves: number,
  takes: number,
  announce: (what: string) => void,
): TestRuns {
  const [running, setRunning] = useState(false);
  const [last, setLast] = useState<TestRun>();
  const texts = useRef(unsaved);
  texts.current = unsaved;
  const abort = useRef<AbortController>(null);
  /** True if the outcome must be shown as a message, even if it is that of a later run. */
  const isAwaited = useRef(false);
  const run = useCallback(async (isAnnounced = true) => {
    isAwaited.current ||= isAnnounced;
    abort.current?.abort();
    const own = new AbortController();
    abort.current = own;
    setRunning(true);
    const of = texts.current;
    try {
      const { cases } = await ask<WireTests>('tests', { unsaved: of }, own.signal);
      const failed = (cases ?? []).filter(({ failures }) => failures.length > 0).length;
      setLast({ cases, failed, of, refused: undefined });
      if (isAwaited.current && cases && cases.length > 0) announce(tally(cases.length, failed));
    } catch (error) {
      if (own.signal.aborted) return;
      const refused = error instanceof Error ? error.message : 'The tests did not run';
      setLast({ cases: undefined, failed: 0, of, refused });
      if (isAwaited.current) announce(refused);
    } finally {
      if (abort.current === own) {
        isAwaited.current = false;
        setRunning(false);
      }
    }
  }, []);
  useEffect(() => {
    if (saves > 0) void run();
  }, [saves]);
  useEffect(() => {
    if (takes > 0) void run(false);
  }, [takes]);
  return { running, last, run: () => void run() };
}

/** Returns `3 tests, 1 failed`. */
export function tally(ran: number, failed: number): string {
  return `${ran} ${ran === 1 ? 'test' : 'tests'}, ${failed === 0 ? 'all passed' : `${failed} failed`}`;
}
