/**
 * A text column that is joined to a number column: the resource, searches and joins agree on its number, whatever a row
 * holds.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { VALUES } from '../../src/check/values.ts';
import { check, open, told } from '../check/opened.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { openSmall } from './small-pack.ts';

const KEYS = ['7', '7 ', ' 7', '007', '7.0', '10', '1e1', '+7', '7x', '-', '', '--7', '7-', '-7', '\t7', '7\t', '99'];

const ROWS = KEYS.map((key, i) => `(${i + 1}, '${key}')`).join();
const schemaWith = (type: string): string => `
CREATE TABLE OWNER (ID ${type} NOT NULL PRIMARY KEY, NM VARCHAR(9));
CREATE TABLE TAG (NO INTEGER NOT NULL PRIMARY KEY, ID ${type}, NM VARCHAR(9));
CREATE TABLE STAY (NO INTEGER NOT NULL PRIMARY KEY, OWNER_ID VARCHAR(9));
INSERT INTO OWNER VALUES (7, 'seven'), (10, 'ten'), (-7, 'minus');
INSERT INTO TAG VALUES (1, 7, 'seven'), (2, 10, 'ten'), (3, -7, 'minus');
INSERT INTO STAY VALUES ${ROWS};
`;

const FILES = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { own: "urn:own" }\n',
  'codes.yaml': '{}\n',
  'a.yaml': `mapping: people
resource: Patient
source: { table: OWNER, as: p, key: [ID] }
id: "{ID}"
elements: { name: [{ family: { from: NM } }] }
---
mapping: stays
resource: Encounter
source:
  table: STAY
  as: s
  key: [NO]
  lookup: { o: { table: OWNER, on: { ID: OWNER_ID } } }
id: "{NO}"
elements:
  identifier: [{ system: own, value: { from: o.NM, via: code } }]
  status: finished
  class: { system: own, code: AMB }
  type: [{ each: { table: TAG, as: t, on: { ID: OWNER_ID }, order: [NO] }, item: { coding: [{ system: own, code: { from: t.NM, via: code } }] } }]
  subject: { ref: people, on: { ID: OWNER_ID } }
  episodeOfCare: [{ ref: episodes, on: { ID: OWNER_ID }, exists: false }]
---
mapping: episodes
resource: EpisodeOfCare
source: { table: OWNER, as: p, key: [ID] }
id: "{ID}"
needs: [patient]
elements:
  status: active
  patient: { ref: people, on: { ID: ID } }
`,
};

interface Stay {
  readonly id: string;
  readonly identifier?: readonly { readonly value: string }[];
  readonly type?: readonly { readonly coding: readonly { readonly code: string }[] }[];
  readonly subject?: { readonly reference: string };
  readonly episodeOfCare?: readonly { readonly reference: string }[];
}

const TYPES = ['INTEGER', 'BIGINT', 'DECIMAL(9,0)'];

test.each(TYPES)('resources and searches agree on the number that a text is, beside %s', async type => {
  const search = await openSmall(schemaWith(type), FILES);
  const stays = (await search('Encounter?_count=50')).resources as readonly Stay[];
  const idsOf = (test: (stay: Stay) => boolean): readonly string[] => stays.filter(test).map(({ id }) => id);
  for (const [number, name] of [
    ['7', 'seven'],
    ['10', 'ten'],
    ['-7', 'minus'],
  ] as const) {
    const joined = idsOf(({ identifier }) => identifier?.[0]?.value === name);
    expect([name, idsOf(({ type }) => type?.[0]?.coding[0]?.code === name)]).toEqual([name, joined]);
    expect([name, idsOf(({ subject }) => subject?.reference === `Patient/${number}`)]).toEqual([name, joined]);
    const referring = idsOf(({ episodeOfCare }) => episodeOfCare?.[0]?.reference === `EpisodeOfCare/${number}`);
    expect([name, referring]).toEqual([name, joined]);
    for (const query of [`identifier=${name}`, `type=${name}`, `patient=${number}`, `episode-of-care=${number}`])
      expect([query, (await search(`Encounter?_count=50&${query}`)).ids]).toEqual([query, joined]);
  }
  for (const { id, subject } of stays) {
    const { ids } = await search(`Patient?_has:Encounter:patient:_id=${id}`);
    expect([id, ids]).toEqual([id, subject ? [subject.reference.replace('Patient/', '')] : []]);
  }
  const referred = (read: (stay: Stay) => string | undefined): readonly string[] =>
    [...new Set(stays.flatMap(stay => read(stay) ?? []))].toSorted();
  for (const [include, type, references] of [
    ['patient', 'Patient', referred(({ subject }) => subject?.reference)],
    ['episode-of-care', 'EpisodeOfCare', referred(({ episodeOfCare }) => episodeOfCare?.[0]?.reference)],
  ] as const) {
    const { resources } = await search(`Encounter?_count=50&_include=Encounter:${include}`);
    const found = resources.filter(({ resourceType }) => resourceType === type).map(({ id }) => `${type}/${id}`);
    expect(found.toSorted()).toEqual(references.filter(one => !one.endsWith('/99')));
  }
  const without = idsOf(({ episodeOfCare }) => episodeOfCare === undefined);
  expect((await search('Encounter?_count=50&episode-of-care:missing=true')).ids).toEqual(without);
});

test.each(TYPES)('check compares rows with such keys, beside %s', async type => {
  const made = smallClinic({
    'person.yaml': FILES['a.yaml'],
    'weighing.yaml': '',
    'codes.yaml': '{}\n',
    'pack.yaml': FILES['pack.yaml'],
  });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(schemaWith(type));
  writer.close();
  const opened = await open(made);
  expect(told(await check(opened, { sections: [VALUES] }))).toEqual([]);
  await opened.close();
});
