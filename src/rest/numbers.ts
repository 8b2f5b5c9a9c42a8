/**
 * Converts between the numbers of the REST interface and logical ids. In: the mappings of a type. Out: both
 * directions, or the problems of the mappings. A number is the `number` of a mapping or, without one, the key of the
 * FHIR id if that is a single whole number. docs/interfaces.md
 */
import type { IdPart } from '../mapping/id-rule.ts';
import { createReport, type Problem } from '../mapping/load/problem.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import { expressionKey } from '../sql/expression-key.ts';

export interface Numbers {
  /** Returns the id; undefined if it takes a search of rows by number. */
  idOf(number: number): string | undefined;
  /** Returns the number; undefined if there is none. `returned`: the numbers that a search returned. */
  numberOf(id: string, returned: ReadonlyMap<string, string> | undefined): number | undefined;
}

/** Types whose mappings have to give numbers for the REST interface. */
const NUMBERED_TYPES = ['Patient', 'Encounter'] as const;

/** Returns the conversion of a type's numbers. Undefined: `numberProblems` says why. */
export function numbersOf(registry: Registry, type: string): Numbers | undefined {
  const mappings = registry.ofType(type);
  if (mappings.length === 0) return undefined;
  if (mappings.every(({ number }) => number !== undefined)) return NAMED;
  const [only, ...others] = mappings;
  return only && others.length === 0 ? numbersInIds(only) : undefined;
}

/**
 * Says why the REST interface is not offered: notices at the mappings or in `ccds.yaml`, because a pack may do without.
 * Warns of numbers that nothing uses.
 */
export function numberProblems(registry: Registry, ccds: string): readonly Problem[] {
  const report = createReport();
  const types: readonly string[] = NUMBERED_TYPES;
  for (const mapping of registry.mappings) {
    if (mapping.number && !types.includes(mapping.resource))
      report.warning(
        'limited-interface',
        mapping.at,
        `\`number\` of a mapping of ${mapping.resource}: the REST interface does not use it`,
        {
          expected: types.join(' or '),
        },
      );
  }
  for (const type of types) {
    if (numbersOf(registry, type)) continue;
    const mappings = registry.ofType(type);
    const without = mappings.find(({ number }) => number === undefined);
    if (!without) {
      report.notice('limited-interface', { file: ccds, line: 1, column: 1 }, notOffered(`no mapping is of ${type}`), {
        expected: `a mapping with \`resource: ${type}\`, if the REST interface is wanted`,
      });
      continue;
    }
    const why =
      mappings.length > 1
        ? `${type} has ${mappings.length} mappings, and ${without.name} has no \`number\``
        : `ids of ${without.name} are not made from one key that is a whole number`;
    report.notice('limited-interface', without.at, notOffered(why), {
      expected:
        '`number: {from: COL}`, a column of whole numbers (or of such texts as 000123) that are unique, if the REST interface is wanted',
    });
  }
  return report.problems();
}

function notOffered(why: string): string {
  return `\`$ccd\` is offered, and the REST interface under \`/api\` is not: ${why}`;
}

/** JSON numbers may lose digits beyond 15. */
const WHOLE = /^\d{1,15}$/;

const NAMED: Numbers = {
  idOf: () => undefined,
  numberOf: (id, returned) => {
    const text = returned?.get(id) ?? '';
    return WHOLE.test(text) ? Number(text) : undefined;
  },
};

function numbersInIds(mapping: Mapping): Numbers | undefined {
  const [key, ...moreKeys] = mapping.source.key;
  const [parts, ...alternatives] = mapping.id.alternatives;
  if (key === undefined || moreKeys.length > 0 || parts === undefined || alternatives.length > 0) return undefined;
  const at = parts.findIndex(part => part.kind === 'column');
  const part = parts[at];
  if (part?.kind !== 'column' || part.codec.name !== 'integer' || expressionKey(part.column) !== expressionKey(key))
    return undefined;
  if (parts.some((other, i) => i !== at && other.kind === 'column')) return undefined;
  const before = literals(parts.slice(0, at));
  const after = literals(parts.slice(at + 1));
  return {
    idOf: number => `${before}${number}${after}`,
    numberOf: id => {
      if (!id.startsWith(before) || !id.endsWith(after)) return undefined;
      const text = id.slice(before.length, id.length - after.length);
      return WHOLE.test(text) ? Number(text) : undefined;
    },
  };
}

function literals(parts: readonly IdPart[]): string {
  return parts.map(part => (part.kind === 'literal' ? part.text : '')).join('');
}
