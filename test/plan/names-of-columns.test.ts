/** Tables and columns whose names contain letters outside A to Z, and blanks. */
import { expect, it } from 'vitest';
import { openSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE [Größen der Straße] (
  [Nr] INTEGER NOT NULL PRIMARY KEY, [Straße] VARCHAR(40), [Прізвище] VARCHAR(40), [Geburts Tag] DATE, [Geändert] DATETIME);
CREATE TABLE [größe] ([Nr] INTEGER NOT NULL PRIMARY KEY, [Straße] VARCHAR(40));
INSERT INTO [Größen der Straße] VALUES
  (1, 'A', 'Шевченко', '1970-02-03', '2024-03-01 09:15:00'), (2, 'B', NULL, '1985-01-01', '2024-03-02 09:15:00');
INSERT INTO [größe] VALUES (7, 'A'), (8, 'x');
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: Europe/Berlin\nsystems: { mrn: https://clinic.example.org/mrn }\n',
  'codes.yaml': '{}\n',
  'a.yaml': `mapping: people
resource: Patient
source:
  table: Größen der Straße
  as: p
  key: [Nr]
  where: { Geburts Tag: { before: Geändert }, Straße: { not: x } }
  changed: Geändert
  lookup:
    q: { table: größe, on: { Straße: p.Straße } }
id: "{Nr}-{Straße|escaped}"
elements:
  identifier: [{ system: mrn, value: { from: Straße, via: code } }]
  name: [{ family: { from: Прізвище }, text: { template: "{Straße} {Прізвище}" } }]
  birthDate: { from: Geburts Tag }
  contact:
    - each: { table: größe, on: { Straße: Straße }, order: [Nr] }
      item: { name: { text: { from: größe.Straße } } }
  multipleBirthInteger: { from: q.Nr }
`,
};

it('unusual names of tables and columns work unchanged in a mapping', async () => {
  const search = await openSmall(SCHEMA, PACK);
  const { resources } = await search('Patient?_sort=_id');
  expect(resources).toMatchObject([
    {
      id: '1-A',
      name: [{ family: 'Шевченко', text: 'A Шевченко' }],
      birthDate: '1970-02-03',
      contact: [{ name: { text: 'A' } }],
      multipleBirthInteger: 7,
    },
    { id: '2-B' },
  ]);
  expect((await search('Patient?family=шев')).ids).toEqual(['1-A']);
  expect((await search('Patient?identifier=B')).ids).toEqual(['2-B']);
  expect((await search('Patient?_lastUpdated=2024-03-02')).ids).toEqual(['2-B']);
  const { ids, mssql, sql } = await search('Patient?birthdate=1985');
  expect(ids).toEqual(['2-B']);
  expect(sql[0]).toContain('p.[Geburts Tag] >= ? AND p.[Geburts Tag] < ?');
  expect(mssql.join()).toContain('[Größen der Straße]');
});
