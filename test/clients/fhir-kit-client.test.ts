/**
 * fhir-kit-client's usual calls, over the wire. https://github.com/Vermonster/fhir-kit-client
 */
import { Client } from 'fhir-kit-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StartedDemo, startDemo } from './started-demo.ts';

interface Bundle {
  readonly resourceType: string;
  readonly type: string;
  readonly total?: number;
  readonly entry?: readonly {
    readonly resource?: { readonly resourceType: string; readonly id: string };
    readonly response?: { readonly status: string };
  }[];
}

let demo: StartedDemo;
let client: Client;
beforeAll(async () => {
  demo = await startDemo();
  client = new Client({ baseUrl: demo.base });
});
afterAll(() => demo.stop());

const bundle = (answer: unknown): Bundle => answer as Bundle;
const ids = ({ entry = [] }: Bundle): readonly string[] =>
  entry.map(({ resource }) => `${resource?.resourceType}/${resource?.id}`);

describe('fhir-kit-client', () => {
  test('reads the capabilities, and finds the supported features in them', async () => {
    const statement = (await client.capabilityStatement()) as unknown as {
      readonly fhirVersion: string;
      readonly rest: readonly {
        readonly interaction: readonly { readonly code: string }[];
        readonly resource: readonly {
          readonly type: string;
          readonly operation?: readonly { readonly name: string }[];
        }[];
      }[];
    };
    expect(statement.fhirVersion).toBe('4.0.1');
    const [rest] = statement.rest;
    expect(rest?.interaction.map(({ code }) => code)).toEqual(['search-system', 'batch']);
    const operations = rest?.resource.flatMap(({ type, operation = [] }) =>
      operation.map(({ name }) => `${type}/$${name}`),
    );
    expect(operations).toEqual(expect.arrayContaining(['Patient/$everything', 'DocumentReference/$docref']));
  });

  test('reads, searches by GET and by POST, and finds the same', async () => {
    const patient = await client.read({ resourceType: 'Patient', id: '1' });
    expect(patient).toMatchObject({ resourceType: 'Patient', id: '1' });
    const searchParams = { patient: '1', category: 'laboratory', _count: 5 };
    const got = bundle(await client.search({ resourceType: 'Observation', searchParams }));
    const posted = bundle(
      await client.search({ resourceType: 'Observation', searchParams, options: { postSearch: true } }),
    );
    expect(ids(got)).toHaveLength(5);
    expect(ids(posted)).toEqual(ids(got));
  });

  test('follows page links to the last page', async () => {
    let page: unknown = await client.resourceSearch({
      resourceType: 'Encounter',
      searchParams: { patient: '1', _count: 9 },
    });
    const found: string[] = [];
    for (let n = 0; page && n < 50; n++) {
      found.push(...ids(bundle(page)));
      page = await client.nextPage({ bundle: page as Parameters<typeof client.nextPage>[0]['bundle'] });
    }
    const whole = bundle(
      await client.search({ resourceType: 'Encounter', searchParams: { patient: '1', _count: 1000 } }),
    );
    expect(found.length).toBeGreaterThan(18);
    expect(found).toEqual(ids(whole));
  });

  test('searches the system, and the compartment of a patient', async () => {
    const system = bundle(await client.systemSearch({ searchParams: { _type: 'Patient,Location', _count: 3 } }));
    expect(ids(system)).toHaveLength(3);
    const compartment = { resourceType: 'Patient', id: '1' };
    const own = bundle(
      await client.compartmentSearch({ resourceType: 'Condition', compartment, searchParams: { _count: 1000 } }),
    );
    const direct = bundle(
      await client.search({ resourceType: 'Condition', searchParams: { patient: '1', _count: 1000 } }),
    );
    expect(ids(own)).toEqual(ids(direct));
    expect(ids(own).length).toBeGreaterThan(0);
  });

  test('calls operations by GET and by POST', async () => {
    const call = { name: 'everything', resourceType: 'Patient', id: '1' };
    const got = bundle(await client.operation({ ...call, method: 'GET', input: { _count: 10, _type: 'Condition' } }));
    const posted = bundle(
      await client.operation({
        ...call,
        method: 'POST',
        input: {
          resourceType: 'Parameters',
          parameter: [
            { name: '_count', valueInteger: 10 },
            { name: '_type', valueCode: 'Condition' },
          ],
        } as never,
      }),
    );
    expect(ids(got)).toHaveLength(10);
    expect(ids(posted)).toEqual(ids(got));
    const documents = bundle(
      await client.operation({
        name: 'docref',
        resourceType: 'DocumentReference',
        method: 'GET',
        input: { patient: '1' },
      }),
    );
    expect(ids(documents).every(name => name.startsWith('DocumentReference/'))).toBe(true);
    expect(ids(documents).length).toBeGreaterThan(0);
  });

  test('sends batches, and is refused a transaction', async () => {
    const entry = ['Patient/1', 'Observation?patient=1&_count=1', 'Patient/none'].map(url => ({
      request: { method: 'GET', url },
    }));
    const answer = bundle(await client.batch({ body: { resourceType: 'Bundle', type: 'batch', entry } as never }));
    expect(answer.type).toBe('batch-response');
    expect(answer.entry?.map(({ response }) => response?.status)).toEqual(['200 OK', '200 OK', '404 Not Found']);
    const transaction = { resourceType: 'Bundle', type: 'transaction', entry } as never;
    await expect(client.transaction({ body: transaction })).rejects.toMatchObject({ response: { status: 400 } });
  });

  test('resolves a reference', async () => {
    const [condition] =
      bundle(await client.search({ resourceType: 'Condition', searchParams: { patient: '1', _count: 1 } })).entry ?? [];
    const { subject } = (condition?.resource ?? {}) as unknown as { readonly subject: { readonly reference: string } };
    expect(await client.resolve({ reference: subject.reference })).toMatchObject({ resourceType: 'Patient', id: '1' });
  });

  test.each([
    ['vread', () => client.vread({ resourceType: 'Patient', id: '1', version: '1' }), 404],
    ['history', () => client.history({ resourceType: 'Patient', id: '1' }), 404],
    ['create', () => client.create({ resourceType: 'Patient', body: { resourceType: 'Patient' } }), 405],
    ['update', () => client.update({ resourceType: 'Patient', id: '1', body: { resourceType: 'Patient' } }), 405],
    ['patch', () => client.patch({ resourceType: 'Patient', id: '1', jsonPatch: [] }), 405],
    ['delete', () => client.delete({ resourceType: 'Patient', id: '1' }), 405],
    ['read of nobody', () => client.read({ resourceType: 'Patient', id: 'nobody' }), 404],
    [
      'search by what is wrong',
      () => client.search({ resourceType: 'Patient', searchParams: { birthdate: 'soon' } }),
      400,
    ],
  ] as const)('gets an OperationOutcome on refusal: %s', async (_call, run, status) => {
    await expect(run()).rejects.toMatchObject({ response: { status, data: { resourceType: 'OperationOutcome' } } });
  });
});
