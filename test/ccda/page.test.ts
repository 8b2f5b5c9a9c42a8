import { expect, test } from 'vitest';
import { narrativeHtml } from '../../src/ccda/narrative.ts';
import { readableAge } from '../../src/ccda/page.ts';

const NOW = '2026-06-30T12:00:00-04:00';

test.each([
  ['1968-06-30', {}, '58 years'],
  ['1968-07-01', {}, '57 years'],
  ['2024-02-29', {}, '2 years'],
  ['2024-07-01', {}, '23 months'],
  ['2026-05-30', {}, '1 month'],
  ['2026-06-30', {}, '0 months'],
  ['1968', {}, ''],
  [undefined, {}, ''],
  ['2027-01-01', {}, ''],
  ['1940-01-01', { deceasedDateTime: '2020-12-31T03:20:00-05:00' }, '80 years'],
  ['1940-01-01', { deceasedBoolean: true }, ''],
])('the age of a person born %s, with %j, is %j', (birthDate, death, age) => {
  const patient = { resourceType: 'Patient', id: '1', ...(birthDate === undefined ? {} : { birthDate }), ...death };
  expect(readableAge(patient, NOW)).toBe(age);
});

test('a row has its first cell in bold, days without line breaks, and breakable long words; a long cell asks for width', () => {
  const udi = '(01)00840000000019(11)240716(17)281104';
  const cells = ['Pacemaker\nof a <kind>', `2025-11-04 08:05 & ${udi}`];
  expect(narrativeHtml({ columns: ['Device', 'Facts'], rows: [{ id: 'r-1', cells, marked: true }] }, '')).toContain(
    `<tr id="r-1" class="marked"><td><b>Pacemaker</b><br>of a &lt;kind&gt;</td><td data-name="Facts" class="long"><time>2025-11-04</time> 08:05 &amp; <span>${udi}</span></td></tr>`,
  );
});
