/**
 * Finds references across charts: a resource of one patient that refers to a resource of another. A join on the wrong
 * column often finds rows by chance; every reference then resolves and is wrong. In: the sample, and the facade for
 * targets. Out: a problem per reference of a mapping, with numbers.
 */
import { plural } from '../common/plural.ts';
import { indexOf } from '../law/oracle.ts';
import { allOf } from '../law/searches.ts';
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import { createReport } from '../mapping/load/problem.ts';
import type { Mapping, Node, RefNode, Registry } from '../mapping/model.ts';
import { COMPARTMENT_TYPE, patientCompartmentOf, searchParameterOf } from '../r4/search-parameters.ts';
import type { CheckContext, CheckSection, SampledResource, SectionResult } from './section.ts';

type Json = Readonly<Record<string, unknown>>;

/** Ids per search. */
const AT_ONCE = 50;
/**
 * From this share of crossings on, the join is wrong. Fewer are possible: a newborn's encounters may be part of the
 * mother's.
 */
const BY_CHANCE = 0.1;
/** Fewer crossings are errors in the rows, not in the join. */
const FEW = 3;
const NONE = { compared: 0, crossing: 0 };

export const WHOSE: CheckSection = {
  name: 'whose',
  title: 'References from one chart to another',
  async run(context) {
    const sample = Map.groupBy(await context.sample(), ({ mapping }) => mapping);
    const rows: (string | number)[][] = [];
    const report = createReport();
    let left = 0;
    for (const [mapping, resources] of sample) {
      for (const { path, node } of chartReferences(mapping, context.registry)) {
        if (context.signal.aborted) {
          left++;
          continue;
        }
        const type = typeOf(node, context.registry);
        const element = `${mapping.resource}.${path.join('.')}`;
        const found = await crossings(resources, path, type, context).catch((error: unknown) => {
          if (context.refused(error, `references of ${element}`)) return NONE;
          throw error;
        });
        const { compared, crossing } = found;
        if (compared === 0) continue;
        rows.push([mapping.name, path.join('.'), compared, crossing]);
        if (crossing === 0) continue;
        const reportAs = crossing >= Math.max(FEW, compared * BY_CHANCE) ? report.error : report.warning;
        reportAs(
          'wrong-patient',
          node.at,
          `${crossing} of ${plural(compared, 'reference')} lead to ${typeOf(node, context.registry)} resources of another patient`,
          {
            expected: 'columns with the same content on both sides',
            found: node.on.map(on => on.ours.column).join(' and '),
          },
        );
      }
    }
    return {
      problems: report.problems(),
      notes: left > 0 ? [`The time budget ended before ${plural(left, 'reference')} could be compared.`] : [],
      tables: [
        {
          name: 'references',
          title: 'References within charts',
          columns: ['mapping', 'element', 'compared', 'of another patient'],
          rows,
        },
      ],
    } satisfies SectionResult;
  },
};

interface Placed {
  readonly path: readonly string[];
  readonly node: RefNode;
}

const typeOf = (node: RefNode, registry: Registry): string => registry.mapping(node.target).resource;

/** Finds the references from a resource in the patient compartment to another in it. */
function chartReferences(mapping: Mapping, registry: Registry): readonly Placed[] {
  if (patientCompartmentOf(mapping.resource).length === 0) return [];
  const found: Placed[] = [];
  const visit = (node: Node, path: readonly string[]): void => {
    if (node.kind === 'ref') {
      const type = typeOf(node, registry);
      if (node.as === 'reference' && type !== COMPARTMENT_TYPE && patientCompartmentOf(type).length > 0)
        found.push({ path, node });
      return;
    }
    if (node.kind !== 'object') {
      for (const child of childrenOf(node)) visit(child, path);
      return;
    }
    for (const { name, node: child } of node.members.flatMap(namedNodesOf)) visit(child, [...path, name]);
  };
  visit(mapping.root, []);
  return found;
}

/** Counts the references at the path that lead into a chart, and those that lead into another patient's chart. */
async function crossings(
  sample: readonly SampledResource[],
  path: readonly string[],
  type: string,
  { facade }: CheckContext,
): Promise<{ readonly compared: number; readonly crossing: number }> {
  const pairs = sample.flatMap(({ resource }) =>
    valuesAt(resource, path).flatMap(value => {
      const reference = (value as Json)['reference'];
      // If the `target` gives the record and its patient, take the record.
      return typeof reference === 'string' && reference.startsWith(`${type}/`) ? [{ resource, reference }] : [];
    }),
  );
  const owners = new Map<string, ReadonlySet<string>>();
  const references = [...new Set(pairs.map(pair => pair.reference))];
  for (let i = 0; i < references.length; i += AT_ONCE) {
    const ids = references.slice(i, i + AT_ONCE).map(reference => reference.slice(type.length + 1));
    for (const found of await allOf(facade, type, [['_id', ids.join(',')]]))
      owners.set(`${type}/${found.id}`, patientsOf(type, found));
  }
  let compared = 0;
  let crossing = 0;
  for (const { resource, reference } of pairs) {
    const theirs = owners.get(reference);
    const own = patientsOf(String(resource['resourceType']), resource);
    if (theirs === undefined || theirs.size === 0 || own.size === 0) continue;
    compared++;
    if (![...own].some(patient => theirs.has(patient))) crossing++;
  }
  return { compared, crossing };
}

/** Returns all values at a path of elements, with the items of lists separately. */
function valuesAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const [name, ...rest] = path;
  if (Array.isArray(value)) return value.flatMap(item => valuesAt(item, path));
  if (value === null || typeof value !== 'object') return [];
  return name === undefined ? [value] : valuesAt((value as Json)[name], rest);
}

/** Returns the patients whose compartments contain a resource, as `Patient/1`. */
function patientsOf(type: string, resource: Json): ReadonlySet<string> {
  const patients = new Set<string>();
  for (const code of patientCompartmentOf(type)) {
    const expression = searchParameterOf(type, code)?.expression;
    if (expression === undefined) continue;
    for (const { value } of indexOf(resource, expression)) {
      const reference = value !== null && typeof value === 'object' ? (value as Json)['reference'] : undefined;
      if (typeof reference === 'string' && reference.startsWith(`${COMPARTMENT_TYPE}/`)) patients.add(reference);
    }
  }
  return patients;
}
