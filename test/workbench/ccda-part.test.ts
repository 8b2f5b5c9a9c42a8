/** A row's part of C-CDA documents: for rows of the demo as in the whole document, by command, and in the page. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patientsIn } from '../../src/audit/patients-in.ts';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Content } from '../../src/ccda/content.ts';
import { makeDocument } from '../../src/ccda/document.ts';
import { LISTS } from '../../src/ccda/lists.ts';
import { TOPICS } from '../../src/ccda/topics.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { DEMO_PACK } from '../../src/start/demo.ts';
import { loadWhole } from '../../src/start/setup.ts';
import { ccdaPartOf } from '../../src/workbench/ccda/part.ts';
import type { WireCcda } from '../../src/workbench/wire/mapping.ts';
import { lintel } from '../cli/lintel.ts';
import { PLACES, smallClinic } from '../cli/small-clinic.ts';
import { CHROMIUM } from '../clients/chromium.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { NOW } from '../law/law.ts';
import { type OpenedPage, openPage } from './opened-page.ts';

describe('on the rows of the demo', () => {
  let demo: Demo;
  let content: Content | undefined;
  beforeAll(async () => {
    demo = await openDemo({ patients: 28 });
    ({ content } = loadWhole(readPackFiles(DEMO_PACK), await demo.database.catalog()));
  });
  afterAll(() => demo.close());

  const signal = new AbortController().signal;
  const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir' } as const;
  const firstOf = async (type: string, search = ''): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const parameters = [...new URLSearchParams(search), ['_count', '1']] as const;
    const { json } = await demo.facade.search({ type, parameters }, { ...context, handling: 'strict' });
    return JSON.parse(json).entry?.[0]?.resource;
  };
  const partOf = (resource: Readonly<Record<string, unknown>>): Promise<WireCcda> =>
    ccdaPartOf({ resource, facade: demo.facade, content, signal });

  test('each list: the entries of a row are in the document of its patient', { timeout: 120_000 }, async () => {
    const [topic] = TOPICS;
    if (!content || !topic) throw new Error('no documents');
    let seen = 0;
    for (const [name, searches] of content.lists) {
      const [search] = searches;
      const resource =
        search &&
        (await firstOf(search.type, new URLSearchParams([...search.parameters].map(pair => [...pair])).toString()));
      if (!resource) continue;
      const part = await partOf(resource);
      if (name === 'related-persons') {
        expect(part).toMatchObject({ sections: [], notes: [expect.stringContaining('headers of documents show it')] });
        continue;
      }
      const [patientId = ''] = patientsIn(JSON.stringify(resource));
      const document = await makeDocument(
        { ...{ topic, patientId, context, now: NOW }, range: undefined, encounterId: undefined },
        { facade: demo.facade, content, software: { name: 'Lintel', version: '0' } },
      );
      const section = part.sections.find(({ topics }) => topics.includes(topic.title));
      expect([name, section?.lists]).toEqual([name, expect.arrayContaining([name])]);
      const whole = document?.sections.find(({ definition }) => definition.code === section?.code);
      // A section has a column of remarks only if one of its rows has some.
      const { columns = [] } = section ?? {};
      const cellsOf = (cells: readonly string[]): string => JSON.stringify(columns.map((_, i) => cells[i] ?? ''));
      const there = new Set(whole?.table.rows.map(({ cells }) => cellsOf(cells)));
      expect([name, section?.rows.filter(cells => !there.has(cellsOf(cells)))]).toEqual([name, []]);
      seen += 1;
    }
    expect(seen).toBeGreaterThan(20);
  });

  test('a laboratory result is in its report', async () => {
    const report = await firstOf('DiagnosticReport', 'category=LAB&result:missing=false');
    const [reference = ''] = /Observation\/[\w.-]+/.exec(JSON.stringify(report?.['result'])) ?? [];
    const result = await firstOf('Observation', `_id=${reference.replace(/.*\//, '')}`);
    const { sections } = await partOf(result ?? {});
    const [section] = sections;
    expect(sections.map(({ code }) => code)).toEqual(['30954-2']);
    const panel = section?.columns.indexOf('Report') ?? -1;
    expect(section?.rows.map(cells => cells[panel])).toEqual([expect.stringMatching(/\S/)]);
    expect(section?.lists).toContain('laboratory-results');
    expect(section?.xml.match(/<organizer /g)).toHaveLength(1);
  });

  test('a patient is in the header, and personal data is in sections', async () => {
    const part = await partOf((await firstOf('Patient')) ?? {});
    expect(part.header).toContain('<recordTarget>\n  <patientRole>');
    expect(part.sections.map(({ title, topics }) => [title, topics])).toContainEqual([
      'Personal Information',
      ['Patient Information'],
    ]);
  });

  test('a resource in no list has a reason', async () => {
    const notesOf = async (type: string, search = ''): Promise<readonly string[]> =>
      (await partOf((await firstOf(type, search)) ?? {})).notes;
    expect(await notesOf('Practitioner')).toEqual([
      'Documents have no list of Practitioner. They show one only if a record of a list refers to it.',
    ]);
    expect(await notesOf('Organization', '_id=fac-HARB')).toEqual([
      'Every document has it as custodian, by ccds.yaml.',
    ]);
    expect(Object.values(LISTS).some(({ type }) => type === 'Practitioner')).toBe(false);
  });
});

const CCDS = 'lists:\n  vital-signs: Observation?code=29463-7&date=ge2024\n';

describe('the command', () => {
  const ccda = async (files: Readonly<Record<string, string>>, ...argv: string[]): Promise<readonly string[]> => {
    const { code, out } = await lintel(smallClinic(files).environment, 'preview', ...argv, '--ccda');
    expect(code).toBe(0);
    return out.slice(out.indexOf('\nC-CDA\n') + 7).split('\n');
  };

  test('shows section, list and documents, and no value', async () => {
    const lines = await ccda({ 'ccds.yaml': CCDS }, 'weights', '7');
    expect(lines).toEqual([
      '  Vital Signs (8716-3), by `vital-signs` of ccds.yaml',
      '    documents: All Patient Data, Vital Signs',
      '    1 row with Measurement, Value, Status, Taken; 1 entry',
    ]);
  });

  test('--values shows the XML', async () => {
    const out = (await ccda({ 'ccds.yaml': CCDS }, 'weights', '7', '--values')).join('\n');
    expect(out).toContain('<title>Vital Signs</title>');
    expect(out).toContain('<value xsi:type="PQ" value="61.50" unit="kg"/>');
  });

  test('shows the reason if there is none', async () => {
    expect(await ccda({}, 'weights', '7')).toEqual(['  The pack has no ccds.yaml, so no documents are made.']);
    expect(
      await ccda({ 'ccds.yaml': 'lists:\n  vital-signs: Observation?date=lt2000-01-01\n' }, 'weights', '7'),
    ).toEqual(['  No search of ccds.yaml finds it: `vital-signs` (Observation?date=lt2000-01-01).']);
    expect((await ccda({ 'ccds.yaml': 'lists: {}\n' }, 'weights', '7')).join()).toContain(
      'ccds.yaml has no search for `laboratory-results`, ',
    );
    expect(await ccda({ 'ccds.yaml': CCDS, 'place.yaml': PLACES }, 'places', '1')).toEqual([
      '  Documents have no list of Organization. They show one only if a record of a list refers to it.',
    ]);
  });

  test('--json has the same content', async () => {
    const { environment } = smallClinic({ 'ccds.yaml': CCDS });
    const { out } = await lintel(environment, 'preview', 'weights', '7', '--ccda', '--json');
    expect(JSON.parse(out).ccda).toEqual({
      notes: [],
      isInHeader: false,
      sections: [
        {
          ...{ title: 'Vital Signs', code: '8716-3', lists: ['vital-signs'], rows: 1, entries: 1 },
          documents: ['All Patient Data', 'Vital Signs'],
          columns: ['Measurement', 'Value', 'Status', 'Taken'],
        },
      ],
    });
  });
});

describe.skipIf(CHROMIUM === undefined)('the page', () => {
  let page: OpenedPage;
  beforeAll(async () => {
    page = await openPage({ 'ccds.yaml': CCDS });
  }, 120_000);
  afterAll(() => page.close());

  test('the section is shown beside the row, with a link from its list to ccds.yaml', {
    timeout: 120_000,
  }, async () => {
    const { tab, press, fill } = page;
    await press('.files button', 'weighing.yaml');
    await tab.when(`document.querySelector('.preview select')?.value === 'weights'`);
    await fill('.preview .key', '7');
    await press('.preview button', 'Preview');
    await tab.when(`document.querySelector('.resource')?.textContent.includes('61.5')`);
    await press('.sides button', 'C-CDA');
    expect(await tab.when(`document.querySelector('.ccda h2')?.textContent`)).toBe('Vital Signs LOINC 8716-3');
    expect(await tab.when(`document.querySelector('.ccda pre').textContent`)).toContain('value="61.50" unit="kg"');
    expect(await tab.when(`document.querySelector('.ccda tbody').textContent`)).toContain('61.5');
    // Another row keeps the selected document.
    await fill('.preview .key', '8');
    await press('.preview button', 'Preview');
    await tab.when(`document.querySelector('.ccda pre')?.textContent.includes('value="62.00"')`);
    await press('.ccda button', 'vital-signs');
    await tab.when(`document.querySelector('.writing h2').textContent === 'ccds.yaml'`);
    await tab.when(`document.querySelector('.cm-activeLine')?.textContent.includes('vital-signs')`);
  });

  test('unsaved text is used, and the reason for no entry is shown', { timeout: 120_000 }, async () => {
    const { tab } = page;
    await tab.run(`document.querySelector('.cm-content').focus()`);
    // First to the end of the visible part of a wrapped line, then to the end of the line.
    await tab.press('End');
    await tab.press('End');
    await tab.write('-12');
    await tab.when(`document.querySelector('.ccda p')?.textContent.startsWith('No search of ccds.yaml finds it')`);
  });
});
