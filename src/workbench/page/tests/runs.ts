/**
 * Hook that runs the `*.test.yaml` files of the pack after each save and on request. A newer run cancels an older one.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Unsaved } from '../../wire/mapping.ts';
import type { WireTestCase, WireTests } from '../../wire/tests.ts';
import { ask } from '../ask.ts';

export interface TestRuns {
  readonly running: boolean;
  /** Undefined: they did not run yet. */
  readonly last: TestRun | undefined;
  run(): void;
}

export interface TestRun {
  /** Undefined: nothing ran, because the pack had errors. */
  readonly cases: readonly WireTestCase[] | undefined;
  readonly failed: number;
  /** The texts that ran. */
  readonly of: Unsaved;
  /** Why there is no answer. */
  readonly refused: string | undefined;
}

/**
 * `saves`: how many files were saved; each save runs them. `takes`: how often other programs changed some; that runs
 * them too, and the number of failures alone tells. `tell`: says the outcome where it is not looked at.
 */
export function useTestRuns(unsaved: Unsaved, saves: number, takes: number, tell: (what: string) => void): TestRuns {
  const [running, setRunning] = useState(false);
  const [last, setLast] = useState<TestRun>();
  const texts = useRef(unsaved);
  texts.current = unsaved;
  const abort = useRef<AbortController>(null);
  /** The outcome is to be told, be it that of a later run. */
  const isAwaited = useRef(false);
  const run = useCallback(async (isTold = true) => {
    isAwaited.current ||= isTold;
    abort.current?.abort();
    const own = new AbortController();
    abort.current = own;
    setRunning(true);
    const of = texts.current;
    try {
      const { cases } = await ask<WireTests>('tests', { unsaved: of }, own.signal);
      const failed = (cases ?? []).filter(({ failures }) => failures.length > 0).length;
      setLast({ cases, failed, of, refused: undefined });
      if (isAwaited.current && cases && cases.length > 0) tell(tally(cases.length, failed));
    } catch (error) {
      if (own.signal.aborted) return;
      const refused = error instanceof Error ? error.message : 'The tests did not run';
      setLast({ cases: undefined, failed: 0, of, refused });
      if (isAwaited.current) tell(refused);
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

/** `3 tests, 1 failed` */
export function tally(ran: number, failed: number): string {
  return `${ran} ${ran === 1 ? 'test' : 'tests'}, ${failed === 0 ? 'all passed' : `${failed} failed`}`;
}
