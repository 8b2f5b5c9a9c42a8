/** Documents of patients with many or large records: what is refused, what a remark replaces, and what is not read. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attachedText, withoutContents } from '../../src/ccda/attachment.ts';
import type { Binary, DocumentReference } from '../../src/ccda/fhir/datatypes.ts';
import type { Facade } from '../../src/facade.ts';
import { createRooms } from '../../src/pipeline/session.ts';
import { runsOf } from '../share.ts';
import { documentOf } from './demo-documents.ts';
import { demoOfFile } from './demo-of-file.ts';

const demo = demoOfFile(30);

/** Twenty years of data. */
const OLD = 6;

const withBound = (bytes: number): Facade => ({ ...demo.facade, room: createRooms(bytes) });

test('a document that would be larger than the bound is refused with a code, before anything is sent', async () => {
  const { xml } = await demo.make('vital-signs', OLD);
  const refused = { kind: 'too-large', status: 400 };
  await expect(documentOf(withBound(xml.length / 4), 'vital-signs', OLD)).rejects.toMatchObject(refused);
  expect((await documentOf(withBound(xml.length * 2), 'vital-signs', OLD)).xml).toBe(xml);
  const range = { first: '2024-01-01', last: '2024-12-31' };
  expect((await documentOf(withBound(xml.length / 4), 'vital-signs', OLD, { range })).xml).toContain(
    'ClinicalDocument',
  );
});

test('a refused document passes its turn on', async () => {
  const facade = withBound(100_000);
  for (let i = 0; i < 6; i++) await expect(documentOf(facade, 'all-patient-data', OLD)).rejects.toThrow('ANSWER_SIZE');
});

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

const LONG = 'The patient walks again.\n'.repeat(40_001);
const CONTENTS: readonly (readonly [what: string, type: string, content: string, shown: string | undefined])[] = [
  ['a short text', 'text/plain', 'well', 'well'],
  ['a text of some pages', 'text/plain', 'walks again '.repeat(20_000), 'walks again '.repeat(20_000).trim()],
  ['a text that is too long', 'text/plain', LONG, 'not shown here: text/plain, 1.0 MB'],
  ['HTML with a large image', 'text/html', `<p>well</p><img src="data:${'A'.repeat(1_100_000)}">`, 'well'],
  ['a scan', 'application/pdf', 'A'.repeat(200_000), undefined],
];

test.each(CONTENTS)('%s in an attachment, or behind its address', (_what, contentType, content, shown) => {
  const inline: DocumentReference = {
    ...{ resourceType: 'DocumentReference', id: '1' },
    content: [{ attachment: { contentType, data: base64(content) } }],
  };
  const binary: Binary = { resourceType: 'Binary', id: '2', contentType, data: base64(content) };
  const [kept, length] = withoutContents(inline, JSON.stringify(inline));
  const [held] = withoutContents(binary, JSON.stringify(binary));
  const read = (attachment: object): string | undefined => attachedText(attachment, () => undefined)?.trim();
  for (const note of [inline, kept]) expect(read(note.content?.[0]?.attachment ?? {})).toBe(shown);
  for (const resource of [binary, held])
    expect(attachedText({ contentType, url: 'Binary/2' }, () => resource)?.trim()).toBe(shown);
  // Nothing that the document does not show is kept.
  if (content.length > 100_000)
    expect(JSON.stringify([kept, held]).length).toBeLessThan(2 * (shown?.length ?? 0) + 1000);
  expect(Math.abs(length - JSON.stringify(kept).length)).toBeLessThan(100);
});

test('a document says what it does not show', async () => {
  const { facade } = demo;
  const long = base64(LONG);
  const enlarged: Facade = {
    ...facade,
    async *searchPages(asked, context) {
      for await (const page of facade.searchPages(asked, context)) {
        if (asked.type !== 'Binary') yield page;
        else {
          const resources = page.resources.map(one => ({ ...one, contentType: 'text/plain', data: long }));
          yield { ...page, resources, texts: resources.map(one => JSON.stringify(one)) };
        }
      }
    },
  };
  const { xml, root } = await documentOf(enlarged, 'all-patient-data', 1);
  expect(root.name).toBe('ClinicalDocument');
  expect(xml).toContain('not shown here: text/plain, 1.0 MB');
  expect(xml).not.toContain('walks again');
});

const day = fc
  .integer({ min: 0, max: 9500 })
  .map(n => new Date(Date.UTC(2000, 0, 1) + n * 86_400_000).toISOString().slice(0, 10));

test('a range is narrowed in SQL to the same document that the dates of all records give', {
  timeout: 60_000,
}, async () => {
  const { facade } = demo;
  const unnarrowed: Facade = {
    ...facade,
    searchPages: ({ within: _all, ...asked }, context) => facade.searchPages(asked, context),
  };
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 10 }),
      fc.tuple(fc.option(day, { nil: undefined }), fc.option(day, { nil: undefined })),
      async (patient, [one, other]) => {
        const [first, last] = one !== undefined && other !== undefined && one > other ? [other, one] : [one, other];
        const range = { first, last };
        const expected = (await documentOf(unnarrowed, 'all-patient-data', patient, { range })).xml;
        expect((await documentOf(facade, 'all-patient-data', patient, { range })).xml).toBe(expected);
      },
    ),
    { numRuns: runsOf(30) },
  );
});

test('a document of a range does not read what is outside of it', async () => {
  const { facade } = demo;
  const readOf = async (range: { first: string; last: string }): Promise<number> => {
    let read = 0;
    const counting: Facade = {
      ...facade,
      async *searchPages(asked, context) {
        for await (const page of facade.searchPages(asked, context)) {
          if (asked.type === 'Observation') read += page.resources.length;
          yield page;
        }
      },
    };
    await documentOf(counting, 'vital-signs', OLD, { range });
    return read;
  };
  const whole = await readOf({ first: '1990-01-01', last: '2026-12-31' });
  expect(whole).toBeGreaterThan(500);
  expect(await readOf({ first: '2020-01-01', last: '2020-12-31' })).toBeLessThan(whole / 5);
});

test('pages within the server grow, because each may cost the database a sort', async () => {
  const sizes: number[] = [];
  const context = { access: { kind: 'all', caller: '' }, base: 'http://localhost/fhir', handling: 'strict' } as const;
  const asked = { type: 'Observation', parameters: [['patient', `Patient/${OLD}`]], growing: 50 } as const;
  for await (const { resources } of demo.facade.searchPages(asked, context)) sizes.push(resources.length);
  expect(sizes.slice(0, 3)).toEqual([50, 200, 800]);
});
