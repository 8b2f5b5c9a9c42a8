import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { allIds } from '../../src/law/searches.ts';
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

  it.each(['', '&_elements=status', '&_summary=true'])('adds the results of reports%s', async selection => {
    const whole = await search('DiagnosticReport', 'patient=1&category=LAB&_count=5');
    const wanted = [...new Set(referred(whole, 'result'))];
    expect(wanted.length).toBeGreaterThan(5);
    const entries = await search(
      'DiagnosticReport',
      `patient=1&category=LAB&_count=5&_include=DiagnosticReport:result${selection}`,
    );
    expect(names(entries, 'match')).toEqual(names(whole, 'match'));
    expect([...names(entries, 'include')].toSorted()).toEqual(wanted.toSorted());
  });

  it.each(['', '&_elements=status', '&_summary=true', '&_summary=text', '&_summary=data'])(
    'adds the targets of its parameter, not those of other elements%s',
    async selection => {
      const whole = await search('Coverage', '_count=100');
      const wanted = new Set(referred(whole, 'payor').filter(reference => reference !== undefined));
      const entries = await search('Coverage', `_count=100&_include=Coverage:payor${selection}`);
      expect([...names(entries, 'include')].toSorted()).toEqual([...wanted].toSorted());
    },
  );

  it.each(['&_elements=status', '&_summary=text'])(
    'adds targets of an element that the answer omits%s',
    async selection => {
      const entries = await search('Observation', `_count=2&_include=Observation:patient${selection}`);
      expect(names(entries, 'include')).toEqual(['Patient/1']);
      expect(JSON.stringify(entries.slice(0, 2))).not.toContain('"subject"');
    },
  );

  it('adds all referenced resources for *', async () => {
    const whole = await search('DiagnosticReport', 'patient=1&category=LAB&_count=2');
    const entries = await search('DiagnosticReport', 'patient=1&category=LAB&_count=2&_include=*');
    const included = new Set(names(entries, 'include'));
    for (const reference of [...referred(whole, 'result'), ...referred(whole, 'specimen')])
      expect(included).toContain(reference);
  });

  it.each(['target', 'patient'])('_revinclude adds everything that Provenance?%s= finds', async code => {
    const back = names(await search('Patient', `_id=1&_revinclude=Provenance:${code}`), 'include');
    const ids = await allIds(demo.facade, 'Provenance', [[code, 'Patient/1']]);
    const found = ids.map(id => `Provenance/${id}`);
    const next = names(await search('Encounter', 'patient=1&_count=1&_revinclude=Provenance:target'), 'include');
    expect(next).toHaveLength(1);
    expect(found.length).toBeGreaterThan(500);
    expect(found.length).toBeLessThan(2000);
    expect([...back].toSorted()).toEqual([...found].toSorted());
  });

  it('adds all referring resources of a type for _revinclude=Type:*', async () => {
    const entries = await search('Practitioner', '_count=3&_revinclude=Encounter:*');
    const named = new Set<string>();
    for (const code of ['participant', 'practitioner']) {
      for (const name of names(await search('Practitioner', `_count=3&_revinclude=Encounter:${code}`), 'include'))
        named.add(name);
    }
    expect(named.size).toBeGreaterThan(0);
    expect([...names(entries, 'include')].toSorted()).toEqual([...named].toSorted());
    await expect(search('Practitioner', '_revinclude=*')).rejects.toMatchObject({ code: 'not-supported' });
  });

  it.each(['*', '*:*', 'DiagnosticReport:*', 'DiagnosticReport:*:'])('accepts %s for all references', async text => {
    const all = await search('DiagnosticReport', `patient=1&_count=3&_include=${text}`);
    expect(names(all, 'include').length).toBeGreaterThan(3);
    expect(names(all, 'include')).toEqual(
      names(await search('DiagnosticReport', 'patient=1&_count=3&_include=*'), 'include'),
    );
  });

  it.each(['*:*:Specimen', 'DiagnosticReport:*:Specimen'])('accepts %s for all references to that type', async text => {
    const found = names(
      await search('DiagnosticReport', `patient=1&category=LAB&_count=3&_include=${text}`),
      'include',
    );
    const wanted = names(await search('DiagnosticReport', 'patient=1&category=LAB&_count=3&_include=*'), 'include');
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(wanted.filter(name => name.startsWith('Specimen/')));
  });

  it('follows references of included resources only with :iterate', async () => {
    const once = await search(
      'Encounter',
      'patient=1&_count=3&_include=Encounter:location&_include=Location:organization',
    );
    const again = await search(
      'Encounter',
      'patient=1&_count=3&_include=Encounter:location&_include:iterate=Location:organization',
    );
    const organizations = (entries: readonly Entry[]) =>
      names(entries, 'include').filter(name => name.startsWith('Organization/'));
    expect(organizations(once)).toEqual([]);
    expect(organizations(again).length).toBeGreaterThan(0);
  });

  it('is bounded: resources beyond 2,000 are omitted with a warning, and cycles end', async () => {
    const entries = await search(
      'Patient',
      '_revinclude=Observation:patient&_revinclude:iterate=Provenance:target&_include:iterate=*&_count=50',
    );
    expect(names(entries, 'include').length).toBeLessThanOrEqual(2000);
    expect(new Set(names(entries, 'include')).size).toBe(names(entries, 'include').length);
    const circle = await search('Patient', '_id=1&_include:iterate=*&_revinclude:iterate=Encounter:*');
    expect(names(circle, 'match')).toEqual(['Patient/1']);
  });
});

test('duplicates do not count towards the limit of includes, and omitted resources are reported', async () => {
  const demo = await openDemo({ patients: 8 });
  const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;
  // The author of a change and the organization they act for are often the same reference.
  const parameters = [
    ['_revinclude', 'Provenance:agent'],
    ['_elements', 'id'],
  ] as const;
  const { json } = await demo.facade.search({ type: 'Organization', parameters }, context);
  const total = await demo.facade.search({ type: 'Provenance', parameters: [['_summary', 'count']] }, context);
  await demo.close();
  const { entry } = JSON.parse(json) as { readonly entry: readonly Entry[] };
  expect(JSON.parse(total.json).total).toBeGreaterThan(2000);
  expect(entry.filter(({ search }) => search.mode === 'include')).toHaveLength(2000);
  expect(entry.filter(({ search }) => search.mode === 'outcome')).toMatchObject([
    { resource: { issue: [{ code: 'incomplete' }] } },
  ]);
});
