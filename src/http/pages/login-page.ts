/**
 * Writes the form to log in to the REST interface, on the start page and on a page of its own. In: where the form is
 * sent, and where the browser continues. Out: HTML without script.
 */
import { html } from 'hono/html';
import { type AppParts, type HttpContext, serverBase } from '../context.ts';
import { chartAddress } from './chart-address.ts';
import { type Html, page } from './page-frame.ts';

export interface LoginForm {
  /** Absolute address. */
  readonly action: string;
  /** Absolute address at which the browser continues. */
  readonly next: string;
}

export function loginForm({ action, next }: LoginForm): Html {
  return html`<form class="stack" method="post" action="${action}">
<input type="hidden" name="next" value="${next}">
<label><span>User name</span><input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<label><span>Password</span><input name="password" type="password" autocomplete="current-password" required></label>
<p><button>Log in</button></p></form>`;
}

/** Writes the page shown when a login is needed; `failure` says why one was refused. */
export function loginPage(c: HttpContext, parts: AppParts, next: string, failure: string | undefined): Html {
  const form = { action: `${serverBase(c, parts)}${parts.config.apiPath}/users/login`, next };
  return page(
    'Log in',
    [{ text: 'Lintel', href: `${serverBase(c, parts)}/` }, { text: 'Log in' }],
    html`<header><h1>Log in</h1></header>
<section>${failure === undefined ? html`<p>Log in to continue.</p>` : html`<p role="alert">${failure}</p>`}${loginForm(form)}</section>`,
  );
}

/**
 * Returns the address after a login: an address of this REST interface, never of another site; by default the charts.
 */
export function nextAddress(c: HttpContext, parts: AppParts, asked: unknown): string {
  const charts = chartAddress(c, parts);
  const within = new URL(`${serverBase(c, parts)}${parts.config.apiPath}/`);
  const url = typeof asked === 'string' ? URL.parse(asked, within.href) : null;
  const isHere =
    url !== null &&
    url.origin === within.origin &&
    url.pathname.length > within.pathname.length &&
    url.pathname.startsWith(within.pathname);
  return isHere && url.username === '' && url.password === '' ? url.href : charts;
}
