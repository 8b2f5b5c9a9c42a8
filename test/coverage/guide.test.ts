/**
 * Guides of a pack: a fault is reported at its place, by `lintel check` too; the guides of Lintel have the same
 * notation.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { guideIn, guideProblems, guidesIn, usCore, VERSIONS } from '../../src/coverage/guide.ts';
import { problemLine } from '../../src/mapping/load/problem.ts';
import { lintel } from '../cli/lintel.ts';
import { keptClinic } from '../cli/small-clinic.ts';

const { folder, pack, environment } = keptClinic();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GROUP = { type: 'Patient', profile: 'us-core-patient', mustSupport: 'birthDate' };

/** Returns the problems of a guide with this text. */
function problemsOf(text: string): readonly string[] {
  return guideProblems(pack, { 'ours.guide.json': text }).map(problemLine);
}

writeFileSync(join(pack, 'ours.guide.json'), JSON.stringify({ people: GROUP }));

describe('a guide', () => {
  test('of Lintel has the notation of guides in packs', () => {
    for (const version of VERSIONS) {
      const text = readFileSync(`src/coverage/us-core-${version}.json`, 'utf8');
      expect(problemsOf(text)).toEqual([]);
      writeFileSync(join(pack, `us-core-${version}.guide.json`), text);
      expect(guideIn(pack, `us-core-${version}`).groups).toEqual(usCore(version).groups);
      rmSync(join(pack, `us-core-${version}.guide.json`));
    }
  });

  test.each([
    [
      { ...GROUP, mustSuport: GROUP.mustSupport, mustSupport: undefined },
      '5:5: unknown key; found mustSuport; did you mean mustSupport',
    ],
    [{ ...GROUP, type: 'Pateint' }, '3:13: unknown resource type; found Pateint; did you mean Patient'],
    [{ ...GROUP, shall: ['name', 'birth date'] }, '8:7: no search; expected parameters as `patient+status`'],
    [{ ...GROUP, profile: ['us-core-patient'] }, '4:16: not in the right form; expected a single value; found a list'],
    [{ ...GROUP, revinclude: 'yes' }, '6:19: not one of the values allowed; expected true or false; found yes'],
  ])('that is wrong is reported at its place: %j', (group, problem) => {
    expect(problemsOf(JSON.stringify({ people: group }, undefined, 2))).toEqual([
      expect.stringContaining(`ours.guide.json:${problem}`),
    ]);
  });

  test('that is no JSON is reported at its place, also by coverage', () => {
    const text = '{\n  "people": { "type": "Patient" "profile": "x" }\n}\n';
    expect(problemsOf(text)).toEqual([expect.stringContaining('ours.guide.json:2:33: not JSON; expected `,` or `}`')]);
    expect(() => guideIn(pack, 'ours', { 'ours.guide.json': text })).toThrow('ours.guide.json:2:33: not JSON');
    expect(() => guideIn(pack, '../ours')).toThrow('no guide of the pack');
    expect(guidesIn(pack)).toEqual(['ours']);
  });

  test('that is wrong is an error of `lintel check`, which still checks the rows', {
    timeout: 60_000,
  }, async () => {
    const before = await lintel(environment, 'check');
    expect(before.code).toBe(0);
    writeFileSync(join(pack, 'ours.guide.json'), JSON.stringify({ people: { ...GROUP, type: 'Pateint' } }));
    for (const args of [[], ['--json']]) {
      const { code, out } = await lintel(environment, 'check', ...args);
      expect([code, out]).toEqual([1, expect.stringContaining('Pateint')]);
      if (args.length > 0) expect(JSON.parse(out).sections.length).toBeGreaterThan(3);
    }
  });
});
