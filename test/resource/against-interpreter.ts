/**
 * Compares the writer of every mapping of a registry with the interpreter on random rows, and checks its output against
 * the rules for any FHIR JSON. Takes any Registry.
 */

import fc from 'fast-check';
import { expect } from 'vitest';
import { parseThing, type Thing } from '../../src/law/thing.ts';
import type { Mapping, Registry } from '../../src/mapping/model.ts';
import { conditionPredicate } from '../../src/plan/condition.ts';
import { environment } from '../../src/plan/environment.ts';
import { targetRelation } from '../../src/plan/presence.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import { compileWriter, type WriteContext } from '../../src/resource/compile.ts';
import { type RowShape, type ShapeResolver, shapeOfGroup } from '../../src/resource/shape.ts';
import { toXml } from '../../src/resource/xml.ts';
import { interpret } from '../law/planned-rows.ts';
import { arbitraryRow, poolsOf, type Samples } from './arbitrary-rows.ts';

const NOW = Date.UTC(2024, 5, 1, 12);

/** Compares all mappings of a group, over their common row shape. Throws on the first difference. */
export function compareGroup(mappings: readonly Mapping[], registry: Registry, rows: number, samples: Samples): void {
  const shape = shapeOfGroup(mappings, { kind: 'all' }, resolverOf(registry));
  for (const mapping of mappings) compare(mapping, shape, registry, rows, samples);
}

function compare(mapping: Mapping, shape: RowShape, registry: Registry, rows: number, samples: Samples): void {
  const writer = compileWriter(mapping, shape);
  const context: WriteContext = { base: 'https://fhir.example', now: NOW, zone: registry.pack.zone };
  fc.assert(
    fc.property(arbitraryRow(shape, poolsOf(mapping, shape, samples)), ({ row, children }) => {
      const json = writer.write(row, children, context);
      const wanted = interpret(mapping, shape, row, children, context);
      expect(json === '').toBe(wanted === undefined);
      if (wanted === undefined) return;
      const written = parseThing(json);
      expect(written).toEqual(wanted);
      expect(JSON.stringify(written)).toBe(JSON.stringify(wanted));
      expect(hollows(written)).toEqual([]);
      expect(toXml(json).isWellFormed()).toBe(true);
    }),
    { numRuns: rows },
  );
}

/** Paths of what FHIR JSON forbids: empty objects, lists and strings, and null. https://hl7.org/fhir/R4/json.html */
function hollows(thing: Thing, path = ''): readonly string[] {
  if (thing === null || thing === '') return [path];
  if (typeof thing !== 'object') return [];
  const inner = Object.entries(thing);
  return inner.length === 0 ? [path] : inner.flatMap(([name, part]) => hollows(part, `${path}.${name}`));
}

function resolverOf(registry: Registry): ShapeResolver {
  const env = environment(registry, NOW, FULL_VISIBILITY);
  return {
    mapping: registry.mapping,
    predicateOf: condition => conditionPredicate(condition, env),
    targetRelation: (mapping, on, expressions) => targetRelation(mapping, on, env, expressions),
  };
}
