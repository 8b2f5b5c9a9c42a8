/**
 * Prints a coverage report for a terminal of 100 columns. In: the data of coverage.ts. Out: lines.
 */
import { plural } from '../common/plural.ts';
import type { Certification, Coverage, ProfileCoverage } from './coverage.ts';
import type { ElementCoverage } from './elements-of.ts';
import type { Unused } from './unused.ts';

const WIDTH = 100;
const LABEL = 14;
/** Column of the names after that of their type. */
const INDENT = 24;
/** Maximum number of tables listed; `--json` has all. */
const MOST = 30;
const MOST_MAPPINGS = 6;

export function coverageLines({
  pack,
  guide,
  sample,
  unreached,
  profiles,
  certification,
  unused,
}: Coverage): readonly string[] {
  const from =
    sample === null ? 'by what the pack says, without rows' : `by up to ${number(sample)} resources of each profile`;
  return [
    `${pack} against ${guide}, ${from}`,
    ...(unreached.length === 0
      ? []
      : paragraph(`The time budget ended before resources of these were read: ${unreached.join(', ')}`, '', '  ')),
    '',
    ...certification.flatMap((one, i) => certificationLines(one, certification.slice(0, i))),
    ...profiles.filter(isMapped).flatMap(profile => ['', ...profileLines(profile)]),
    ...unmappedLines(profiles.filter(one => !isMapped(one))),
    ...unusedLines(unused, sample !== null),
  ];
}

/** Returns the lines of a certification, without texts of earlier ones. */
function certificationLines({ name, verdict, missing }: Certification, before: readonly Certification[]) {
  const own = missing.filter(text => !before.some(one => one.missing.includes(text)));
  const repeated = missing.length - own.length;
  return [
    `${name}: ${verdict}`,
    ...own.flatMap(text => paragraph(text, '  - ', '    ')),
    ...(repeated === 0 ? [] : [`  - and ${repeated} that ${repeated === 1 ? 'stands' : 'stand'} above`]),
  ];
}

function profileLines(profile: ProfileCoverage): readonly string[] {
  const { type, verdict, kit, mappings, resources, elements, searches, certified, optional } = profile;
  const remarks = [...(certified ? [] : ['not in (g)(10)']), ...(optional ? ['optional'] : [])];
  const title = `${profile.profile} (${[type, ...remarks].join(', ')}): ${verdict}`;
  const of =
    resources === null ? '  mapped by' : `  ${number(resources)} ${resources === 1 ? 'resource' : 'resources'} of`;
  const more = mappings.length > MOST_MAPPINGS ? [`${mappings.length - MOST_MAPPINGS} more`] : [];
  const share = (one: ElementCoverage): string => percent(one.resources ?? 0, resources ?? 0);
  const named = (state: ElementCoverage['state']) => elements.filter(one => one.state === state);
  const filled = named('filled');
  const isAlways = (one: ElementCoverage): boolean => one.resources === resources;
  const required = searches.filter(({ offered }) => offered);
  const texts = (strength: string): readonly string[] =>
    required.filter(one => one.strength === strength).map(({ search }) => search);
  return [
    title,
    ...paragraph([...mappings.slice(0, MOST_MAPPINGS), ...more].join(', '), `${of} `, ' '.repeat(LABEL + 1)),
    ...row(
      'always',
      filled.filter(isAlways).map(({ element }) => element),
    ),
    ...row(
      'partly',
      filled.filter(one => !isAlways(one)).map(one => `${one.element} ${share(one)}`),
    ),
    ...row(
      'mapped',
      named('mapped').map(({ element }) => element),
    ),
    ...row(
      'never',
      named('empty').map(({ element }) => element),
    ),
    ...row(
      'by another',
      named('other').map(({ element }) => element),
    ),
    ...row(
      'not mapped',
      named('unmapped').map(({ element }) => element),
    ),
    ...row(
      'no reference',
      elements.flatMap(({ element, lacksTargets }) => lacksTargets.map(target => `${element} → ${target}`)),
    ),
    ...row('SHALL', texts('SHALL')),
    ...row('SHOULD', texts('SHOULD')),
    ...row(
      'not offered',
      searches.filter(({ offered }) => !offered).map(one => `${one.search} (${one.strength}: ${one.lacks.join(', ')})`),
    ),
    ...row('test kit', kit ? [kit.verdict] : []),
  ];
}

const isMapped = ({ verdict }: ProfileCoverage): boolean => verdict !== 'not mapped';

/** Lists the profiles that are not mapped, by type; those required by the certification first. */
function unmappedLines(profiles: readonly ProfileCoverage[]): readonly string[] {
  const [wanted, others] = [true, false].map(is => profiles.filter(one => (one.kit !== null) === is));
  return [
    ...typeLines('Profiles of the (g)(10) tests that no mapping claims', wanted),
    ...typeLines(wanted?.length ? 'Other profiles that no mapping claims' : 'Profiles that no mapping claims', others),
  ];
}

function typeLines(title: string, profiles: readonly ProfileCoverage[] = []): readonly string[] {
  if (profiles.length === 0) return [];
  const indent = ' '.repeat(INDENT);
  const lines = [...Map.groupBy(profiles, ({ type }) => type)].flatMap(([type, own]) => {
    const names = own.map(({ profile }) => profile).join(',\n');
    return paragraph(names, `  ${type} `.padEnd(INDENT), indent, '\n');
  });
  return ['', title, ...lines];
}

function unusedLines({ tables, columns }: Unused, isCounted: boolean): readonly string[] {
  const rows = (count: number | null): string => (count === null ? '?' : number(count));
  const width = Math.max(...[...tables, ...columns].map(one => rows(one.rows).length), 4);
  const title = isCounted ? ', by number of rows' : '';
  const more = (all: number): readonly string[] => (all > MOST ? [`  and ${all - MOST} more, which --json lists`] : []);
  const beside = (count: number | null): string => (isCounted ? `  ${rows(count).padStart(width)}  ` : '  ');
  return [
    ...(tables.length === 0 ? [] : ['', `Tables that no mapping reads${title}`]),
    ...tables.slice(0, MOST).map(one => `${beside(one.rows)}${one.table} (${plural(one.columns, 'column')})`),
    ...more(tables.length),
    ...(columns.length === 0 ? [] : ['', `Columns that no mapping reads, of tables that some mapping reads${title}`]),
    ...columns.slice(0, MOST).flatMap(one => {
      const begin = `${beside(one.rows)}${one.table}: `;
      return paragraph(one.columns.join(', '), begin, ' '.repeat(beside(one.rows).length + 2));
    }),
    ...more(columns.length),
  ];
}

/** Returns the lines of a labeled list, broken between its items. */
function row(label: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  return paragraph(
    items.map(short).join(',\n'),
    `  ${label.padEnd(LABEL - 2)} `.padEnd(LABEL),
    ' '.repeat(LABEL + 1),
    '\n',
  );
}

/** Shortens a text: removes the beginning of URLs, and all but the first of several values. */
function short(text: string): string {
  return text.replace(/=https?:\/\/(?:[^/,]*\/)*/g, '=').replace(/=([^|+[]*)\|[^+[]*\|[^+[]*/g, '=$1|…');
}

/** Wraps a text to lines of at most WIDTH, unless a part is longer. */
function paragraph(text: string, first: string, next: string, between = ' '): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const part of text.split(between)) {
    if (!isEmpty && line.length + 1 + part.length > WIDTH) {
      lines.push(line);
      line = next;
      isEmpty = true;
    }
    line += isEmpty ? part : ` ${part}`;
    isEmpty = false;
  }
  return [...lines, line];
}

function percent(part: number, whole: number): string {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  return share > 0 && share < 1 ? '<1 %' : `${share > 99 && part < whole ? 99 : Math.round(share)} %`;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}
