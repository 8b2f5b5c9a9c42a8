/**
 * Writes a coverage report as one HTML page without script or other files, for light and dark mode. In: the data of
 * coverage.ts. Out: HTML text.
 */

import { framed, tablePart } from '../check/page.ts';
import { escapeXml } from '../common/markup.ts';
import type { Certification, Coverage, ProfileCoverage } from './coverage.ts';
import type { ElementCoverage } from './elements-of.ts';

const STATES: Readonly<Record<ElementCoverage['state'], string>> = {
  filled: 'filled',
  mapped: 'mapped',
  empty: 'mapped, in no resource',
  other: 'by another element',
  unmapped: 'not mapped',
};

export function coveragePage({ pack, guide, sample, unreached, profiles, certification, unused }: Coverage): string {
  const from =
    sample === null ? 'By what the pack says, without rows.' : `By up to ${sample} resources of each profile.`;
  const late =
    unreached.length === 0
      ? ''
      : `<p>The time budget ended before these were read: ${escapeXml(unreached.join(', '))}.</p>`;
  const overview = {
    title: 'Profiles',
    columns: ['profile', 'type', 'verdict', 'resources', 'mappings'],
    rows: profiles.map(one => [
      one.profile,
      one.type,
      one.verdict,
      one.resources ?? '-',
      one.mappings.join(', ') || '-',
    ]),
  };
  const tables = {
    title: 'Tables that no mapping reads',
    columns: ['table', 'columns', 'rows'],
    rows: unused.tables.map(one => [one.table, one.columns, one.rows ?? '-']),
  };
  const columns = {
    title: 'Columns that no mapping reads, of tables that some mapping reads',
    columns: ['table', 'rows', 'columns'],
    rows: unused.columns.map(one => [one.table, one.rows ?? '-', one.columns.join(', ')]),
  };
  return framed(
    `${pack} against ${guide}`,
    [
      `<p>${from}</p>${late}`,
      '<h2>Certification</h2>',
      ...certification.map(certificationPart),
      tablePart(overview),
      ...profiles.filter(({ verdict }) => verdict !== 'not mapped').map(profilePart),
      '<h2>What is left</h2>',
      tablePart(tables),
      tablePart(columns),
    ].join('\n'),
  );
}

function certificationPart({ name, verdict, missing }: Certification): string {
  const severity = verdict === 'gaps' ? 'error' : verdict === 'no data' ? 'warning' : 'ready';
  const items = missing.map(text => `<li class="${severity}">${escapeXml(text)}</li>`);
  return `<h3 class="${severity}"><b>${escapeXml(name)}: ${verdict}</b></h3>\n<ul>${items.join('\n')}</ul>`;
}

function profilePart({ profile, verdict, resources, gaps, elements, searches }: ProfileCoverage): string {
  const share = (one: ElementCoverage): string | number =>
    resources === null || resources === 0 || one.resources === undefined
      ? '-'
      : Math.floor((100 * one.resources) / resources);
  const own = {
    title: 'Must-support elements',
    columns: ['element', 'state', '% of resources', 'no reference to'],
    rows: elements.map(one => [one.element, STATES[one.state], share(one), one.lacksTargets.join(', ')]),
  };
  const asked = {
    title: 'Searches',
    columns: ['search', 'strength', 'offered', 'lacks'],
    rows: searches.map(one => [one.search, one.strength, one.offered ? 'yes' : 'no', one.lacks.join(', ')]),
  };
  const lacking = gaps.map(text => `<li class="error">${escapeXml(text)}</li>`);
  return `<h2>${escapeXml(profile)}: ${verdict}</h2>
<ul>${lacking.join('\n')}</ul>
${tablePart(own)}
${searches.length === 0 ? '' : tablePart(asked)}`;
}
