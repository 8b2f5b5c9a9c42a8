/**
 * Writes the report of a check as one HTML page without script or other files, for light and dark mode. In: the report.
 * Out: HTML text.
 */
import { escapeXml } from '../common/markup.ts';
import { type Problem, placeText, problemCode } from '../mapping/load/problem.ts';
import { type CheckReport, countOf } from './report.ts';
import type { SectionReport } from './run.ts';
import type { Table } from './section.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8885; --soft: #8881; --error: #b3261e; --warning: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --error: #ff8a80; --warning: #f2c04e; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; max-width: 76rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .3rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
p { margin: .3rem 0; } ul { padding: 0; margin: .5rem 0; list-style: none; }
li { padding: .4rem .6rem; border-left: 4px solid var(--line); background: var(--soft); margin: .3rem 0; overflow-wrap: anywhere; }
li.error { border-color: var(--error); } li.warning { border-color: var(--warning); }
.error b { color: var(--error); } .warning b { color: var(--warning); }
code { font: .92em ui-monospace, monospace; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; } .number { text-align: right; }
`;

export function reportPage(report: CheckReport): string {
  const { pack, at, seed, budgetSeconds, problems, sections } = report;
  const title = `Check of ${pack ?? 'a pack that cannot be loaded'}`;
  const found = `${countOf(problems, 'error')} errors, ${countOf(problems, 'warning')} warnings`;
  const drawn = `seed ${seed}, ${budgetSeconds === undefined ? 'every row' : `budget ${budgetSeconds} s`}`;
  return framed(
    title,
    `<p>${found}. ${escapeXml(at)}, ${drawn}.</p>
${problems.length === 0 ? '' : `<ul>\n${problems.map(problemItem).join('\n')}\n</ul>`}
${sections.map(sectionPart).join('\n')}`,
  );
}

/** Wraps the content, which is HTML, in the page of a report. */
export function framed(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeXml(title)}</h1>
${content}
</body>
</html>
`;
}

function problemItem(problem: Problem): string {
  const { severity, position, message, expected, found, suggestion } = problem;
  const more = [
    expected === undefined ? '' : `; expected ${escapeXml(expected)}`,
    found === undefined ? '' : `; found ${escapeXml(found)}`,
    suggestion === undefined ? '' : `; did you mean ${escapeXml(suggestion)}?`,
  ].join('');
  return `<li class="${severity}"><b>${severity}</b> <code>${escapeXml(placeText(position))}</code> ${escapeXml(message)}${more} [${problemCode(problem)}]</li>`;
}

function sectionPart({ title, seconds, notes, tables }: SectionReport): string {
  return `<h2>${escapeXml(title)}</h2>
${notes.map(note => `<p>${escapeXml(note)}</p>`).join('\n')}
<p>${seconds.toFixed(1)} s</p>
${tables.map(tablePart).join('\n')}`;
}

/** Writes a table with its title. */
export function tablePart({ title, columns, rows }: Omit<Table, 'name'>): string {
  const cell = (tag: string, content: string | number): string =>
    `<${tag}${typeof content === 'number' ? ' class="number"' : ''}>${escapeXml(String(content))}</${tag}>`;
  return `<h3>${escapeXml(title)}</h3>
<div class="wide"><table>
<tr>${columns.map(column => cell('th', column)).join('')}</tr>
${rows.map(row => `<tr>${row.map(content => cell('td', content)).join('')}</tr>`).join('\n')}
</table></div>`;
}
