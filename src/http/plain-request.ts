/**
 * Requests on which nothing depends but address, Host, Accept and Accept-Encoding: those that a kept answer may be sent to
 * without another look. In: names and values of headers in turn, as they were sent. Out: the few that count, or undefined.
 */

/** Headers that the key holds, or that choose a compressed form. */
const ASKED = ['host', 'accept', 'accept-encoding'] as const;

export type Asked = Readonly<Record<(typeof ASKED)[number], string | undefined>>;

/** Headers that no answer depends on. */
const IDLE = [
  ...['accept-language', 'connection', 'forwarded', 'keep-alive', 'priority', 'referer', 'user-agent', 'via'],
  ...['sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-user'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'x-real-ip'],
];

const MEANING = new Map<string, keyof Asked | 'idle'>([
  ...ASKED.map(name => [name, name] as const),
  ...IDLE.map(name => [name, 'idle'] as const),
]);

/** Undefined where there is a header that an answer may depend on, or one that counts stands there twice. */
export function askedOf(raw: readonly string[]): Asked | undefined {
  const asked: Partial<Record<keyof Asked, string | undefined>> = {};
  for (let i = 0; i < raw.length; i += 2) {
    const meaning = MEANING.get(raw[i]?.toLowerCase() ?? '');
    if (meaning === 'idle') continue;
    if (meaning === undefined || asked[meaning] !== undefined) return undefined;
    asked[meaning] = raw[i + 1];
  }
  return { host: asked.host, accept: asked.accept, 'accept-encoding': asked['accept-encoding'] };
}
