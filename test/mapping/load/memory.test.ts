/**
 * A check with a memory of earlier checks reports the same as one without, whatever was typed in between. In: random
 * edits of packs, one after another. Out: the same problems and the same mappings after each.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type PackFiles, readPackFiles } from '../../../src/mapping/load/read/files.ts';
import type { Registry } from '../../../src/mapping/model.ts';
import { makeOffers } from '../../../src/plan/offers.ts';
import { CheckMemory } from '../../../src/start/check-memory.ts';
import { DEMO_PACK } from '../../../src/start/demo.ts';
import { loadWhole } from '../../../src/start/setup.ts';
import { keptClinic } from '../../cli/small-clinic.ts';
import { runsOf } from '../../share.ts';

/**
 * A pack with every kind of dependency between its parts: fragments, code maps, lists, targets, dates in text columns,
 * variants.
 */
const FILES = {
  'schema.lock.json': JSON.stringify({
    engine: 'sqlite',
    tables: {
      PERSON: {
        columns: { ID: 'INTEGER', SURNAME: 'VARCHAR(40) NULL', BORN: 'DATE NULL', SEX: 'CHAR(1) NULL' },
        ...{ primaryKey: ['ID'], indexes: {} },
      },
      WEIGHING: {
        columns: { NO: 'INTEGER', PERSON_ID: 'INTEGER', TAKEN: 'DATETIME NULL', KG: 'DECIMAL(6,2) NULL' },
        ...{ primaryKey: ['NO'], indexes: {} },
      },
    },
  }),
  'pack.yaml': `name: small
title: A small clinic
zone: Europe/Warsaw
systems: { loinc: http://loinc.org, ucum: http://unitsofmeasure.org }
absent: { date: [1900-01-01], text: [none] }
lists: { heavy: [7, 8] }
fragments:
  named: { family: { from: $column } }
  weight: { value: { from: KG }, unit: kg, system: http://unitsofmeasure.org, code: kg }
`,
  'codes.yaml': `sex:
  system: http://hl7.org/fhir/administrative-gender
  rows: { F: female, M: male }
kind:
  system: loinc
  else: absent
`,
  'kind.csv': `raw,code,display
7,29463-7,Body weight
8,3141-9,Body weight measured
`,
  'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { insert: named, $column: SURNAME } ]
  gender: { from: SEX, via: sex }
  birthDate: { from: SURNAME, via: ymd8 }
---
mapping: places
resource: Organization
source:
  table: PERSON
  as: o
  key: [ID]
  where: { present: SURNAME }
id: "place-{ID}"
compartment: { none: rooms are called after people }
elements:
  active: true
  name: { from: SURNAME }
`,
  'weighing.yaml': `mapping: weights
resource: Observation
source:
  table: WEIGHING
  as: w
  key: [NO]
  where: { NO: { in-list: heavy } }
  lookup:
    who: { table: PERSON, on: { ID: PERSON_ID } }
variants:
  - with: [$name, $kind]
    rows: [[heavy, 7], [light, 8]]
    variant: $name
    id: "$name-$kind-{NO}"
    needs: [code]
    elements:
      note: [ { text: { from: who.SURNAME } } ]
      code: { from: NO, via: kind }
elements:
  status: final
  subject: { ref: people, on: { ID: PERSON_ID } }
  performer: [ { ref: places, on: { ID: PERSON_ID } } ]
  effectiveDateTime: { from: TAKEN }
  valueQuantity: { insert: weight }
`,
};

interface Edit {
  readonly file: number;
  readonly line: number;
  readonly word: number;
  readonly other: number;
  readonly how: 'drop line' | 'double line' | 'change word' | 'blank line' | 'letter' | 'restore' | 'restore all';
}

const edit: fc.Arbitrary<Edit> = fc.record({
  file: fc.nat(),
  line: fc.nat(),
  word: fc.nat(),
  other: fc.nat(),
  how: fc.constantFrom<Edit['how'][]>(
    ...(['drop line', 'double line', 'change word', 'change word', 'blank line', 'letter', 'restore'] as const),
    ...(['restore', 'restore', 'restore all'] as const),
  ),
});

/** The texts with one more edit. */
function edited(
  saved: ReadonlyMap<string, string>,
  texts: ReadonlyMap<string, string>,
  { file, line, word, other, how }: Edit,
): ReadonlyMap<string, string> {
  if (how === 'restore all') return saved;
  const paths = [...texts.keys()];
  const path = paths[file % paths.length] ?? '';
  const lines = (texts.get(path) ?? '').split('\n');
  const at = line % lines.length;
  const words = [...saved.values()].join('\n').match(/[\w-]+/g) ?? [];
  const changed = (): readonly string[] => {
    const before = lines[at] ?? '';
    switch (how) {
      case 'drop line':
        return lines.toSpliced(at, 1);
      case 'double line':
        return lines.toSpliced(at, 0, before);
      case 'blank line':
        return lines.toSpliced(at, 0, '');
      case 'letter':
        return lines.with(
          at,
          before.slice(0, word % (before.length + 1)) + 'x:"{ '[other % 5] + before.slice(word % (before.length + 1)),
        );
      case 'change word': {
        const found = [...before.matchAll(/[\w-]+/g)];
        const one = found[word % Math.max(found.length, 1)];
        if (!one) return lines;
        const put = words[other % words.length] ?? '';
        return lines.with(at, before.slice(0, one.index) + put + before.slice(one.index + one[0].length));
      }
      default:
        return (saved.get(path) ?? '').split('\n');
    }
  };
  return new Map([...texts, [path, changed().join('\n')]]);
}

/** The comparable parts of what was loaded. */
function told(files: PackFiles, memory: CheckMemory, isOffered = false): string {
  const { pack, content, access } = loadWhole(files, undefined, {
    packMemory: memory.pack,
    searchMemory: memory.searches,
  });
  const { problems, registry } = pack;
  const all = {
    problems,
    mappings: registry?.mappings,
    pack: registry?.pack,
    codes: registry?.codeMaps,
    content,
    access,
    offers: isOffered && registry && offersIn(registry),
  };
  return JSON.stringify(all, (_, value: unknown) =>
    value instanceof Map ? [...value] : value instanceof Set ? [...value] : value,
  );
}

/** The offered searches: the memory also holds whether a mapping can invert a value. */
function offersIn(registry: Registry): unknown {
  const offers = makeOffers(registry);
  return offers.types.map(type =>
    offers
      .of(type)
      .map(({ parameter, inverse, modifiers, byDigits }) => [parameter.code, inverse, modifiers, byDigits]),
  );
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function holds(folder: string, runs: number, edits: number, isOffered = false): void {
  const files = readPackFiles(folder);
  const all = [files.pack, files.ccds, files.access, ...files.codes, ...files.tables, ...files.mappings];
  const saved = new Map(all.flatMap(file => (file ? [[file.path, file.text] as const] : [])));
  fc.assert(
    fc.property(fc.array(edit, { minLength: edits, maxLength: edits }), list => {
      const memory = new CheckMemory();
      told(files, memory);
      let texts: ReadonlyMap<string, string> = saved;
      for (const one of list) {
        texts = edited(saved, texts, one);
        const now = readPackFiles(folder, undefined, texts);
        expect(told(now, memory, isOffered)).toBe(told(now, new CheckMemory(), isOffered));
      }
    }),
    { numRuns: runs },
  );
}

test('a check with a memory equals one without: random edits of a small pack', { timeout: 300_000 }, () => {
  const { folder, pack } = keptClinic(FILES);
  folders.push(folder);
  expect(loadWhole(readPackFiles(pack), undefined).pack.problems).toEqual([]);
  holds(pack, runsOf(30), 12, true);
});

test('a check with a memory equals one without: random edits of the demo pack', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  folders.push(folder);
  cpSync(DEMO_PACK, folder, { recursive: true });
  holds(folder, 1, runsOf(20));
});

test('a check with a memory equals one without: code systems change one by one', { timeout: 300_000 }, () => {
  const { folder, pack } = keptClinic(FILES);
  folders.push(folder);
  const saved = FILES['pack.yaml'];
  const memory = new CheckMemory();
  const loads = (text: string): string => {
    const files = readPackFiles(pack, undefined, new Map([['pack.yaml', text]]));
    const loaded = told(files, memory);
    expect(loaded).toBe(told(files, new CheckMemory()));
    return loaded;
  };
  expect(loads(saved)).toContain('http://loinc.org');
  expect(loads(saved.replace('loinc: http://loinc.org', 'loinc: urn:oid:1.2.3'))).toContain('urn:oid:1.2.3');
  expect(loads(saved.replace('loinc: http://loinc.org', 'loinc2: http://loinc.org'))).toContain('unknown system');
  expect(loads(saved.replace('title: A small clinic', 'title: A large one'))).toContain('A large one');
  expect(loads(saved.replace('[1900-01-01]', '[1901-01-01]'))).not.toContain('unknown');
  expect(loads(saved)).not.toContain('unknown system');
});

test('a change of one code system rechecks only the mappings that use it', { timeout: 300_000 }, () => {
  const memory = new CheckMemory();
  const load = (text?: string) => {
    const files = readPackFiles(DEMO_PACK, undefined, new Map(text === undefined ? [] : [['pack.yaml', text]]));
    const { registry } = loadWhole(files, undefined, { packMemory: memory.pack, searchMemory: memory.searches }).pack;
    return new Set(registry?.mappings);
  };
  const text = readPackFiles(DEMO_PACK).pack?.text ?? '';
  const before = load();
  const after = load(text.replace('urn:ietf:bcp:47', 'urn:ietf:bcp:4711'));
  expect(after.size).toBe(before.size);
  const others = [...after].filter(one => !before.has(one)).length;
  expect(others).toBeGreaterThan(0);
  expect(others).toBeLessThan(before.size / 4);
});

test('a check with a memory equals one without: a document reads a column as dates, another one compares it', () => {
  const { folder, pack } = keptClinic(FILES);
  folders.push(folder);
  const saved = FILES['person.yaml'];
  const memory = new CheckMemory();
  const texts = [saved, saved.replace('from: SURNAME, via: ymd8', 'from: BORN           '), saved];
  const all = texts.map(text => {
    const files = readPackFiles(pack, undefined, new Map([['person.yaml', text]]));
    const loaded = told(files, memory);
    expect(loaded).toBe(told(files, new CheckMemory()));
    return loaded;
  });
  expect(all[1]).not.toContain('19000101');
  expect(all[2]).toContain('19000101');
});
