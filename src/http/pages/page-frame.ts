/**
 * Writes the frame of all pages: head, style, breadcrumbs. In: a title, the breadcrumbs and the content. Out: one HTML
 * document without script that loads nothing, for screens from 320 px, light and dark.
 */
import { hash } from 'node:crypto';
import { html, raw } from 'hono/html';

export type Html = ReturnType<typeof html>;

/** A breadcrumb; without an address it is the page itself. */
export interface Step {
  readonly text: string;
  readonly href?: string;
}

/** A drawing of the lintel over a door, inline so that browsers request no file. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 14V3h12v11' fill='none' stroke='%230b6e63' stroke-width='3'/%3E%3C/svg%3E";

export function page(title: string, way: readonly Step[], content: Html | readonly Html[]): Html {
  const steps = way.map(({ text, href }, i) => {
    const step =
      href === undefined ? html`<span aria-current="page">${text}</span>` : html`<a href="${href}">${text}</a>`;
    return i === 0 ? step : html`<span class="step"><span aria-hidden="true">/</span> ${step}</span>`;
  });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${raw(ICON)}">
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
${way.length === 0 ? '' : html`<nav class="way" aria-label="Where you are">${steps}</nav>`}
${content}
</main>
</body>
</html>`;
}

const STYLE = `
:root {
  --ground: #f6f5f1; --sheet: #ffffff; --ink: #1d2b2a; --quiet: #566462; --line: #dcdad2;
  --accent: #0b6e63; --code: #eef3f1; --bad: #a3341f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121817; --sheet: #1a2221; --ink: #e4ebe9; --quiet: #9aaba8; --line: #2e3a38;
    --accent: #5fd0bf; --code: #222d2b; --bad: #ff9a80;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
main:has(.beside) { max-width: 84rem; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 3px; }
a:focus-visible, summary:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font: 0.9em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.way { display: flex; flex-wrap: wrap; gap: 0.25rem 0.5rem; color: var(--quiet); font-size: 0.95rem; }
.brand { margin: 0; color: var(--accent); font-weight: 600; letter-spacing: 0.02em; }
.brand::before { content: ""; display: inline-block; width: 1.1em; height: 0.8em; margin-right: 0.5em; border: 0.18em solid currentColor; border-bottom: 0; }
h1 { margin: 0.3rem 0 0.6rem; font-size: clamp(1.5rem, 4vw, 2.3rem); line-height: 1.2; letter-spacing: -0.015em; text-wrap: balance; overflow-wrap: break-word; }
h2 { margin: 0 0 0.75rem; font-size: 1.15rem; overflow-wrap: break-word; }
.lead { max-width: 42rem; margin: 0; color: var(--quiet); }
.actions { display: flex; flex-wrap: wrap; gap: 0.35rem 1.25rem; margin: 0.5rem 0 0; padding: 0; list-style: none; }
section { margin-top: 1.5rem; padding: 1.5rem; background: var(--sheet); border: 1px solid var(--line); border-radius: 10px; }
section.alarm { border-color: var(--bad); }
.alarm h2 { color: var(--bad); }
section > p { margin: -0.4rem 0 1rem; color: var(--quiet); }
section > p:first-child { margin-top: 0; }
section > p:last-child { margin-bottom: 0; }
section > form + p { margin-top: 1rem; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) minmax(0, 1fr); gap: 0.35rem 1.5rem; margin: 0; }
dt { color: var(--quiet); overflow-wrap: break-word; hyphens: manual; }
dd { margin: 0; min-width: 0; overflow-wrap: break-word; }
dd dl { gap: 0.1rem 1rem; padding-left: 0.75rem; border-left: 2px solid var(--line); grid-template-columns: minmax(5rem, max-content) minmax(0, 1fr); }
dd > ol { margin: 0; padding: 0; list-style: none; display: grid; gap: 0.35rem; }
header dl { margin-top: 1.25rem; }
.quiet { color: var(--quiet); font-size: 0.875em; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
@media (min-width: 62rem) { .beside { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.samples { margin: 0; padding: 0; list-style: none; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
pre { margin: 0.35rem 0 0; padding: 0.65rem 0.85rem; overflow-x: auto; background: var(--code); border-radius: 6px; }
.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; text-align: left; vertical-align: baseline; border-top: 1px solid var(--line); font-weight: 400; }
thead th { border-top: 0; padding-top: 0; color: var(--quiet); font-size: 0.875rem; }
tbody th { font-weight: 600; }
.number { width: 5rem; font-variant-numeric: tabular-nums; }
.types td:last-child { padding-right: 0; max-width: 0; width: 55%; }
.types summary { display: flex; gap: 0.75rem; }
summary { cursor: pointer; }
summary .number { width: 1.5rem; flex: none; text-align: right; }
.names { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--quiet); }
details[open] .names { white-space: normal; }
.entry { margin-top: 0.75rem; padding-top: 0.75rem; border-top: 1px solid var(--line); }
.entry > summary { font-weight: 600; overflow-wrap: break-word; }
.entry > .beside { margin-top: 0.75rem; }
.good { color: var(--accent); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
ul { margin: 0; padding-left: 1.1rem; overflow-wrap: break-word; }
form.search { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr)); gap: 0.75rem 1.25rem; }
form.search label { display: grid; gap: 0.15rem; min-width: 0; color: var(--quiet); font-size: 0.9rem; }
input, select, button { font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: 0.35rem 0.6rem; min-width: 0; max-width: 100%; }
button { cursor: pointer; color: var(--accent); border-color: currentColor; }
button.quiet { font-size: inherit; }
form.inline { display: inline; }
form.stack { display: grid; gap: 0.9rem; max-width: 26rem; }
form.stack label { display: grid; gap: 0.15rem; color: var(--quiet); font-size: 0.9rem; }
form.stack p, .decide { margin: 0; }
.decide { margin-top: 1.5rem; display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
.choices, .pick { list-style: none; padding: 0; display: grid; gap: 0.6rem; }
.choices .choices { padding: 0.5rem 0 0 1.6rem; }
.choices label { display: block; padding-left: 1.8em; text-indent: -1.8em; }
.choices details { margin-left: 1.6rem; }
.pick button { width: 100%; text-align: left; }
input[type="checkbox"] { padding: 0; width: 1.1em; height: 1.1em; vertical-align: -0.15em; accent-color: var(--accent); }
.day { white-space: nowrap; }
form.look-up p, form.search p { margin: 0; }
form.look-up { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0.35rem 0.75rem; align-items: end; }
form.look-up label { display: grid; gap: 0.15rem; min-width: 0; color: var(--quiet); font-size: 0.9rem; }
form.look-up p { grid-column: 1 / -1; }
form.session { margin-top: 0.75rem; }
.documents { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 0.35rem 1.25rem; padding: 0; list-style: none; }
[role="alert"] { color: var(--bad); font-weight: 600; }
footer { margin-top: 1.5rem; color: var(--quiet); font-size: 0.9rem; overflow-wrap: break-word; }
@media (max-width: 34rem) {
  main { padding-top: 1.5rem; } section { padding: 1.1rem; } .number { width: 4rem; }
  dl, dd dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dl > dd { margin-bottom: 0.5rem; } dl > dd:last-child { margin-bottom: 0; }
  .stacked thead { position: absolute; clip-path: inset(50%); }
  .stacked tr, .stacked th { display: block; }
  .stacked tr { padding: 0.5rem 0; border-top: 1px solid var(--line); }
  .stacked th, .stacked td { padding: 0; border: 0; }
  .stacked td { display: inline; }
  .stacked td:not(:empty):not(:last-child)::after { content: ", "; }
  dl.facts { grid-template-columns: minmax(5.5rem, max-content) minmax(0, 1fr); gap: 0.15rem 1rem; }
  dl.facts > dd { margin: 0; }
  .types th:nth-child(2), .types td:nth-child(2) { display: none; }
}
`;

/** Policy sent with every page: allows only its own style and forms to this server; nothing is run or fetched. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
