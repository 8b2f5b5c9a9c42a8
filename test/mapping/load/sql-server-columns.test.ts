/** Columns that only SQL Server has: the messages for a mapping that names one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkLocked } from '../../../src/check/check.ts';
import { readConfig } from '../../../src/config/config.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const LOCK = {
  engine: 'mssql',
  tables: {
    PLACE: {
      columns: {
        NO: 'INT',
        TITLE: 'VARCHAR(40) NULL',
        UPD: 'DATETIME NULL',
        RV: 'ROWVERSION',
        // A column set: the sparse columns of a row as XML.
        EXTRA: 'XML NULL',
        SYS_FROM: 'DATETIME2(7) UTC',
        SEEN: 'DATETIMEOFFSET(3) NULL',
      },
      primaryKey: ['NO'],
      indexes: {},
    },
  },
};

function problemsOf(changed: string, name = '{ from: TITLE }'): readonly string[] {
  const folder = temporaryFolder();
  const mapping = `mapping: places
resource: Location
source: { table: PLACE, as: p, key: [NO], changed: ${changed} }
id: "{NO}"
elements:
  name: ${name}
`;
  const files = {
    'pack.yaml': 'name: clinic\ntitle: Clinic\nzone: America/New_York\nsystems: {}\n',
    'place.yaml': mapping,
    'schema.lock.json': JSON.stringify(LOCK),
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const { pack } = checkLocked(readConfig({ MAPPINGS: folder, DATA_DIR: join(folder, 'data') }));
  return pack.problems.map(formatProblem);
}

const NO_TIME =
  'expected a column of times; bytes such as a ROWVERSION count changes and hold no time; without a time omit `changed`';

it.each([
  ['RV', `3:52: no default codec for the types of column and element; ${NO_TIME}; found ROWVERSION for instant`],
  ['{ from: RV, via: datetime }', `3:69: datetime does not read ROWVERSION; ${NO_TIME}`],
  ['[UPD, RV]', `3:58: several columns of \`changed\` must have one type; ${NO_TIME}; found ROWVERSION`],
])('a ROWVERSION as changed: %s', (changed, problem) => {
  expect(problemsOf(changed)).toEqual([`place.yaml:${problem}`]);
});

it('a period column of a temporal table is a time, of another type than a local one', () => {
  expect(problemsOf('SYS_FROM')).toEqual([]);
  expect(problemsOf('[UPD, SYS_FROM]')).toEqual([
    'place.yaml:3:58: several columns of `changed` must have one type; expected DATETIME; found DATETIME2(7) UTC',
  ]);
  expect(problemsOf('UPD', '{ from: TITLE, if: { SYS_FROM: { before: SEEN } } }')).toEqual([]);
});

it('a column set is no text', () => {
  expect(problemsOf('UPD', '{ from: EXTRA }')).toEqual([
    expect.stringMatching(/^place\.yaml:6:17: no codec takes column PLACE\.EXTRA; .*; found XML$/),
  ]);
});
