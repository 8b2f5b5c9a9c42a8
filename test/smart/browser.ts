/**
 * A browser without script, sufficient for the authorization server's pages: it keeps cookies, follows redirects on its
 * origin, and sends forms.
 */

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

export interface Browser {
  open(url: string): Promise<Page>;
  /** Sends a form as this site's own page would; `headers` override that. */
  send(url: string, fields: Fields, headers?: Readonly<Record<string, string>>): Promise<Page>;
  readonly cookies: ReadonlyMap<string, string>;
}

export type Fields = readonly (readonly [name: string, value: string])[];

/** A redirect to another origin than `home` ends the navigation: its URL becomes the page's. */
export function openBrowser(home: string): Browser {
  const cookies = new Map<string, string>();
  const { origin } = new URL(home);

  const keep = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
  };

  const go = async (url: string, init: RequestInit): Promise<Page> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string> | undefined), ...(cookie === '' ? {} : { cookie }) };
    const response = await fetch(url, { ...init, headers: { accept: 'text/html', ...headers }, redirect: 'manual' });
    keep(response.headers);
    const location = response.headers.get('location');
    if (location === null)
      return { url, status: response.status, html: await response.text(), headers: response.headers };
    await response.arrayBuffer();
    const next = new URL(location, url);
    return next.origin === origin && !next.searchParams.has('code') && !next.searchParams.has('error')
      ? go(next.href, {})
      : { url: next.href, status: response.status, html: '', headers: response.headers };
  };

  return {
    cookies,
    open: url => go(url, {}),
    send: (url, fields, headers = { origin }) =>
      go(url, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams(fields.map(([name, value]) => [name, value])).toString(),
      }),
  };
}

/** The target of the form whose action contains a text. */
export function formAction({ html, url }: Page, text: string): string {
  const found = [...html.matchAll(/<form[^>]* action="([^"]+)"/g)].map(match => match[1] ?? '');
  const action = found.find(one => one.includes(text));
  if (action === undefined) throw new Error(`No form leads to ${text} on ${new URL(url).pathname}: ${found.join()}`);
  return action;
}

/** The values that a page's forms send without any input. */
export function hiddenFields({ html }: Page): Fields {
  const found = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)">/g);
  return [...found].map(([, name = '', value = '']) => [name, value]);
}

/** Values of the ticked boxes with a name, or of all its boxes. */
export function boxes({ html }: Page, name: string, ticked: 'ticked' | 'all' = 'ticked'): readonly string[] {
  const found = html.matchAll(/<input type="checkbox" name="([^"]+)" value="([^"]+)"( checked)?>/g);
  return [...found]
    .filter(([, own, , checked]) => own === name && (ticked === 'all' || checked !== undefined))
    .map(([, , value = '']) => value.replaceAll('&amp;', '&'));
}
