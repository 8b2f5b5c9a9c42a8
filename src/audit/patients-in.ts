/**
 * Finds whose data an answer holds. In: a facade. Out: the same facade, which passes to `RequestContext.see` the
 * logical ids of the patients that its answers are about: patients themselves, those that resources refer to, and those
 * whom a search names if the caller may see them. It looks them up if the answer leaves out the elements that name them
 * (`_elements`, `_summary`), or if a resource only refers to one that names them (a Binary, by its security context).
 */
import { type Access, ANY } from '../auth/access.ts';
import { andThen } from '../common/awaitable.ts';
import type { Facade, Parameters, RequestContext } from '../facade.ts';
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import type { Node, Registry } from '../mapping/model.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';

/** In a JSON string quotes are escaped, so these patterns match only resources and references. */
const RESOURCE = /\{"resourceType":"([A-Za-z]+)","id":"([A-Za-z0-9.-]{1,64})"/g;
const REFERENCE = /"reference":"([A-Za-z]+)\/([A-Za-z0-9.-]{1,64})"/g;
const PATIENT = new RegExp(
  `"reference":"${COMPARTMENT_TYPE}/([A-Za-z0-9.-]{1,64})"|\\{"resourceType":"${COMPARTMENT_TYPE}","id":"([A-Za-z0-9.-]{1,64})"`,
  'g',
);

/** Returns the logical ids of the patients that FHIR JSON text holds or refers to. */
export function patientsIn(json: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, referred, own] of json.matchAll(PATIENT)) found.add(referred ?? own ?? '');
  return found;
}

/** Parameters that omit elements. */
const SELECTING: ReadonlySet<string> = new Set(['_elements', '_summary']);
/** Maximum ids in one search. */
const AT_ONCE = 100;

export function seeingPatients<F extends Facade>(facade: F): F {
  const owners = ownersOf(facade.registry);

  /**
   * Reads the elements that name a resource's patients. Uses full access, because the caller already has these
   * resources.
   */
  const lookUp = async (type: string, ids: readonly string[], asked: RequestContext): Promise<readonly string[]> => {
    const { see: _seen, seeNamed: _seeNamed, patient: _narrowed, ...rest } = asked;
    const context: RequestContext = {
      ...rest,
      access: { kind: 'all', caller: asked.access.caller },
      handling: 'strict',
    };
    const selecting = ['_elements', owners.elements(type).join()] as const;
    const texts: string[] = [];
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE);
      const parameters = [['_id', some.join()], ['_count', String(some.length)], selecting] as const;
      const found = await facade.search({ type, parameters }, context);
      texts.push(found.json);
      // A page may have fewer entries than the list.
      const missing = found.entries < some.length ? some : [];
      for (const id of missing) texts.push((await facade.read(type, id, [selecting], context))?.json ?? '');
    }
    return texts;
  };

  const notePatients = async (json: string, parameters: Parameters, context: RequestContext): Promise<void> => {
    const { see } = context;
    if (see === undefined) return;
    see(patientsIn(json));
    const selected = parameters.some(([name]) => SELECTING.has(name));
    const byType = Map.groupBy(json.matchAll(RESOURCE), ([, type = '']) => type);
    for (const [type, resources] of byType) {
      const leads = owners.leads(type);
      if (leads.size === 0 && !(selected && owners.owned(type))) continue;
      const ids = [...new Set(resources.map(([, , id = '']) => id))];
      const texts = selected ? await lookUp(type, ids, context) : [json];
      for (const text of texts) see(patientsIn(text));
      if (leads.size === 0) continue;
      const led = Map.groupBy(
        texts.flatMap(text => [...text.matchAll(REFERENCE)]).filter(([, target = '']) => leads.has(target)),
        ([, target = '']) => target,
      );
      for (const [target, references] of led) {
        const targets = [...new Set(references.map(([, , id = '']) => id))];
        for (const text of await lookUp(target, targets, context)) see(patientsIn(text));
      }
    }
  };

  /** Returns those of these patients whom the caller may see. */
  const visible = async (ids: readonly string[], context: RequestContext): Promise<readonly string[]> => {
    const { access } = context;
    if (access.kind === 'all') return ids;
    if (!facade.offers.types.includes(COMPARTMENT_TYPE)) return [];
    const { see: _seen, seeNamed: _seeNamed, patient: _narrowed, warning: _warning, ...rest } = context;
    const own: Access = {
      ...access,
      permissions: access.permissions.flatMap(({ type, within }) =>
        type === ANY || owners.owned(type)
          ? [{ type: COMPARTMENT_TYPE, read: true, search: true, within, where: [], except: [] }]
          : [],
      ),
    };
    if (own.permissions.length === 0) return [];
    const found: string[] = [];
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE);
      const parameters = [
        ['_id', some.join()],
        ['_count', String(some.length)],
        ['_elements', 'id'],
      ] as const;
      const request = { type: COMPARTMENT_TYPE, parameters };
      const { json } = await facade.search(request, { ...rest, access: own, handling: 'strict' });
      found.push(...patientsIn(json));
    }
    return found;
  };

  /** Answers, and reports the patients in the answer and those whom the request names. */
  const watched = async <T extends { readonly json: string }>(
    parameters: Parameters,
    context: RequestContext,
    answer: (context: RequestContext) => Promise<T>,
  ): Promise<T> => {
    const { see } = context;
    if (see === undefined) return answer(context);
    const named = new Set<string>();
    const note = (to: Set<string>) => (ids: Iterable<string>) => {
      for (const id of ids) to.add(id);
    };
    const found = await answer({ ...context, seeNamed: note(named) });
    const seen = new Set<string>();
    await notePatients(found.json, parameters, { ...context, see: note(seen) });
    see(seen);
    const others = [...named].filter(id => !seen.has(id));
    if (others.length > 0) see(await visible(others, context));
    return found;
  };

  return {
    ...facade,
    read(type, id, parameters, context) {
      return andThen(facade.read(type, id, parameters, context), resource => {
        if (resource === undefined || context.see === undefined) return resource;
        if (owners.leads(type).size > 0 || parameters.some(([name]) => SELECTING.has(name)))
          return notePatients(resource.json, parameters, context).then(() => resource);
        context.see(patientsIn(resource.json));
        return resource;
      });
    },
    search: (request, context) => watched(request.parameters, context, listening => facade.search(request, listening)),
    async *searchPages(request, context) {
      for await (const page of facade.searchPages(request, context)) {
        if (context.see !== undefined) await notePatients(page.texts.join('\n'), request.parameters, context);
        yield page;
      }
    },
    searchAll: (parameters, context) =>
      watched(parameters, context, listening => facade.searchAll(parameters, listening)),
    searchCompartment: (asked, context) =>
      watched(asked.parameters, context, listening => facade.searchCompartment(asked, listening)),
    operate: (operation, id, parameters, context) =>
      watched(parameters, context, listening => facade.operate(operation, id, parameters, listening)),
  };
}

interface Owners {
  /** True if resources of the type name their patients. */
  owned(type: string): boolean;
  /** If they do not: returns the types that they refer to and whose resources name patients. */
  leads(type: string): ReadonlySet<string>;
  /** Returns the elements that refer to patients, or to resources that name them. */
  elements(type: string): readonly string[];
}

function ownersOf(registry: Registry): Owners {
  const targetsOf = new Map(registry.types.map(type => [type, targets(type, registry)]));
  const owned = (type: string): boolean =>
    type === COMPARTMENT_TYPE || (targetsOf.get(type)?.has(COMPARTMENT_TYPE) ?? false);
  const leads = new Map(
    registry.types.map(type => {
      const led = owned(type) ? [] : [...(targetsOf.get(type)?.keys() ?? [])].filter(owned);
      return [type, new Set(led)];
    }),
  );
  const none: ReadonlySet<string> = new Set();
  return {
    owned,
    leads: type => leads.get(type) ?? none,
    elements(type) {
      const wanted = owned(type) ? [COMPARTMENT_TYPE] : [...(leads.get(type) ?? none)];
      const names = wanted.flatMap(target => [...(targetsOf.get(type)?.get(target) ?? [])]);
      return ['id', ...new Set(names)];
    },
  };
}

/** Returns the types that a type refers to, each with the elements that do. */
function targets(type: string, registry: Registry): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const note = (target: string, element: string): void => {
    found.set(target, (found.get(target) ?? new Set()).add(element));
  };
  const see = (node: Node, element: string): void => {
    if (node.kind === 'ref') note(registry.mapping(node.target).resource, element);
    for (const child of childrenOf(node)) see(child, element);
  };
  for (const mapping of registry.ofType(type)) {
    for (const { name, node } of mapping.root.members.flatMap(namedNodesOf)) see(node, name);
  }
  return found;
}
