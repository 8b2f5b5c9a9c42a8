/** Each topic has the section and the entries that the interface specifies. */
import { expect, test } from 'vitest';
import { demoOfFile } from './demo-of-file.ts';
import { all, at, templatesOf, withTemplate } from './xml-tree.ts';

const demo = demoOfFile(30);

/** Section 4.4 of the interface: template of the section, templates of its entries. */
const SPECIFIED: readonly (readonly [topic: string, section: string, entries: readonly string[]])[] = [
  ['smoking-status', '2.17:2015-08-01', ['4.78:2014-06-09']],
  ['problems', '2.5.1:2015-08-01', ['4.3:2015-08-01']],
  ['medications', '2.1.1:2014-06-09', ['4.16:2014-06-09']],
  ['medication-allergies', '2.6.1:2015-08-01', ['4.30:2015-08-01']],
  ['laboratory-tests', '2.10:2014-06-09', ['4.44:2014-06-09']],
  ['laboratory-results', '2.3.1:2015-08-01', ['4.1:2015-08-01']],
  ['vital-signs', '2.4.1:2015-08-01', ['4.26:2015-08-01']],
  ['procedures', '2.7.1:2014-06-09', ['4.14:2014-06-09']],
  ['immunizations', '2.2.1:2015-08-01', ['4.52:2015-08-01']],
  ['udi-for-implantable-device', '2.23:2014-06-09', ['4.14:2014-06-09']],
  ['assessment-and-plan-of-treatment', '2.10:2014-06-09', ['4.39:2014-06-09', '4.44:2014-06-09']],
  ['goals', '2.60', ['4.121']],
  ['health-concerns', '2.58:2015-08-01', ['4.132:2015-08-01']],
];

test.each(SPECIFIED)('%s has section %s with entries %j', async (topic, sectionTemplate, entryTemplates) => {
  const { root } = await demo.make(topic, 1);
  const [section] = withTemplate(root, sectionTemplate);
  const found = new Set(
    (section?.children ?? [])
      .filter(({ name }) => name === 'entry')
      .flatMap(({ children }) => children.flatMap(templatesOf)),
  );
  for (const template of entryTemplates) expect(found).toContain(template);
  const sections = all(root, 'section').length;
  expect(sections).toBe(topic === 'assessment-and-plan-of-treatment' ? 2 : 1);
});

test('every organizer of results holds results, every one of vital signs vital signs', async () => {
  const results = await demo.make('laboratory-results', 1);
  for (const organizer of withTemplate(results.root, '4.1:2015-08-01')) {
    expect(withTemplate(organizer, '4.2:2015-08-01').length).toBeGreaterThan(0);
  }
  const vitals = await demo.make('vital-signs', 1);
  for (const organizer of withTemplate(vitals.root, '4.26:2015-08-01')) {
    expect(withTemplate(organizer, '4.27:2014-06-09').length).toBeGreaterThan(0);
  }
});

test('tests of the laboratory are requests', async () => {
  const { root } = await demo.make('laboratory-tests', 1);
  const moods = withTemplate(root, '4.44:2014-06-09').map(({ attributes }) => attributes['moodCode']);
  expect(new Set(moods)).toEqual(new Set(['RQO']));
});

test('an implant is a device participant with its UDI', async () => {
  const { root } = await demo.make('udi-for-implantable-device', 1);
  const [participant] = all(root, 'participant');
  expect(participant?.attributes['typeCode']).toBe('DEV');
  const [instance] = withTemplate(root, '4.37');
  expect(at(instance ?? root, 'id')?.attributes['root']).toBe('2.16.840.1.113883.3.3719');
  expect(at(instance ?? root, 'id')?.attributes['extension']).toMatch(/^\(01\)/);
});

test('all data is a CCD with the sections that certification testers expect', async () => {
  const { root } = await demo.make('all-patient-data', 1);
  expect(templatesOf(root)).toContain('1.2:2015-08-01');
  for (const template of [
    '2.6.1:2015-08-01',
    '2.1.1:2014-06-09',
    '2.5.1:2015-08-01',
    '2.3.1:2015-08-01',
    '2.4.1:2015-08-01',
  ]) {
    expect(withTemplate(root, template)).toHaveLength(1);
  }
  for (const template of ['2.17:2015-08-01', '2.8', '2.10:2014-06-09', '2.60', '2.58:2015-08-01', '4.37']) {
    expect(withTemplate(root, template).length).toBeGreaterThan(0);
  }
});
