/** Values of searches as clients send them: long lists in a body, empty form fields, and ids searched as tokens. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DemoApp, demoApp } from './demo-app.ts';

interface Bundle {
  readonly total?: number;
  readonly entry?: readonly {
    readonly resource: {
      readonly resourceType: string;
      readonly id?: string;
      readonly issue?: readonly { readonly severity: string; readonly code: string; readonly diagnostics: string }[];
    };
  }[];
}

let demo: DemoApp;
beforeAll(async () => {
  demo = await demoApp();
});
afterAll(() => demo.close());

const post = async (body: string, handling = 'lenient'): Promise<Response> =>
  demo.app.request('/fhir/Patient/_search', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', prefer: `handling=${handling}` },
    body,
  });

const found = async (body: string): Promise<readonly string[]> => {
  const { entry = [] } = (await (await post(body)).json()) as Bundle;
  return entry.flatMap(({ resource }) => (resource.resourceType === 'Patient' ? [resource.id ?? ''] : []));
};

const uuids = (n: number): string =>
  Array.from({ length: n }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`).join(',');

test('500 ids of 36 characters are one POST search, as the refusal of the long URL advises', async () => {
  const [id = ''] = await found('');
  expect((await demo.app.request(`/fhir/Patient?_id=${uuids(499)},${id}`)).status).toBe(414);
  expect(await found(`_id=${uuids(499)},${id}`)).toEqual([id]);
  expect((await post(`_id=${uuids(501)}`)).status).toBe(400);
  expect((await post(`_id=${'x'.repeat(4001)}`)).status).toBe(400);
  expect((await post(`_id=${uuids(400)},${'x'.repeat(4001)}`)).status).toBe(400);
});

test.each(['family=', 'birthdate=&gender=', '_sort=', 'gender:not=', '_has:Observation:patient:code='])(
  '%s: an empty value is ignored with a warning, and refused under strict handling',
  async body => {
    const answer = (await (await post(body)).json()) as Bundle;
    expect(answer.entry?.[0]?.resource.issue?.[0]).toMatchObject({ severity: 'warning', code: 'value' });
    expect(await found(body)).toEqual(await found(''));
    expect((await post(body, 'strict')).status).toBe(400);
  },
);

test('empty values of a list are ignored', async () => {
  const [id = ''] = await found('');
  expect(await found(`_id=,${id},`)).toEqual([id]);
});

test('_id is a token without a system', async () => {
  const [id = '', ...others] = await found('');
  expect(others.length).toBeGreaterThan(0);
  expect(await found(`_id=%7C${id}`)).toEqual([id]);
  expect(await found(`_id=urn:x%7C${id}`)).toEqual([]);
  expect(await found(`_id:not=${id}`)).toEqual(others);
  expect(await found(`_id:not=${id},${others[0]}`)).toEqual(others.slice(1));
  expect(await found(`_id:not=urn:x%7C${id}`)).toEqual([id, ...others]);
});
