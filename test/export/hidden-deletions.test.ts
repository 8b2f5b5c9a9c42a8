/**
 * Deleted records are listed only for clients who could have seen them: labels, compartments, conditions of scopes,
 * groups and named patients limit deletions as they limit resources.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Permission } from '../../src/auth/access.ts';
import { deletedIds } from '../../src/export/deletions.ts';
import type { ExportRequest, Part } from '../../src/export/job.ts';
import type { Clinic } from './clinic.ts';
import { clinic } from './exporting.ts';
import { exportPart } from './part-under-test.ts';

const SINCE = '2025-01-01T00:00:00Z';
const RESTRICTED = 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality|R';

/**
 * Weighings 1 to 8 (of persons 1 to 8) are deleted, the even ones restricted; person 9 has left, and is restricted.
 * Persons 1, 3, 5, 7 and 9 are on list 1.
 */
function withDeletions(): Clinic {
  const where = clinic(20, 2);
  const file = join(where.environment['MAPPINGS'] ?? '', 'all.yaml');
  const security = (column: string): string =>
    `meta: { security: [{ system: http://terminology.hl7.org/CodeSystem/v3-Confidentiality, code: { from: ${column}, via: code } }] }`;
  writeFileSync(
    file,
    readFileSync(file, 'utf8')
      .replace(
        'elements:\n  name: [ { family: { from: SURNAME } } ]',
        `elements:\n  ${security('SECRET')}\n  name: [ { family: { from: SURNAME } } ]`,
      )
      .replace('elements:\n  status: final\n', `elements:\n  ${security('SECRET')}\n  status: final\n`),
  );
  where.change(`ALTER TABLE WEIGHING ADD SECRET VARCHAR(3); ALTER TABLE PERSON ADD SECRET VARCHAR(3);
    UPDATE WEIGHING SET SECRET = CASE WHEN NO % 2 = 0 THEN 'R' ELSE 'N' END;
    UPDATE WEIGHING SET GONE = 'Y', UPD = '2025-06-01 10:00:00.000' WHERE NO <= 8;
    UPDATE PERSON SET SECRET = 'R' WHERE ID = 9;
    INSERT INTO LEFT_FOR_GOOD VALUES (9, '2025-06-01 10:00:00.000'), (10, '2025-06-01 10:00:00.000');`);
  return where;
}

const WHOLE = { read: true, search: true, within: [], where: [], except: [] };

interface Asked {
  readonly type?: string;
  readonly scope?: Part['scope'];
  readonly request?: Partial<ExportRequest>;
}

/** The ids of the deletions that a client with these permissions gets. */
async function deletionsFor(
  permissions: readonly Partial<Permission>[],
  asked: Asked = {},
): Promise<readonly string[]> {
  const { type = 'Observation', scope = 'all', request = {} } = asked;
  const all = permissions.map(one => ({ type: '*', ...WHOLE, ...one }));
  const { state, text } = await exportPart(withDeletions(), {
    type,
    part: { content: 'deletions', scope },
    request: { since: SINCE, ...request },
    access: { kind: 'limited', caller: 'registry', permissions: all },
  });
  expect(state.problem).toBeUndefined();
  return text.split('\n').flatMap(deletedIds).toSorted();
}

const EVERYTHING = ['w-1', 'w-2', 'w-3', 'w-4', 'w-5', 'w-6', 'w-7', 'w-8'];

test('a client that may see everything gets all deletions', async () => {
  expect(await deletionsFor([{}])).toEqual(EVERYTHING);
  expect(await deletionsFor([{}], { type: 'Patient' })).toEqual(['10', '9']);
});

test('deletions of labelled resources are hidden from those who may not see the label', async () => {
  const except = [['_security', RESTRICTED]] as const;
  expect(await deletionsFor([{ except }])).toEqual(['w-1', 'w-3', 'w-5', 'w-7']);
  expect(await deletionsFor([{ except }], { type: 'Patient' })).toEqual(['10']);
});

test('deletions are of the patients whom the client may see', async () => {
  expect(await deletionsFor([{ within: [{ ids: ['3', '4'] }] }])).toEqual(['w-3', 'w-4']);
  expect(await deletionsFor([{ within: [{ found: [['family', 'Canary5']] }] }])).toEqual(['w-5']);
  expect(await deletionsFor([{ within: [{ ids: ['9'] }] }], { type: 'Patient' })).toEqual(['9']);
  expect(await deletionsFor([{ within: [{ ids: ['3'] }] }], { type: 'Patient' })).toEqual([]);
});

test('conditions of scopes apply to deletions', async () => {
  expect(await deletionsFor([{ where: [['_security', RESTRICTED]] }])).toEqual(['w-2', 'w-4', 'w-6', 'w-8']);
  expect(await deletionsFor([{ where: [['subject:Patient.family', 'Canary7']] }])).toEqual(['w-7']);
  expect(await deletionsFor([{ where: [['category', 'none']] }])).toEqual([]);
});

test('a type that the client may not search has no deletions', async () => {
  expect(await deletionsFor([{ type: 'Patient' }])).toEqual([]);
  expect(await deletionsFor([{ search: false }])).toEqual([]);
});

test('deletions of a group are of the members whom the client may see, in groups that it may see', async () => {
  const group = { scope: 'compartments', request: { level: { kind: 'group', id: 'g-1' } } } as const;
  expect(await deletionsFor([{}], group)).toEqual(['w-1', 'w-3', 'w-5', 'w-7']);
  expect(await deletionsFor([{ within: [{ ids: ['3', '4'] }] }, { type: 'Group' }], group)).toEqual(['w-3']);
  const hidden = [{ type: 'Observation' }, { type: 'Patient' }, { type: 'Group', except: [['_id', 'g-1']] as const }];
  expect(await deletionsFor(hidden, group)).toEqual([]);
});

test('deletions of named patients are of those whom the client may see', async () => {
  const named = { scope: 'compartments', request: { level: { kind: 'patient' }, patients: ['3', '4'] } } as const;
  expect(await deletionsFor([{}], named)).toEqual(['w-3', 'w-4']);
  expect(await deletionsFor([{ except: [['_security', RESTRICTED]] }], named)).toEqual(['w-3']);
  expect(await deletionsFor([{ within: [{ ids: ['4', '5'] }] }], named)).toEqual(['w-4']);
});
