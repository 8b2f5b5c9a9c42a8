import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { type Demo, openDemo } from '../law/demo.ts';

interface Entry {
  readonly resource: { readonly resourceType: string; readonly id: string };
  readonly search: { readonly mode: string };
}

describe('_include along references in child rows', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await openDemo({ patients: 1 });
  });
  afterAll(() => demo.close());

  const search = async (type: string, query: string): Promise<readonly Entry[]> => {
    const parameters = [...new URLSearchParams(query)];
    const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;
    const { json } = await demo.facade.search({ type, parameters }, context);
    return (JSON.parse(json) as { readonly entry?: readonly Entry[] }).entry ?? [];
  };

  const referred = (entries: readonly Entry[], element: string): readonly string[] =>
    entries
      .flatMap(
        ({ resource }) =>
          (resource as unknown as Record<string, readonly { readonly reference: string }[]>)[element] ?? [],
      )
      .map(({ reference }) => reference);

  const names = (entries: readonly Entry[], mode: string): readonly string[] =>
    entries.filter(e => e.search.mode === mode).map(({ resource }) => `${resource.resourceType}/${resource.id}`);

  it.each(['', '&_elements=status', '&_summary=true'])('brings the results of reports%s', async selection => {
    const whole = await search('DiagnosticReport', 'patient=1&category=LAB&_count=5');
    const wanted = [...new Set(referred(whole, 'result'))];
    expect(wanted.length).toBeGreaterThan(5);
    const entries = await search(
      'DiagnosticReport',
      `patient=1&category=LAB&_count=5&_include=DiagnosticReport:result${selection}`,
    );
    expect(names(entries, 'match')).toEqual(names(whole, 'match'));
    if (selection === '') expect([...names(entries, 'include')].toSorted()).toEqual(wanted.toSorted());
  });

  it('brings all that is referred to for *', async () => {
    const whole = await search('DiagnosticReport', 'patient=1&category=LAB&_count=2');
    const entries = await search('DiagnosticReport', 'patient=1&category=LAB&_count=2&_include=*');
    const included = new Set(names(entries, 'include'));
    for (const reference of [...referred(whole, 'result'), ...referred(whole, 'specimen')])
      expect(included).toContain(reference);
  });
});
