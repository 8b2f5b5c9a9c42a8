/** Documents of every kind of chart are valid, and do not change while the data stay the same. */
import { expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { openDemo } from '../law/demo.ts';
import { shareOf } from '../share.ts';
import { documentOf } from './demo-documents.ts';
import { demoOfFile } from './demo-of-file.ts';
import { structureProblems } from './structure.ts';
import { all, at, templatesOf, textOf, withTemplate } from './xml-tree.ts';

const names = TOPICS.map(({ name }) => name);
/** Full and empty charts, children, the dead, sensitive data, odd texts and dates, no MRN, no UID, unmapped codes. */
const PATIENTS = [1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 29];

/** Time limit for many documents on a busy machine. */
const LONG = { timeout: 170_000 };

const demo = demoOfFile(40);

test.each(names)('%s is valid for every kind of chart', LONG, async name => {
  for (const patient of shareOf(PATIENTS, 4)) {
    const { root } = await demo.make(name, patient);
    expect({ patient, problems: structureProblems(root) }).toEqual({ patient, problems: [] });
  }
});

test('a document of broken data is still valid', LONG, async () => {
  const spoiled = await openDemo({ patients: 30, spoiled: { perMille: 120, seed: 5 } });
  try {
    const { entries } = JSON.parse(
      (
        await spoiled.facade.search(
          { type: 'Patient', parameters: [['_elements', 'id']] },
          { access: { kind: 'all', caller: '' }, base: 'http://localhost/fhir', handling: 'strict' },
        )
      ).json.replace('"entry"', '"entries"'),
    ) as { entries: { resource: { id: string } }[] };
    expect(entries.length).toBeGreaterThan(15);
    for (const { resource } of shareOf(entries, 3)) {
      const { root } = await documentOf(spoiled.facade, 'all-patient-data', Number(resource.id));
      expect({ patient: resource.id, problems: structureProblems(root) }).toEqual({
        patient: resource.id,
        problems: [],
      });
    }
  } finally {
    await spoiled.close();
  }
});

test.each(names)('an empty chart gives a valid %s that claims nothing', async name => {
  const { root, xml } = await demo.make(name, 2);
  for (const section of all(root, 'section')) {
    if (templatesOf(section).includes('2.17:2015-08-01')) continue;
    expect(section.children.filter(one => one.name === 'entry')).toEqual([]);
    expect(textOf(at(section, 'text'))).toContain('No information');
  }
  expect(xml).not.toContain('negationInd="true"');
});

test('repeated calls give the same document, except for its time', async () => {
  const [one, other] = [await demo.make('all-patient-data', 1), await demo.make('all-patient-data', 1)];
  expect(other.xml).toBe(one.xml);
  const id = ({ root }: typeof one): string => at(root, 'id')?.attributes['root'] ?? '';
  const narrow = await demo.make('all-patient-data', 1, { range: { first: '2020-01-01', last: '2020-12-31' } });
  expect(id(narrow)).not.toBe(id(one));
  const act = ({ root }: typeof one): readonly string[] =>
    withTemplate(root, '4.3:2015-08-01').map(entry => at(entry, 'id')?.attributes['root'] ?? '');
  for (const kept of act(narrow)) expect(act(one)).toContain(kept);
});
