/**
 * fhirclient's usual calls: the library of SMART applications, in Node over the wire.
 * http://docs.smarthealthit.org/client-js/
 */
import FHIR from 'fhirclient';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StartedDemo, startDemo } from './started-demo.ts';

interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly subject?: { readonly resourceType?: string; readonly id?: string };
}

/** The part of fhirclient's Client that the tests use. */
interface Client {
  readonly patient: { readonly id: string | null; read(): Promise<Resource>; request(url: string): Promise<Resource> };
  request<T>(url: string | object, options?: object): Promise<T>;
  getFhirVersion(): Promise<string>;
  getFhirRelease(): Promise<number>;
  create(resource: object): Promise<unknown>;
  update(resource: object): Promise<unknown>;
  delete(url: string): Promise<unknown>;
}

let demo: StartedDemo;
let client: Client;
beforeAll(async () => {
  demo = await startDemo();
  const request = { headers: {}, method: 'GET', url: '/' };
  const state = { serverUrl: demo.base, tokenResponse: { patient: '1' } };
  client = FHIR(request as never, {} as never, {} as never).client(state as never) as unknown as Client;
});
afterAll(() => demo.stop());

describe('fhirclient', () => {
  test('knows the release of FHIR', async () => {
    expect(await client.getFhirVersion()).toBe('4.0.1');
    expect(await client.getFhirRelease()).toBe(4);
  });

  test('reads the patient in context, and the data of the patient', async () => {
    expect(client.patient.id).toBe('1');
    expect(await client.patient.read()).toMatchObject({ resourceType: 'Patient', id: '1' });
    expect(await client.patient.request('Condition')).toMatchObject({ resourceType: 'Bundle', type: 'searchset' });
  });

  test('follows all page links and flattens the pages', async () => {
    const found = await client.request<readonly Resource[]>('Encounter?patient=1&_count=10', {
      pageLimit: 0,
      flat: true,
    });
    const whole = await client.request<readonly Resource[]>('Encounter?patient=1&_count=1000', { flat: true });
    expect(found.length).toBeGreaterThan(20);
    expect(found.map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
  });

  test('resolves references into a graph', async () => {
    const options = { flat: true, resolveReferences: ['subject'], graph: true };
    const found = await client.request<readonly Resource[]>('Condition?patient=1&_count=2', options);
    expect(found.map(({ subject }) => subject?.resourceType)).toEqual(['Patient', 'Patient']);
  });

  test('searches by POST, calls an operation and sends a batch', async () => {
    const posted = await client.request<{ readonly entry: readonly unknown[] }>({
      url: 'Observation/_search',
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'patient=1&_count=3',
    });
    expect(posted.entry).toHaveLength(3);
    const everything = await client.request<readonly Resource[]>('Patient/1/$everything?_count=500', {
      pageLimit: 2,
      flat: true,
    });
    expect(everything.length).toBeGreaterThan(500);
    const body = { resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url: 'Patient/1' } }] };
    const headers = { 'content-type': 'application/fhir+json' };
    const batch = await client.request({ url: '/', method: 'POST', headers, body: JSON.stringify(body) });
    expect(batch).toMatchObject({ type: 'batch-response', entry: [{ response: { status: '200 OK' } }] });
  });

  test('reports errors with the text of the OperationOutcome', async () => {
    await expect(client.request('Patient/nobody')).rejects.toThrow(/No Patient has this id/);
    await expect(client.request('Patient?birthdate=soon')).rejects.toThrow(/birthdate expects a date/);
    await expect(client.request('Patient/1/_history/1')).rejects.toMatchObject({ status: 404 });
    await expect(client.create({ resourceType: 'Patient' })).rejects.toMatchObject({ status: 405 });
    await expect(client.update({ resourceType: 'Patient', id: '1' })).rejects.toMatchObject({ status: 405 });
    await expect(client.delete('Patient/1')).rejects.toMatchObject({ status: 405 });
  });
});
