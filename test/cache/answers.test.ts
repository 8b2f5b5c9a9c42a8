import { expect, onTestFinished, test } from 'vitest';
import { accessToPatients } from '../../src/auth/access.ts';
import { type AnswerLimits, type AnswerRequest, createAnswerCache, type Weighed } from '../../src/cache/answers.ts';
import { freshnessOf } from '../../src/cache/freshness.ts';
import { createWatermarks } from '../../src/cache/watermarks.ts';
import { LIMITS, type SmallClinic, smallClinic } from './small-clinic.ts';

async function clinic(limits: Partial<AnswerLimits> = {}): Promise<SmallClinic> {
  const made = await smallClinic(limits);
  onTestFinished(() => made.close());
  made.write(`
    INSERT INTO PERSON VALUES (1, 'Kowalski', 'N', '2024-03-01 09:15:00.000'), (2, 'Brown', NULL, '2024-03-02 10:00:00.000');
    INSERT INTO PHONE VALUES (1, 1, '555-0101');
    INSERT INTO ALLERGY VALUES (7, 1, 'Latex', '2024-03-01 09:15:00.000');
    INSERT INTO WARD VALUES (1, 'North', '2024-03-01 09:15:00.000');
  `);
  return made;
}

/** Repeats a request until its answer is cached: at the first read of a table its watermark is unknown. */
async function warm(made: SmallClinic, query: string): Promise<string> {
  for (let i = 0; i < 3; i++) {
    const { text, origin } = await made.ask(query);
    if (origin === 'hit') return text;
  }
  throw new Error('Expected a hit');
}

test('a cached answer sends no statement while the watermarks of its tables are fresh', async () => {
  const made = await clinic();
  const first = await warm(made, 'AllergyIntolerance?patient=1');
  const before = made.sent.statements;
  made.time.now += 1000;
  expect(await made.ask('AllergyIntolerance?patient=1')).toEqual({ text: first, origin: 'hit' });
  expect(made.sent.statements).toBe(before);
});

test('after the interval each table gets one watermark query, however many requests come', async () => {
  const made = await clinic();
  await warm(made, 'AllergyIntolerance?patient=1');
  await warm(made, 'AllergyIntolerance/7');
  made.time.now += 1001;
  const before = made.sent.statements;
  for (let i = 0; i < 5; i++) {
    expect((await made.ask('AllergyIntolerance?patient=1')).origin).toBe('hit');
    expect((await made.ask('AllergyIntolerance/7')).origin).toBe('hit');
  }
  // ALLERGY, and PERSON for the reference
  expect(made.sent.statements - before).toBe(2);
});

test('a reload of the mappings drops cached answers, and an answer in progress is not cached', async () => {
  const made = await clinic();
  await warm(made, 'AllergyIntolerance?patient=1');
  expect(made.cache.counters().entries).toBe(1);
  made.cache.serve(freshnessOf(made.registry, made.catalog, made.database));
  expect(made.cache.counters()).toMatchObject({ entries: 0, bytes: 0 });
  // Uses the tables of the replaced mappings.
  const { text, origin } = await made.ask('AllergyIntolerance?patient=1');
  expect(JSON.parse(text)).toEqual(JSON.parse(await made.look('AllergyIntolerance?patient=1')));
  expect(origin).toBe('miss');
  expect(made.cache.counters()).toMatchObject({ entries: 0, bytes: 0 });
});

const WATCHED = {
  'an insert': "INSERT INTO ALLERGY VALUES (8, 1, 'Nuts', '2024-05-01 00:00:00.000')",
  'an update': "UPDATE ALLERGY SET SUBSTANCE = 'Rubber', CHANGED = '2024-05-01 00:00:00.000' WHERE NO = 7",
  'a soft delete of the row referred to':
    "UPDATE PERSON SET DELETED = 'Y', CHANGED = '2024-05-01 00:00:00.000' WHERE ID = 1",
  'a delete of the row changed last': 'DELETE FROM ALLERGY WHERE NO = 7',
};

test.each(Object.entries(WATCHED))(
  'a change (%s) in a watched table is seen after the interval at the latest',
  async (_what, sql) => {
    const made = await clinic();
    const old = await warm(made, 'AllergyIntolerance?patient=1');
    made.time.now += 500;
    made.write(sql);
    made.time.now += LIMITS.interval + 1;
    const { text, origin } = await made.ask('AllergyIntolerance?patient=1');
    expect(origin).toBe('stale');
    expect(text).not.toBe(old);
    expect(JSON.parse(text)).toEqual(JSON.parse(await made.look('AllergyIntolerance?patient=1')));
  },
);

test('a sentinel date in the watermark column does not hide later changes', async () => {
  const made = await clinic();
  made.write("INSERT INTO ALLERGY VALUES (9, 2, 'Dust', '9999-12-31 00:00:00.000')");
  await warm(made, 'AllergyIntolerance?patient=1');
  made.write(WATCHED['an update']);
  made.time.now += LIMITS.interval + 1;
  expect((await made.ask('AllergyIntolerance?patient=1')).text).toContain('Rubber');
});

const UNSEEN = {
  'a row that comes late with an older time': "INSERT INTO ALLERGY VALUES (6, 1, 'Nuts', '2024-01-01 00:00:00.000')",
  'a change that does not touch the time': "UPDATE ALLERGY SET SUBSTANCE = 'Rubber' WHERE NO = 7",
  'a hard delete': 'DELETE FROM PERSON WHERE ID = 1',
};

test.each(Object.entries(UNSEEN))('a change (%s) is seen after CACHE_MAX_AGE at the latest', async (_what, sql) => {
  const made = await clinic();
  const old = await warm(made, 'AllergyIntolerance?patient=1');
  made.write(sql);
  made.time.now += LIMITS.maxAge - 1;
  expect(await made.ask('AllergyIntolerance?patient=1')).toEqual({ text: old, origin: 'hit' });
  made.time.now += 1;
  const { text, origin } = await made.ask('AllergyIntolerance?patient=1');
  expect(origin).toBe('stale');
  expect(text).not.toBe(old);
});

const CHILDREN = {
  'an insert': "INSERT INTO PHONE VALUES (2, 1, '555-0199')",
  'an update': "UPDATE PHONE SET NUMBER = '555-0000' WHERE NO = 1",
  'a delete': 'DELETE FROM PHONE WHERE NO = 1',
};

test.each(Object.entries(CHILDREN))(
  'a change (%s) in a child table without a watermark is seen after CACHE_TTL',
  async (_what, sql) => {
    const made = await clinic();
    const old = await warm(made, 'Patient/1');
    made.write(sql);
    made.time.now += LIMITS.ttl - 1;
    expect(await made.ask('Patient/1')).toEqual({ text: old, origin: 'hit' });
    made.time.now += 1;
    expect((await made.ask('Patient/1')).text).not.toBe(old);
  },
);

test('a soft delete of the main row ends the cached read, although child tables have no watermark', async () => {
  const made = await clinic();
  await warm(made, 'Patient/1');
  made.write("UPDATE PERSON SET DELETED = 'Y', CHANGED = '2024-05-01 00:00:00.000' WHERE ID = 1");
  made.time.now += LIMITS.interval + 1;
  expect((await made.ask('Patient/1')).text).toBe('none');
});

test('a watermark column without an index is not used: the answer lives for CACHE_TTL', async () => {
  const made = await clinic();
  const old = await warm(made, 'Location');
  const before = made.sent.statements;
  made.write("UPDATE WARD SET TITLE = 'South', CHANGED = '2024-05-01 00:00:00.000'");
  made.time.now += LIMITS.ttl - 1;
  expect(await made.ask('Location')).toEqual({ text: old, origin: 'hit' });
  expect(made.sent.statements).toBe(before);
  made.time.now += 1;
  expect((await made.ask('Location')).text).toContain('South');
});

test('a watermark that changes while the answer is read is not used for it', async () => {
  const made = await clinic();
  await warm(made, 'AllergyIntolerance?patient=1');
  made.time.now += LIMITS.maxAge;
  // The watermark is known, and changes after the rows have been read.
  const { query } = made.database;
  let late = false;
  made.database.query = async (plan, options) => {
    const rows = await query(plan, options);
    if (!late && plan.columns.length > 1) {
      late = true;
      made.write("INSERT INTO ALLERGY VALUES (9, 1, 'Dust', '2024-06-01 00:00:00.000')");
    }
    return rows;
  };
  const torn = await made.ask('AllergyIntolerance?patient=1');
  expect(torn.text).not.toContain('Dust');
  made.time.now += LIMITS.interval + 1;
  expect((await made.ask('AllergyIntolerance?patient=1')).text).toContain('Dust');
});

test('equal requests at the same time send the statements of one', async () => {
  const made = await clinic();
  await made.ask('AllergyIntolerance?patient=1');
  const alone = made.sent.plans.length;
  made.time.now += LIMITS.maxAge;
  made.sent.plans.length = 0;
  const answers = await Promise.all(Array.from({ length: 20 }, () => made.ask('AllergyIntolerance?patient=1')));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(made.sent.plans.length).toBe(alone);
  expect(made.cache.counters().collapsed).toBe(19);
});

test('a caller never gets the answer of another one, cached or in progress', async () => {
  const made = await clinic();
  const anna = accessToPatients('anna', ['1']);
  const ben = accessToPatients('ben', ['2']);
  const alsoAnna = accessToPatients('anna', ['1', '2']);
  for (let round = 0; round < 3; round++) {
    const [all, one, other, more] = await Promise.all([
      made.ask('Patient'),
      made.ask('Patient', anna),
      made.ask('Patient', ben),
      made.ask('Patient', alsoAnna),
    ]);
    expect([all, one, other, more].map(({ text }) => [...text.matchAll(/"family":"(\w+)"/g)].map(m => m[1]))).toEqual([
      ['Kowalski', 'Brown'],
      ['Kowalski'],
      ['Brown'],
      ['Kowalski', 'Brown'],
    ]);
  }
});

test('errors are not cached, and go to all waiting requests', async () => {
  const made = await clinic();
  const failing = () => made.ask('Patient?no-such-parameter=1');
  const both = await Promise.allSettled([failing(), failing()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(made.cache.counters()).toMatchObject({ entries: 0, stored: 0 });
  await expect(failing()).rejects.toThrow('no-such-parameter');
});

test('counters count hits, misses and stale answers', async () => {
  const made = await clinic();
  await made.ask('Location');
  await made.ask('Location');
  made.time.now += LIMITS.ttl;
  await made.ask('Location');
  expect(made.cache.counters()).toMatchObject({ hits: 1, misses: 1, stale: 1, stored: 2, entries: 1, evicted: 0 });
  expect(made.cache.counters().bytes).toBeGreaterThan((await made.look('Location')).length);
});

test('a time-dependent answer lives for CACHE_TTL, even if its table has a watermark', async () => {
  const made = await clinic();
  made.write("INSERT INTO STAY VALUES (1, '1970-01-01 00:16:45.000', '1970-01-01 00:00:00.000')");
  const before = await warm(made, 'Encounter/1');
  expect(before).toContain('"in-progress"');
  await warm(made, 'AllergyIntolerance/7');
  // The clock starts at 1,000 s since 1970; the stay ends at 1,005 s.
  made.time.now += LIMITS.ttl + 1;
  const after = await made.ask('Encounter/1');
  expect(after.origin).not.toBe('hit');
  expect(after.text).toContain('"finished"');
  expect((await made.ask('AllergyIntolerance/7')).origin).toBe('hit');
});

/** A cache without a database: answers of ten bytes that no table changes. */
function alone(limits: Partial<AnswerLimits> = {}) {
  const time = { now: 1_000_000 };
  const clock = () => time.now;
  const cache = createAnswerCache<Weighed>({ ...LIMITS, ...limits }, clock);
  const freshness = { watermarks: createWatermarks(new Map(), clock), timed: new Set<string>() };
  cache.serve(freshness);
  const ask = async (key: string, more: Partial<AnswerRequest<Weighed>> = {}) => {
    const make = async () => ({ bytes: 10 });
    return (await cache.answer({ ...{ key, kind: key, freshness, signal: undefined, make }, ...more })).origin;
  };
  return { time, cache, ask };
}

test('a hit states the remaining lifetime of the answer in milliseconds', async () => {
  const { time, cache, ask } = alone();
  await ask('a');
  time.now += 400;
  expect(await ask('a')).toEqual({ kind: 'hit', ttl: LIMITS.maxAge - 400 });
  expect(cache.ready('a')).toEqual({ answer: { bytes: 10 }, ttl: LIMITS.maxAge - 400 });
  time.now += LIMITS.maxAge;
  expect(cache.ready('a')).toBeUndefined();
});

test('a client gets no cached answer older than its max-age', async () => {
  const { time, ask } = alone();
  await ask('a');
  time.now += 400;
  expect(await ask('a', { maxAge: 400 })).toMatchObject({ kind: 'hit' });
  expect(await ask('a', { maxAge: 399 })).toMatchObject({ kind: 'made', why: 'request' });
});

test('sending a ready answer counts as use: the least recently used answer is evicted first', async () => {
  // Eleven answers of ten bytes, with their keys and what the cache adds for each.
  const { time, cache, ask } = alone({ bytes: 24_000 });
  const keys = [...'abcdefghijk'];
  for (const key of keys) await ask(key);
  expect(cache.counters()).toMatchObject({ entries: 11, evicted: 0 });
  time.now += 200;
  cache.ready('a');
  await ask('l');
  expect([cache.ready('a') !== undefined, cache.ready('b')]).toEqual([true, undefined]);
});
