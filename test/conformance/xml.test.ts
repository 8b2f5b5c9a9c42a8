/**
 * XML of every resource that the demo serves: in the order and cardinality of the definitions, and equal to the JSON.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromXml } from '../../src/resource/from-xml.ts';
import { toXml } from '../../src/resource/xml.ts';
import { parseXml } from '../ccda/xml-tree.ts';
import { shareOf } from '../share.ts';
import { type Resource, type ServedDemo, serveDemo } from './demo-resources.ts';
import { readFhirXml } from './xml-schema.ts';

const BASE = 'http://127.0.0.1/fhir/';

let demo: ServedDemo;
beforeAll(async () => {
  demo = await serveDemo();
});
afterAll(() => demo.close());

/** The JSON with each narrative as an element tree, as the XML reader returns it. */
function withTrees(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTrees);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'div' && typeof inner === 'string' ? parseXml(inner) : withTrees(inner),
    ]),
  );
}

/** The resource as the server reads it from a request: without narratives, ids and extensions of primitives. */
function meant(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meant);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      name.startsWith('_') || name === 'div' ? [] : [[name, meant(inner)]],
    ),
  );
}

/** Describes a difference only if there is one: `toEqual` takes ten times as long. */
function expectSame(found: unknown, wanted: unknown, { resourceType, id }: Resource): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found, `${resourceType}/${id}`).toEqual(wanted);
}

test('every resource is valid XML, and the same as its JSON', { timeout: 170_000 }, () => {
  const problems = new Map<string, string>();
  const types = new Set<string>();
  for (const resource of shareOf([...demo.resources.values()].flat(), 5, ({ resourceType }) => resourceType)) {
    const xml = toXml(JSON.stringify(resource));
    const read = readFhirXml(xml);
    types.add(resource.resourceType);
    for (const problem of read.problems) problems.set(problem.replace(/\[\d+\]/g, ''), resource.id);
    expectSame(read.json, withTrees(resource), resource);
    expectSame(fromXml(xml), meant(resource), resource);
  }
  expect([...problems]).toEqual([]);
  expect([...types].toSorted()).toEqual([...demo.facade.offers.types].toSorted());
});

async function both(path: string, init: RequestInit = {}): Promise<{ readonly json: unknown; readonly xml: string }> {
  const answer = async (accept: string): Promise<string> => {
    const response = await demo.app.request(BASE + path, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), Accept: accept },
    });
    expect(response.headers.get('content-type'), path).toBe(`${accept}; charset=utf-8`);
    return response.text();
  };
  return { json: JSON.parse(await answer('application/fhir+json')), xml: await answer('application/fhir+xml') };
}

const BATCH = JSON.stringify({
  resourceType: 'Bundle',
  type: 'batch',
  entry: [
    { request: { method: 'GET', url: 'Patient/1' } },
    { request: { method: 'GET', url: 'Observation?patient=1&_count=2' } },
    { request: { method: 'GET', url: 'Patient/nobody' } },
  ],
});

describe('all other answers are valid XML, and equal to their JSON', () => {
  test.each<[what: string, path: string, init?: RequestInit]>([
    ['a page with includes', 'Observation?_count=5&_include=*&_revinclude=Provenance:target&_total=accurate'],
    ['a page with a warning', 'Patient?_count=2&nothing=1'],
    ['an empty page', 'Patient?_id=nobody'],
    ['a count', 'Patient?_summary=count'],
    ['a summary', 'Patient?_summary=true&_count=3'],
    ['some elements', 'Patient?_elements=name&_count=3'],
    ['several types', '?_type=Patient,Condition&_count=4'],
    ['a whole record', 'Patient/29/$everything?_count=100'],
    ['the CapabilityStatement', 'metadata'],
    ['an error', 'Patient/nobody'],
    ['a refusal of several problems', 'Patient?birthdate=yesterday', { headers: { Prefer: 'handling=strict' } }],
    ['a batch', '', { method: 'POST', headers: { 'Content-Type': 'application/fhir+json' }, body: BATCH }],
  ])('%s', async (_, path, init) => {
    const { json, xml } = await both(path, init);
    const read = readFhirXml(xml);
    expect(read.problems).toEqual([]);
    expect(withoutMoment(read.json)).toEqual(withoutMoment(withTrees(json)));
  });
});

/** Removes the answer's own ids and times, and the sealed links, which differ between two answers. */
function withoutMoment(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) =>
      name === 'timestamp' || name === 'date' ? undefined : inner,
    ).replace(/_cursor=[\w%.~-]+/g, '_cursor'),
  );
}

test('Parameters in XML are read back as they were written', () => {
  const parameters = {
    resourceType: 'Parameters',
    parameter: [
      { name: 'start', valueDate: '2024-01-01' },
      { name: 'type', valueCodeableConcept: { coding: [{ system: 'http://loinc.org', code: '34133-9' }] } },
      { name: 'nested', part: [{ name: 'one', resource: { resourceType: 'Patient', id: '1', active: false } }] },
    ],
  };
  const xml = toXml(JSON.stringify(parameters));
  expect(readFhirXml(xml)).toEqual({ problems: [], json: parameters });
  expect(fromXml(xml)).toEqual(parameters);
});

test.each([
  ['elements out of order', '<active value="true"/><id value="1"/>', 'Patient.id: after active'],
  ['one too many', '<gender value="male"/><gender value="male"/>', 'Patient.gender: more than one'],
  ['two of a choice', '<deceasedBoolean value="true"/><deceasedDateTime value="2020"/>', 'another of a choice'],
  ['an unknown element', '<colour value="red"/>', 'not an element of Patient'],
  ['a required element left out', '<link><type value="refer"/></link>', 'Patient.link.other: missing'],
  ['an empty element', '<name/>', 'Patient.name: empty'],
  ['a value of another type', '<birthDate value="yesterday"/>', 'Patient.birthDate: no date'],
  ['a value as text', '<gender>male</gender>', 'text between elements'],
])('the schema of this test detects %s', (_, content, problem) => {
  const { problems } = readFhirXml(`<Patient xmlns="http://hl7.org/fhir">${content}</Patient>`);
  expect(problems.join('\n')).toContain(problem);
});
