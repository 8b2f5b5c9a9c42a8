/** Members of groups and named patients: those who have left, and those that the client may not see. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Access } from '../../src/auth/access.ts';
import { readConfig } from '../../src/config/config.ts';
import { openSource } from '../../src/export/export-source.ts';
import { findMembers, isGroup } from '../../src/export/members.ts';
import { readLines } from '../../src/export/store.ts';
import type { Clinic } from './clinic.ts';
import { exportRequest } from './export-request.ts';
import { clinic, contents, finished, kickOff, served } from './exporting.ts';

/** A clinic whose lists record when a member left, or only that they left. */
function withLeavers(): Clinic {
  const where = clinic();
  where.change('ALTER TABLE LISTED ADD COLUMN LEFT_AT DATETIME; ALTER TABLE LISTED ADD COLUMN OFF CHAR(1)');
  const pack = where.environment['MAPPINGS'] ?? '';
  for (const name of readdirSync(pack)) {
    const text = readFileSync(join(pack, name), 'utf8');
    writeFileSync(
      join(pack, name),
      text.replace(
        'needs: [entity] }',
        'period: { end: { from: m.LEFT_AT } }, inactive: { from: m.OFF, via: { boolean: { true: Y, false: N } } }, needs: [entity] }',
      ),
    );
  }
  return where;
}

test('a membership ends by its end date or its inactive flag; a future end date does not end it', async () => {
  const where = withLeavers();
  where.change(`UPDATE LISTED SET LEFT_AT = '2024-01-01 00:00:00.000' WHERE PERSON_ID = 1;
    UPDATE LISTED SET LEFT_AT = '2124-01-01 00:00:00.000' WHERE PERSON_ID = 3;
    UPDATE LISTED SET OFF = 'Y' WHERE PERSON_ID = 5; UPDATE LISTED SET OFF = 'N' WHERE PERSON_ID = 7`);
  const { fhir } = await served(where);
  const found = await contents(await finished(await kickOff(`${fhir}/Group/g-1/$export?_type=Patient`)));
  expect(found).toEqual(['Patient/3', 'Patient/7', 'Patient/9']);
});

test('an export of all groups reveals nothing of groups that the client may not see', async () => {
  const where = clinic();
  where.change('INSERT INTO LISTED VALUES (2, 2), (2, 3)');
  const source = await openSource(readConfig(where.environment));
  const whole = { read: true, search: true, within: [], where: [], except: [] };
  const membersFor = async (group: object): Promise<readonly string[]> => {
    const access: Access = {
      kind: 'limited',
      caller: 'registry',
      permissions: [
        { ...whole, type: 'Patient' },
        { ...whole, type: 'Group', ...group },
      ],
    };
    const request = exportRequest({ level: { kind: 'group', id: undefined }, types: ['Patient'] });
    const job = { access, base: 'http://127.0.0.1/fhir', request, transactionTime: Date.now() } as const;
    const folder = mkdtempSync(join(where.folder, 'job-'));
    await findMembers(folder, job, source);
    return readLines(join(folder, 'members'));
  };
  expect(await membersFor({})).toEqual(['1', '2', '3', '5', '7', '9']);
  expect(await membersFor({ where: [['_id', 'g-2']] })).toEqual(['2', '3']);
  expect(await membersFor({ except: [['_id', 'g-1']] })).toEqual(['2', '3']);
  await source.database().close();
});

test('a group that the client may not see is like one that does not exist', async () => {
  const source = await openSource(readConfig(clinic().environment));
  const isThere = (id: string, rule: object): Promise<boolean> => {
    const whole = { type: 'Group', read: true, search: true, within: [], where: [], except: [] };
    const access: Access = { kind: 'limited', caller: 'registry', permissions: [{ ...whole, ...rule }] };
    return isGroup(id, { access, base: 'http://127.0.0.1/fhir' }, source);
  };
  expect(await Promise.all(['g-1', 'g-2', 'g-none'].map(id => isThere(id, {})))).toEqual([true, true, false]);
  expect(await isThere('g-1', { where: [['_id', 'g-2']] })).toBe(false);
  expect(await isThere('g-1', { except: [['_id', 'g-1']] })).toBe(false);
  await source.database().close();
});

test('of named patients those that the client may not see are reported like those that do not exist', async () => {
  const where = clinic();
  const source = await openSource(readConfig(where.environment));
  const whole = { type: 'Patient', read: true, search: true, within: [], where: [], except: [] };
  const membersFor = async (rule: object): Promise<readonly string[]> => {
    const access: Access = { kind: 'limited', caller: 'registry', permissions: [{ ...whole, ...rule }] };
    const request = exportRequest({ level: { kind: 'patient' }, patients: ['1', '2', '404'], types: ['Patient'] });
    const job = { access, base: 'http://127.0.0.1/fhir', request, transactionTime: Date.now() } as const;
    const folder = mkdtempSync(join(where.folder, 'job-'));
    await findMembers(folder, job, source);
    return readLines(join(folder, 'members'));
  };
  expect(await membersFor({})).toEqual(['1', '2']);
  expect(await membersFor({ where: [['_id', '1']] })).toEqual(['1']);
  expect(await membersFor({ except: [['_id', '1']] })).toEqual(['2']);
  await source.database().close();
});
