/** The present instant is a placeholder: plans that compare with it are cached, and each use binds its own instant. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../../src/auth/access.ts';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { dateCodec } from '../../../src/mapping/codecs/datetime.ts';
import { epochCodec } from '../../../src/mapping/codecs/epoch.ts';
import { ymd8Codec } from '../../../src/mapping/codecs/ymd8.ts';
import { countMatches } from '../../../src/pipeline/page.ts';
import { planCached } from '../../../src/pipeline/plans.ts';
import { openSession } from '../../../src/pipeline/session.ts';
import { shapeStore } from '../../../src/pipeline/shapes.ts';
import { branchesOf } from '../../../src/plan/branches.ts';
import { ALL_RULES, environment } from '../../../src/plan/environment.ts';
import { forInstants, nowPredicate, servesInstant } from '../../../src/plan/reuse/moments.ts';
import { FULL_VISIBILITY } from '../../../src/plan/visibility.ts';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import type { ColumnExpression } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import type { SqlPlan } from '../../../src/sql/plan.ts';
import { renderPredicate } from '../../../src/sql/render.ts';
import { SQLITE } from '../../../src/sql/sqlite/dialect.ts';
import { renderedBy } from '../../../src/sql/statement.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { type Demo, openDemo } from '../../law/demo.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2024, 5, 15, 12);

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 60 });
});
afterAll(() => demo.close());

/** The number of conditions active at an instant, and the plans sent. */
async function activeAt(
  now: number,
  rules = ALL_RULES,
): Promise<{ readonly count: number; readonly plans: SqlPlan[] }> {
  const plans: SqlPlan[] = [];
  const env = environment(demo.registry, now, FULL_VISIBILITY, rules);
  const session = openSession(demo.database, env, shapeStore(), { onQuery: plan => void plans.push(plan) });
  const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
  const { type, filters, sort } = demo.facade.parse(
    { type: 'Condition', parameters: [['clinical-status', 'resolved']] },
    context,
  );
  const { planned, placeholders } = await planCached(session, within => branchesOf({ type, filters, sort }, within), {
    key: 'active conditions',
    ids: [],
  });
  const count = await countMatches(planned, session, placeholders);
  return { count, plans };
}

test('a search by a time-dependent status is planned once, and uses the time of each request', async () => {
  const instants = [NOW, NOW + 1, NOW - 400 * DAY, NOW + 400 * DAY, Date.UTC(1950, 0, 1), NOW];
  const kept = new Set<unknown>();
  const counts: number[] = [];
  for (const now of instants) {
    const { count, plans } = await activeAt(now);
    counts.push(count);
    kept.add(plans.at(-1)?.from.where);
    // With another rules object, even an equal one, nothing is cached.
    expect((await activeAt(now, { ...ALL_RULES })).count).toBe(count);
  }
  expect(kept.size).toBe(1);
  expect(new Set(counts).size).toBeGreaterThan(1);
});

test('a plan with `now` needs an instant to run, and has the same SQL for each', async () => {
  const { plans } = await activeAt(NOW);
  const plan = plans.at(-1);
  if (!plan) throw new Error('nothing was asked');
  const statementOf = renderedBy(SQLITE);
  expect(() => statementOf(plan, [])).toThrow('without one');
  expect(() => statementOf(plan, undefined)).toThrow('without one');
  const [first, second] = [statementOf(plan, [], NOW), statementOf(plan, [], NOW + 40 * DAY)];
  expect(second.text).toBe(first.text);
  expect(second.parameters).not.toEqual(first.parameters);
});

const ZONE = zoneOf('America/New_York');
const text8: ColumnType = { kind: 'text', unicode: false, fixed: true, length: 8 };
const datetime = { kind: 'datetime', name: 'datetime', fraction: 3 } as const;
const integer = { kind: 'integer', bits: 64 } as const;
const CODECS: readonly (readonly [string, ColumnType, Codec])[] = [
  ['ymd8', text8, ymd8Codec({ zone: ZONE, columnType: text8 })],
  ['datetime', datetime, dateCodec({ zone: ZONE, columnType: datetime })],
  ['epoch', integer, epochCodec({ zone: ZONE, columnType: integer, fhirType: 'instant', unit: 1 })],
];

test.each(CODECS)('%s: a plan cached for one instant is right for another, or not used', (_, type, codec) => {
  const column: ColumnExpression = { kind: 'column', alias: identifier('t'), column: identifier('C'), type };
  // Skipped and repeated hours, midnight, leap days, and times beyond what columns hold.
  const instants = [
    NOW,
    NOW + 1,
    Date.UTC(2024, 2, 10, 6, 59, 59, 999),
    Date.UTC(2024, 2, 10, 7, 30),
    Date.UTC(2024, 10, 3, 5, 30),
    Date.UTC(2024, 10, 3, 6, 30),
    Date.UTC(2024, 5, 15, 4),
    Date.UTC(2024, 1, 29),
    Date.UTC(1700, 0, 1),
    Date.UTC(2200, 0, 1),
  ];
  let served = 0;
  for (const op of ['before', 'after'] as const) {
    const condition = { kind: 'now', column, op, codec } as const;
    const at = (now: number) => environment(demo.registry, now, FULL_VISIBILITY);
    for (const first of instants) {
      const kept = forInstants(at(first), env => nowPredicate(condition, env));
      for (const other of instants) {
        if (!servesInstant(kept, at(other))) continue;
        served++;
        const plan: SqlPlan = {
          from: { table: { name: identifier('T') }, alias: identifier('t'), joins: [], where: kept.made },
          ...{ columns: [column], orderBy: [], limit: 1, shape: 'rows' as const },
        };
        const { text, parameters } = renderedBy(SQLITE)(plan, [], other);
        const plain = renderPredicate(nowPredicate(condition, { now: other }), SQLITE);
        expect(text).toContain(plain.text);
        const valuesOf = (all: readonly { readonly value: unknown }[]) => all.map(({ value }) => value);
        expect(valuesOf(parameters).slice(0, -1)).toEqual(valuesOf(plain.parameters));
      }
    }
  }
  expect(served).toBeGreaterThan(40);
});

test('a plan that reads the instant as a number is used for that instant only', () => {
  const env = environment(demo.registry, NOW, FULL_VISIBILITY);
  const about = forInstants(env, within => {
    within.moments?.forOnce();
    return 1;
  });
  expect(servesInstant(about, env)).toBe(false);
  // A plan that contains it is for that instant only, too.
  const around = forInstants(env, within => forInstants(within, inner => void inner.moments?.forOnce()));
  expect(servesInstant(around, env)).toBe(false);
});
