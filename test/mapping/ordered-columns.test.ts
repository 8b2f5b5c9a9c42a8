/** Compares two columns of a row with each other, in SQL and in the resource. */
import { describe, expect, test } from 'vitest';
import type { Condition } from '../../src/mapping/model.ts';
import { conditionPredicate } from '../../src/plan/condition.ts';
import type { ColumnExpression } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import { render } from '../../src/sql/render.ts';
import { searchSmall } from '../plan/small-pack.ts';
import { columnType } from './codecs/law.ts';
import { problemsOfCondition } from './load/problems-of.ts';

const SCHEMA = `
CREATE TABLE RX (NO INT NOT NULL PRIMARY KEY, DAY DATE, AT DATETIME, FINE DATETIME2(7), MINUTE SMALLDATETIME,
  FROM_DT CHAR(8) COLLATE RTRIM, TO_DT CHAR(8) COLLATE RTRIM, LOW INT, HIGH DECIMAL(9,2), MEAN REAL, BIG BIGINT);
INSERT INTO RX VALUES
  (1, '2024-03-01', '2024-03-01 00:00:00.000', '2024-03-01 00:00:00.0000000', '2024-03-01 00:00:00', '20240301', '20240302', 1, 1.5, 1.25, 9007199254740993),
  (2, '2024-03-02', '2024-03-01 12:00:00.000', '2024-03-01 12:00:00.0000001', '2024-03-01 12:00:00', '20240302', '20240301', 3, 2.5, 3, 3),
  (3, '2024-03-01', '2024-03-01 00:00:00.003', '2024-03-01 00:00:00.0030000', '2024-03-01 00:00:00', '20240230', '20240301', 2, 2, 2, 2),
  (4, '9999-12-31', '2024-03-01 00:00:00.000', NULL, NULL, '', '20240301', NULL, 2, -1, NULL),
  (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
`;

/** Returns the ids of rows that satisfy a condition; SQL and the resources must agree. */
async function holding(condition: string): Promise<readonly string[]> {
  const pack = {
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nabsent: { date: ["9999-12-31"], number: ["-1"] }\n',
    'm.yaml': `mapping: people
resource: Patient
source: { table: RX, as: r, key: [NO] }
id: "{NO}"
elements:
  active: { first: [{ const: "true", if: ${condition} }, "false"] }
`,
  };
  const { ids } = await searchSmall(SCHEMA, pack, 'Patient?active=true');
  const { ids: rest } = await searchSmall(SCHEMA, pack, 'Patient?active=false');
  expect([...ids, ...rest].toSorted()).toEqual(['1', '2', '3', '4', '5']);
  const { resources } = await searchSmall(SCHEMA, pack, 'Patient');
  expect(resources.filter(({ active }) => active === true).map(({ id }) => id)).toEqual(ids);
  return ids;
}

describe('two columns are compared', () => {
  test.each([
    ['{ DAY: { before: AT } }', ['3']],
    ['{ DAY: { after: AT } }', ['2']],
    ['{ DAY: { le: r.AT } }', ['1', '3']],
    ['{ AT: { gt: DAY } }', ['3']],
    ['{ AT: { before: FINE } }', ['2']],
    ['{ FINE: { le: AT } }', ['1', '3']],
    ['{ MINUTE: { before: AT } }', ['3']],
    ['{ AT: { ge: MINUTE } }', ['1', '2', '3']],
    ['{ AT: { same-as: FINE } }', ['1', '3']],
    ['{ DAY: { same-as: AT } }', ['1']],
    ['{ AT: { same-as: MINUTE } }', ['1', '2']],
    ['{ FROM_DT: { before: TO_DT, via: ymd8 } }', ['1']],
    ['{ FROM_DT: { after: TO_DT, via: ymd8 } }', ['2']],
    ['{ LOW: { lt: HIGH } }', ['1']],
    ['{ HIGH: { ge: LOW } }', ['1', '3']],
    ['{ MEAN: { gt: LOW } }', ['1']],
    ['{ HIGH: { gt: MEAN } }', ['1']],
    ['{ BIG: { gt: LOW } }', ['1']],
    ['{ LOW: { not: { lt: HIGH } } }', ['2', '3', '4', '5']],
    ['{ DAY: { not: { before: AT } } }', ['1', '2', '4', '5']],
  ])('%s', async (condition, ids) => {
    expect(await holding(condition)).toEqual(ids);
  });
});

test('T-SQL compares a DATETIME with a DATETIME2 by the digits that both show', () => {
  const columnOf = (name: string, declared: string): ColumnExpression => ({
    ...{ kind: 'column', alias: identifier('r'), column: identifier(name), type: columnType(declared) },
  });
  const condition: Condition = {
    ...{ kind: 'ordered', column: columnOf('AT', 'DATETIME'), op: '<', other: columnOf('FINE', 'DATETIME2(7)') },
  };
  const where = conditionPredicate(condition, { now: 0 });
  const from = { table: { name: identifier('RX') }, alias: identifier('r'), joins: [], where };
  expect(render({ from, columns: [], orderBy: [], limit: 1, shape: 'count' }, MSSQL).text).toMatch(
    /WHERE r\.FINE > CAST\(r\.AT AS datetime2\(3\)\)$/,
  );
});

describe('an impossible comparison is refused', () => {
  test('a number with a date', () => {
    expect(problemsOfCondition('{ PT_NO: { lt: UPD_DTM } }')).toEqual([
      'm.yaml:3:69: column PT_NO cannot be compared with column UPD_DTM; expected two columns of numbers or two of dates; found INT and DATETIME',
    ]);
  });

  test('an unknown column', () => {
    expect(problemsOfCondition('{ UPD_DTM: { before: DTH_DT } }')[0]).toMatch(/did you mean DTH_DTM\?$/);
  });

  test('columns of two types through one codec', () => {
    expect(problemsOfCondition('{ DOB: { before: PT_NO, via: ymd8 } }')).toEqual([
      'm.yaml:3:71: column DOB cannot be compared with column PT_NO; expected two columns of one type; found CHAR(8) and INT',
    ]);
  });
});
