/**
 * Comparators in a separate column, `<` next to 20: a search by quantity compares with the interval that both make
 * (decision 5), as if both were in one text.
 */
import { describe, expect, test } from 'vitest';
import { number } from '../../src/law/oracle-numbers.ts';
import { openSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE OBS (NO INTEGER PRIMARY KEY, VAL DOUBLE, MOD VARCHAR(2), TX VARCHAR(10), AGE INT);
INSERT INTO OBS VALUES
  (1, 20, NULL, '20', 20), (2, 20, '<', '<20', 20), (3, 20, '>', '>20', 20), (4, 20, '<=', '<=20', 20),
  (5, 20, '>=', '>=20', 20), (6, 20, '~', '20', 20), (7, NULL, '<', NULL, NULL), (8, 30, '', '30', 30);
`;

const VALUES: Readonly<Record<string, string>> = {
  'a column of their own': '{ value: { from: VAL, via: number }, comparator: { from: MOD, via: signs } }',
  'one text with the number':
    '{ value: { from: TX, via: comparator-number.value }, comparator: { from: TX, via: comparator-number.comparator } }',
  'a condition': '{ value: { from: VAL }, comparator: { const: "<", if: { NO: "2" } } }',
  'all rows alike': '{ value: { from: VAL }, comparator: ">=" }',
  'either of two':
    '{ value: { first: [{ from: TX, via: comparator-number.value }, { from: VAL }] }, comparator: { first: [{ from: TX, via: comparator-number.comparator }, { from: MOD, via: signs }] } }',
};

const open = (value: string) =>
  openSmall(SCHEMA, {
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
    'codes.yaml':
      'signs:\n  system: http://hl7.org/fhir/quantity-comparator\n  rows: { "<": "<", ">": ">", "<=": "<=", ">=": ">=" }\n',
    'm.yaml': `mapping: results
resource: Observation
source: { table: OBS, as: o, key: [NO] }
id: "{NO}"
elements:
  status: final
  code: { coding: { system: "urn:x", code: c } }
  valueQuantity: ${value}
`,
  });

interface Quantity {
  readonly value: number;
  readonly comparator?: string;
}

describe.each(Object.entries(VALUES))('a comparator in %s', (_, value) => {
  test('makes the interval that searches find', async () => {
    const search = await open(value);
    const { resources } = await search('Observation?_count=50');
    for (const prefix of ['', 'ne', 'lt', 'le', 'gt', 'ge', 'sa', 'eb', 'ap'])
      for (const at of ['19', '20', '21', '20.0', '30']) {
        const asked = number(`${prefix}${at}`);
        const wanted = resources.flatMap(resource => {
          const quantity = resource['valueQuantity'] as Quantity | undefined;
          return quantity && asked(quantity.value, quantity.comparator) ? [resource.id] : [];
        });
        const query = `value-quantity=${prefix}${at}`;
        expect([query, (await search(`Observation?_count=50&${query}`)).ids]).toEqual([query, wanted]);
        const both = `code-value-quantity=c$${prefix}${at}`;
        expect([both, (await search(`Observation?_count=50&${both}`)).ids]).toEqual([both, wanted]);
      }
    const { ids } = await search('Observation?_count=50&value-quantity=lt19,gt21');
    const either = [number('lt19'), number('gt21')];
    expect(ids).toEqual(
      resources.flatMap(resource => {
        const quantity = resource['valueQuantity'] as Quantity | undefined;
        return quantity && either.some(asked => asked(quantity.value, quantity.comparator)) ? [resource.id] : [];
      }),
    );
  });
});
