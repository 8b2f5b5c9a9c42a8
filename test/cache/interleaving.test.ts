/** Random interleavings of writes, requests and time: each answer was true within the bound, and for its caller. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Access, accessToPatients, OPEN_ACCESS } from '../../src/auth/access.ts';
import { runsOf } from '../share.ts';
import { LIMITS, smallClinic } from './small-clinic.ts';

type Step =
  /** Inserts, updates or removes a row; `marked`: its table's watermark moves. */
  | {
      readonly kind: 'write';
      readonly what: 'put' | 'quietly' | 'hide' | 'remove' | 'call' | 'hang-up';
      readonly id: number;
    }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  /** Several concurrent requests. */
  | { readonly kind: 'ask'; readonly which: readonly (readonly [query: number, caller: number])[] };

const QUERIES = ['Patient/1', 'Patient', 'Patient?family=n2', 'AllergyIntolerance?patient=1', 'AllergyIntolerance'];
const CALLERS: readonly Access[] = [OPEN_ACCESS, accessToPatients('anna', ['1']), accessToPatients('ben', ['2', '3'])];

const id = fc.integer({ min: 1, max: 3 });
const which = fc.tuple(fc.nat(QUERIES.length - 1), fc.nat(CALLERS.length - 1));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('write'), what: whats(), id }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait'), milliseconds: waits() }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('ask'), which: fc.array(which, { minLength: 4, maxLength: 12 }) }),
  },
);

function whats() {
  return fc.constantFrom('put', 'quietly', 'hide', 'remove', 'call', 'hang-up' as const);
}

function waits() {
  return fc.constantFrom(400, LIMITS.interval + 1, LIMITS.ttl + 1, LIMITS.maxAge + 1);
}

/** A statement, and how long a change by it may stay hidden: for the interval if the watermark shows the change. */
function write(
  { what, id: n }: Step & { readonly kind: 'write' },
  tick: number,
): readonly [sql: string, bound: number] {
  const changed = new Date(Date.UTC(2024, 0, 1) + tick * 1000).toISOString().replace('T', ' ').replace('Z', '');
  switch (what) {
    case 'put':
      return [
        `INSERT OR REPLACE INTO PERSON VALUES (${n}, 'N${tick % 4}', 'N', '${changed}');
         INSERT OR REPLACE INTO ALLERGY VALUES (${n}, ${n}, 'S${tick % 3}', '${changed}')`,
        LIMITS.interval,
      ];
    case 'hide':
      return [`UPDATE PERSON SET DELETED = 'Y', CHANGED = '${changed}' WHERE ID = ${n}`, LIMITS.interval];
    case 'quietly':
      return [`UPDATE PERSON SET SURNAME = 'Q${tick}' WHERE ID = ${n}`, LIMITS.maxAge];
    case 'remove':
      return [`DELETE FROM PERSON WHERE ID = ${n}`, LIMITS.maxAge];
    case 'call':
      return [`INSERT OR REPLACE INTO PHONE VALUES (${n}, ${n}, '555-${tick}')`, LIMITS.ttl];
    case 'hang-up':
      return [`DELETE FROM PHONE WHERE NO = ${n}`, LIMITS.ttl];
  }
}

interface Truth {
  readonly from: number;
  /** By answer. */
  readonly bounds: number[];
  /** The row that was written. */
  readonly row: number | undefined;
  readonly answers: readonly string[];
}

test('no answer is staler than its bound, or made for another caller', async () => {
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async steps => {
      const clinic = await smallClinic();
      try {
        /** The states with their beginnings, and how long the state before may still be seen. */
        const truths: Truth[] = [];
        /** Time of the last request for each query. */
        const asked: number[] = [];
        const look = async (bound: number, row?: number): Promise<void> => {
          const answers = await Promise.all(
            QUERIES.flatMap(query => CALLERS.map(caller => clinic.look(query, caller))),
          );
          truths.push({ from: clinic.time.now, bounds: answers.map(() => bound), row, answers });
        };
        await look(0);
        for (const [tick, one] of steps.entries()) {
          if (one.kind === 'wait') clinic.time.now += one.milliseconds;
          else if (one.kind === 'write') {
            const [sql, bound] = write(one, tick);
            clinic.write(sql);
            if (one.what === 'remove') forget(one.id);
            await look(bound, one.id);
          } else {
            const got = await Promise.all(
              one.which.map(([query, caller]) => clinic.ask(QUERIES[query] ?? '', CALLERS[caller])),
            );
            got.forEach(({ text, origin }, i) => {
              if (origin === 'hit') hits++;
              const [query, caller] = one.which[i] ?? [0, 0];
              const at = query * CALLERS.length + caller;
              expect(mayBeSeen(text, at)).toBe(true);
              asked[at] = clinic.time.now;
            });
          }
        }

        /**
         * If a row is deleted before its watermark was seen, the watermark goes with it: its last change may stay
         * hidden as long as its deletion. A watermark is seen by a request after the interval.
         */
        function forget(row: number): void {
          for (const { bounds, from } of truths.filter(truth => truth.row === row)) {
            for (const at of bounds.keys()) {
              if ((asked[at] ?? 0) <= from + LIMITS.interval) bounds[at] = Math.max(bounds[at] ?? 0, LIMITS.maxAge);
            }
          }
        }

        /** True if some state gives this answer, and no later change has exceeded its bound. */
        function mayBeSeen(text: string, at: number): boolean {
          for (let i = truths.length - 1; i >= 0; i--) {
            const truth = truths[i];
            if (truth?.answers[at] === text) return true;
            // A change that did not alter the answer does not count.
            const differs = truth?.answers[at] !== truths[i - 1]?.answers[at];
            if (truth !== undefined && differs && clinic.time.now - truth.from > (truth.bounds[at] ?? 0)) return false;
          }
          return false;
        }
      } finally {
        await clinic.close();
      }
    }),
    { numRuns: runsOf(100) },
  );
  // Without hits the cache would not be tested.
  expect(hits).toBeGreaterThan(runsOf(50));
});
