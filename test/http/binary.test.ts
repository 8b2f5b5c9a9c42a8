import { expect, test } from 'vitest';
import { appUnderTest } from './app-under-test.ts';

const NOTE = '<script>alert(1)</script>';
const binary = { resourceType: 'Binary', id: '1', contentType: 'text/html; charset=utf-8', data: btoa(NOTE) };

function request(accept: string | undefined, path = '/fhir/Binary/1', resource: object = binary) {
  const { app } = appUnderTest({}, { read: async (type, id) => ({ type, id, json: JSON.stringify(resource) }) });
  return app.request(path, { headers: accept === undefined ? {} : { accept } });
}

test('content is sent raw unless a FHIR media type is requested, and browsers execute none of it', async () => {
  for (const accept of [undefined, '*/*', 'text/html, image/*']) {
    const response = await request(accept);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(await response.text()).toBe(NOTE);
  }
});

test('the resource is sent if FHIR is requested, or nothing else is acceptable', async () => {
  for (const [accept, path] of [
    ['application/fhir+json', undefined],
    ['application/json', undefined],
    ['text/html', '/fhir/Binary/1?_format=json'],
  ] as const) {
    expect(await (await request(accept, path)).json()).toEqual(binary);
  }
});

test('content without a usable media type is sent as a resource', async () => {
  const unsent = [
    'text/html; name="€"',
    'text/html; name="é"',
    'text/html\n; a=b',
    'text/html; a=\u0007',
    'text/html\u00a0;',
  ];
  for (const contentType of [undefined, 'text/html\r\nX: y', 'html', '', ...unsent]) {
    const response = await request(undefined, undefined, { ...binary, contentType });
    expect(response.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  }
});

test('other types are always sent as a resource', async () => {
  const response = await request('*/*', '/fhir/Widget/1');
  expect(response.headers.get('content-type')).toContain('application/fhir+json');
});
