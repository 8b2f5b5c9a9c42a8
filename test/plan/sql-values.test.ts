/**
 * `sql` over the contents of SQLite files: columns arrive as stored, and the value is read like a column of its type.
 */
import { describe, expect, it } from 'vitest';
import { searchSmall } from './small-pack.ts';

const SCHEMA = `CREATE TABLE LAB (NO INTEGER NOT NULL PRIMARY KEY, AT_TX TEXT, VAL NUMERIC);
INSERT INTO LAB VALUES (1, '2025-10-15T09:15:00-05:00', 97.6), (2, '2025-10-15 10:00', 'NEGATIVE'), (3, 'soon', '<5'), (4, NULL, NULL);`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/Chicago\n',
  'codes.yaml': '{}\n',
  'lab.yaml': `mapping: labs
resource: Observation
source: { table: LAB, as: l, key: [NO] }
id: "{NO}"
elements:
  status: final
  code: { text: Weight }
  effectiveDateTime: { sql: "{AT_TX}", type: datetime }
  first:
    - valueQuantity: { value: { sql: "{VAL} + 0", type: "decimal(5,0)", if: { NO: 1 } } }
    - valueString: { sql: "CASE WHEN typeof({VAL}) = 'text' THEN {VAL} END", type: varchar(20) }
`,
};

const found = async (query: string): Promise<readonly string[]> => (await searchSmall(SCHEMA, PACK, query)).ids;

describe('sql on SQLite', () => {
  it('emits times in any form, which searches find as they are served', async () => {
    const { resources } = await searchSmall(SCHEMA, PACK, 'Observation?_count=9');
    expect(resources.map(one => one['effectiveDateTime' as keyof typeof one])).toEqual([
      '2025-10-15T09:15:00-05:00',
      '2025-10-15T10:00:00-05:00',
      undefined,
      undefined,
    ]);
    expect(await found('Observation?date=2025-10-15')).toEqual(['1', '2']);
    expect(await found('Observation?date=2025-10-15T10:00')).toEqual(['2']);
    expect(await found('Observation?date:missing=true')).toEqual(['3', '4']);
    expect(await found('Observation?_sort=-date')).toEqual(['2', '1', '3', '4']);
  });

  it('reads texts in a column of numbers, and keeps the digits of numbers', async () => {
    const { resources } = await searchSmall(SCHEMA, PACK, 'Observation?_count=9');
    expect(resources.map(one => one['valueString' as keyof typeof one])).toEqual([
      undefined,
      'NEGATIVE',
      '<5',
      undefined,
    ]);
    expect(resources[0]).toMatchObject({ valueQuantity: { value: 97.6 } });
    expect(await found('Observation?value-string=neg')).toEqual(['2']);
    expect(await found('Observation?value-quantity=97.6')).toEqual(['1']);
    expect(await found('Observation?value-quantity:missing=false')).toEqual(['1']);
  });
});
