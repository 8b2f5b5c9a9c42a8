/** The CapabilityStatement of the demo is valid, complete for US Core, and true: the server does all that it states. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { groupsOf, VERSIONS } from '../../src/coverage/guide.ts';
import { facadeOf } from '../../src/start/setup.ts';
import { validateResource } from '../../src/validation/validator.ts';
import { type ServedDemo, serveDemo } from './demo-resources.ts';

interface Parameter {
  readonly name: string;
  readonly type: string;
}

interface ResourceEntry {
  readonly type: string;
  readonly supportedProfile?: readonly string[];
  readonly searchParam?: readonly Parameter[];
  readonly searchInclude?: readonly string[];
  readonly searchRevInclude?: readonly string[];
  readonly operation?: readonly { readonly name: string; readonly definition: string }[];
}

interface Statement {
  readonly instantiates?: readonly string[];
  readonly rest: readonly {
    readonly security: { readonly cors: boolean };
    readonly interaction: readonly { readonly code: string }[];
    readonly compartment: readonly string[];
    readonly searchParam: readonly Parameter[];
    readonly resource: readonly ResourceEntry[];
  }[];
}

let demo: ServedDemo;
let statement: Statement;
let resources: ReadonlyMap<string, ResourceEntry>;
beforeAll(async () => {
  demo = await serveDemo([]);
  statement = (await (await demo.app.request('/fhir/metadata')).json()) as Statement;
  resources = new Map(statement.rest[0]?.resource.map(entry => [entry.type, entry]));
});
afterAll(() => demo.close());

const ask = async (path: string): Promise<number> =>
  (await demo.app.request(`/fhir/${path}`, { headers: { prefer: 'handling=strict' } })).status;

/** A value that is valid for any parameter of the type. */
const VALUES: Readonly<Record<string, string>> = {
  token: 'x',
  string: 'x',
  uri: 'urn:x',
  date: '2026',
  number: '1',
  quantity: '1',
  reference: 'x',
};

test('is a valid resource, and claims to be a server of US Core and of bulk data', () => {
  expect(validateResource(statement)).toEqual([]);
  expect(statement.instantiates).toEqual([
    'http://hl7.org/fhir/us/core/CapabilityStatement/us-core-server',
    'http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data',
  ]);
});

describe.each(VERSIONS)('US Core %s', version => {
  test.each(groupsOf(version).map(group => [group.name, group] as const))('%s', (_name, group) => {
    const entry = resources.get(group.type);
    expect(entry?.supportedProfile ?? []).toContain(group.profile);
    const offered = new Set(entry?.searchParam?.map(({ name }) => name));
    const asked = group.searches.flatMap(({ parameters }) => parameters.map(({ code }) => code));
    expect(asked.filter(code => !offered.has(code))).toEqual([]);
    if (group.revinclude) expect(entry?.searchRevInclude).toContain('Provenance:target');
  });
});

test('US Core’s operation is offered under its own address', () => {
  expect(resources.get('DocumentReference')?.operation).toContainEqual({
    name: 'docref',
    definition: 'http://hl7.org/fhir/us/core/OperationDefinition/docref',
  });
});

test('the definition of an operation says where it is called', async () => {
  const bundle = (await (await demo.app.request('/fhir/OperationDefinition?_count=50')).json()) as {
    readonly entry: readonly { readonly resource: Readonly<Record<string, unknown>> }[];
  };
  const levels = ['system', 'type', 'instance'];
  const found = bundle.entry.map(({ resource }) => [resource['id'], levels.filter(level => resource[level] === true)]);
  expect(Object.fromEntries(found)).toMatchObject({
    ...{ docref: ['type'], 'patient-everything': ['instance'], export: ['system'] },
    ...{ 'patient-export': ['type'], 'group-export': ['type', 'instance'] },
  });
  const base = 'http://hl7.org/fhir/us/core/OperationDefinition/docref';
  expect(bundle.entry.map(({ resource }) => resource)).toContainEqual(
    expect.objectContaining({ id: 'docref', base, resource: ['DocumentReference'] }),
  );
});

test('every listed parameter, include and reverse include is answered', { timeout: 300_000 }, async () => {
  const refused: string[] = [];
  const see = async (path: string): Promise<void> => {
    if ((await ask(`${path}&_count=1&_elements=id`)) !== 200) refused.push(path);
  };
  for (const [type, { searchParam = [], searchInclude = [], searchRevInclude = [] }] of resources) {
    for (const { name, type: kind } of searchParam)
      if (kind !== 'composite') await see(`${type}?${name}=${encodeURIComponent(VALUES[kind] ?? 'x')}`);
    for (const include of searchInclude) await see(`${type}?_include=${include}`);
    for (const include of searchRevInclude) await see(`${type}?_revinclude=${include}`);
  }
  expect(refused).toEqual([]);
});

test('the wildcard includes are listed for types with references', () => {
  for (const [type, { searchParam = [], searchInclude, searchRevInclude = [] }] of resources) {
    const references = searchParam
      .filter(({ name }) => (demo.facade.offers.find(type, name)?.targets ?? []).length > 0)
      .map(({ name }) => `${type}:${name}`);
    expect(searchInclude, type).toEqual(references.length === 0 ? undefined : ['*', `${type}:*`, ...references]);
    const sources = searchRevInclude.map(reference => reference.split(':')[0] ?? '');
    expect(searchRevInclude, type).toEqual(expect.arrayContaining(sources.map(source => `${source}:*`)));
    expect(new Set(searchRevInclude).size, type).toBe(searchRevInclude.length);
  }
  expect(resources.get('Observation')?.searchInclude).toContain('*');
  // A questionnaire is identified by its canonical URL, which is no reference to a resource.
  expect(resources.get('QuestionnaireResponse')?.searchInclude).not.toContain('QuestionnaireResponse:questionnaire');
});

test('CORS is declared where it is enabled', async () => {
  expect(statement.rest[0]?.security).toEqual({ cors: false });
  const config = readConfig({ CORS_ORIGINS: 'https://app.example.org' });
  const open = facadeOf(demo.registry, demo.database, new Date(0), config);
  expect(open.capabilities({ base: 'http://localhost/fhir' })).toMatchObject({ rest: [{ security: { cors: true } }] });
});

test('every type is searched by POST too', async () => {
  for (const type of resources.keys()) {
    const { status } = await demo.app.request(`/fhir/${type}/_search`, {
      method: 'POST',
      body: '_id=x&_count=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded', prefer: 'handling=strict' },
    });
    expect(status, type).toBe(200);
  }
});

test('the system and a patient compartment are searched by their listed parameters', async () => {
  const [rest] = statement.rest;
  expect(rest?.interaction.map(({ code }) => code)).toEqual(['search-system', 'batch']);
  const names = rest?.searchParam.map(({ name }) => name) ?? [];
  expect(names).toEqual(expect.arrayContaining(['_id', '_lastUpdated', '_profile', '_security', '_tag']));
  for (const { name, type } of rest?.searchParam ?? [])
    expect(await ask(`?${name}=${VALUES[type]}&_count=1`), name).toBe(200);
  expect(rest?.compartment).toEqual(['http://hl7.org/fhir/CompartmentDefinition/patient']);
  expect(await ask('Patient/1/Condition?_count=1')).toBe(200);
});

test('every operation has a definition, and an address that answers', async () => {
  for (const [type, { operation = [] }] of resources) {
    for (const { name, definition } of operation) {
      if (name === 'export') continue;
      const statuses = [await ask(`${type}/$${name}?patient=1`), await ask(`${type}/1/$${name}?_count=1`)];
      expect(statuses, `${type} $${name}`).toContain(200);
      expect(definition).toMatch(/^http:\/\/hl7\.org\/fhir\//);
    }
  }
});
