/**
 * Requests on which nothing depends but address, Host, Accept, Accept-Encoding and who asks: those that a kept answer
 * may be sent to without another look. In: names and values of headers in turn, as they were sent. Out: the few that
 * count, or undefined.
 */

/** Headers that the key holds, that choose a compressed form, or that say who asks. */
const ASKED = ['host', 'accept', 'accept-encoding', 'authorization'] as const;

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

/**
 * Undefined where there is a header that an answer may depend on, or one that counts stands there twice. `byToken`: the
 * server lets people in by access token; on one that is open nobody expects credentials.
 */
export function askedOf(raw: readonly string[], byToken: boolean): Asked | undefined {
  const asked: Partial<Record<keyof Asked, string | undefined>> = {};
  for (let i = 0; i < raw.length; i += 2) {
    const meaning = MEANING.get(raw[i]?.toLowerCase() ?? '');
    if (meaning === 'idle') continue;
    if (meaning === undefined || asked[meaning] !== undefined) return undefined;
    if (meaning === 'authorization' && !byToken) return undefined;
    asked[meaning] = raw[i + 1];
  }
  const { host, accept, authorization } = asked;
  return { host, accept, authorization, 'accept-encoding': asked['accept-encoding'] };
}
