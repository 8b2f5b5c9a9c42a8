/** The part of a schema that a pack names, found before anything is known of the schema. */
import { expect, it } from 'vitest';
import { loadPack } from '../../../src/mapping/load/pack/pack.ts';
import { partNamed } from '../../../src/mapping/load/pack/part-named.ts';
import { type PackFiles, readPackFiles } from '../../../src/mapping/load/read/files.ts';
import { tablesOf } from '../../../src/mapping/load/rows/tables-used.ts';
import { DEMO_PACK } from '../../../src/start/demo.ts';

const pack = (text: string, ...mappings: readonly string[]): PackFiles => ({
  pack: { path: 'pack.yaml', text: `name: a\ntitle: A\nzone: UTC\n${text}` },
  codes: [{ path: 'codes.yaml', text: 'drug:\n  table: dbo.DRUG\n  key: CD\n  code: NDC\n' }],
  tables: [],
  mappings: mappings.map((source, i) => ({ path: `${i}.yaml`, text: source })),
  ccds: undefined,
  lock: undefined,
  version: '0',
  changed: 0,
});

it('lists every table that the mappings of the demo read', () => {
  const files = readPackFiles(DEMO_PACK);
  const { registry } = loadPack(DEMO_PACK, undefined);
  if (registry === undefined) throw new Error('the demo has errors');
  const { tables } = partNamed({ ...files, lock: undefined });
  expect([...tablesOf(registry)].filter(name => !tables.includes(name))).toEqual([]);
});

it('finds tables with a schema, in quotes, within braces, and of code maps', () => {
  const { tables } = partNamed(
    pack(
      '',
      'source: { table: PERSON, as: p }',
      'source:\n  table: "ehr.Visit"\nlookup: { x: {"table": \'dbo.WARD\'} }',
      'source: { table: Order Lines , as: o }\n---\nsource:\n  table: dbo.Größe   # of rooms\n  as: g',
    ),
  );
  expect(tables).toEqual(['drug', 'person', 'visit', 'ward', 'order lines', 'größe']);
});

it('requests the tables of column rules, and columns of any table', () => {
  const rules = 'deny: [dbo.STAFF.PIN, "*.SSN", PWD, "*.*_HASH", "X*.Y"]\nabsent: { columns: { PT.PHONE: [N/A] } }\n';
  expect(partNamed(pack(rules))).toEqual({ tables: ['drug', 'staff', 'pt'], columns: ['ssn', 'pwd', 'y'] });
});

it('lists nothing for an unreadable pack', () => {
  expect(partNamed({ ...pack(''), pack: { path: 'pack.yaml', text: '[}' }, codes: [] })).toEqual({
    tables: [],
    columns: [],
  });
});
