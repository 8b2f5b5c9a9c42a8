import { describe, expect, it } from 'vitest';
import { searchsetBundle } from '../../src/resource/bundle.ts';

const BASE = 'https://fhir.example/r4';

describe('a searchset Bundle', () => {
  it('carries warnings, then matches, then includes, each with its mode', () => {
    const json = searchsetBundle({
      base: BASE,
      matches: [{ type: 'Observation', id: 'o-1', json: '{"resourceType":"Observation","id":"o-1"}' }],
      included: [{ type: 'Patient', id: 'p1', json: '{"resourceType":"Patient","id":"p1"}' }],
      warnings: [{ severity: 'warning', code: 'not-supported', diagnostics: 'unknown parameter "x"' }],
      total: 7,
      self: `${BASE}/Observation?code=a%7Cb`,
      next: `${BASE}/Observation?_cursor=n`,
      previous: `${BASE}/Observation?_cursor=p`,
      timestamp: '2024-06-01T00:00:00Z',
    });
    expect(JSON.parse(json)).toEqual({
      resourceType: 'Bundle',
      type: 'searchset',
      timestamp: '2024-06-01T00:00:00Z',
      total: 7,
      link: [
        { relation: 'self', url: `${BASE}/Observation?code=a%7Cb` },
        { relation: 'next', url: `${BASE}/Observation?_cursor=n` },
        { relation: 'previous', url: `${BASE}/Observation?_cursor=p` },
      ],
      entry: [
        {
          fullUrl: expect.stringMatching(
            /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
          ),
          resource: {
            resourceType: 'OperationOutcome',
            issue: [{ severity: 'warning', code: 'not-supported', diagnostics: 'unknown parameter "x"' }],
          },
          search: { mode: 'outcome' },
        },
        {
          fullUrl: `${BASE}/Observation/o-1`,
          resource: { resourceType: 'Observation', id: 'o-1' },
          search: { mode: 'match' },
        },
        { fullUrl: `${BASE}/Patient/p1`, resource: { resourceType: 'Patient', id: 'p1' }, search: { mode: 'include' } },
      ],
    });
  });

  it('has no entry element when nothing was found, and no total when nothing was counted', () => {
    const bundle = JSON.parse(searchsetBundle({ base: BASE, matches: [], self: `${BASE}/Patient` }));
    expect(bundle).toEqual({
      resourceType: 'Bundle',
      type: 'searchset',
      link: [{ relation: 'self', url: `${BASE}/Patient` }],
    });
  });

  it('keeps the text of its resources as it is', () => {
    const json = '{"resourceType":"Observation","id":"1","valueQuantity":{"value":12.50}}';
    expect(searchsetBundle({ base: BASE, matches: [{ type: 'Observation', id: '1', json }], self: BASE })).toContain(
      json,
    );
  });
});
