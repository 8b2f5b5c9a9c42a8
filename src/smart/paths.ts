/**
 * Decides who answers a path of the authorization server, and serves the paths that anybody may read. In: the path of a
 * request. Out: who answers it, and its pattern for the log and for metrics, without the id of a login.
 */

import { Hono } from 'hono';
import { type BrandBundle, brandBundle, brandIdentifier } from './brands.ts';
import { DEMO_APP } from './demo-app.ts';
import { smartConfiguration } from './discovery.ts';
import { CALLBACK } from './issuer-routes.ts';
import type { NodeEnv, SmartParts } from './parts.ts';
import { AUTH_PATH, ROUTES } from './provider.ts';
import { STYLE, STYLE_JSON } from './style.ts';

export function publishedPaths(fhirPath: string) {
  return {
    configuration: `${fhirPath}/.well-known/smart-configuration`,
    style: AUTH_PATH + PUBLISHED.style,
    brands: AUTH_PATH + PUBLISHED.brands,
  };
}

/** Returns the pattern of a path that is answered here; undefined for one of the provider. */
export function ownPaths({ playsEhr }: SmartParts, fhirPath: string): (path: string) => string | undefined {
  const exact = new Set([
    ...['login', 'apps', 'apps/end', 'apps/logout', 'launch', 'login/issuer'].map(name => `${AUTH_PATH}/${name}`),
    ...(playsEhr ? [`${AUTH_PATH}/ehr`, DEMO_APP] : []),
    ...Object.values(publishedPaths(fhirPath)),
    AUTH_PATH + CALLBACK,
  ]);
  const interaction = new RegExp(
    `^${AUTH_PATH}/interaction/[\\w-]{1,64}(/(?:login|issuer|back|patient|encounter|consent))?$`,
  );
  return path => {
    if (exact.has(path)) return path;
    const match = interaction.exec(path);
    return match === null ? undefined : `${AUTH_PATH}/interaction/:uid${match[1] ?? ''}`;
  };
}

const PROVIDER_PATHS: ReadonlySet<string> = new Set([
  ...Object.values(ROUTES),
  ...['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
]);

/** Returns the pattern of a path that the provider answers. */
export function providerRoute(path: string): string {
  const rest = path.slice(AUTH_PATH.length);
  if (PROVIDER_PATHS.has(rest)) return path;
  return rest.startsWith(`${ROUTES.authorization}/`) ? `${AUTH_PATH}${ROUTES.authorization}/:uid` : `${AUTH_PATH}/*`;
}

/** Paths relative to the authorization server. */
export const PUBLISHED = { style: STYLE_JSON, brands: '/brands.json' } as const;

/** Seconds for which the brand may be cached. */
const BRAND_AGE = 300;

/**
 * Serves what anybody may read without credentials and from any origin: smart-configuration, the style, the brand of
 * the hospital. In: addresses, and the pack as it is served now. Out: JSON.
 * `configuration`, `style`, `brands`: paths of the requests.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html, …/brands.html
 */
export function publishedRoutes(
  { issuer, fhirBase, facade }: SmartParts,
  paths: Readonly<Record<'configuration' | 'style' | 'brands', string>>,
): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();
  let known: { readonly version: string; readonly bundle: BrandBundle } | undefined;
  const place = issuer + PUBLISHED.brands;

  routes.get(paths.configuration, c => {
    c.header('Access-Control-Allow-Origin', '*');
    const { types, pack } = facade().registry;
    const { brand } = pack;
    return c.json(smartConfiguration(issuer, types, brand && { bundle: place, identifier: brandIdentifier(brand) }));
  });

  routes.get(paths.style, c => {
    c.header('Access-Control-Allow-Origin', '*');
    return c.json(STYLE);
  });

  routes.get(paths.brands, c => {
    c.header('Access-Control-Allow-Origin', '*');
    const { registry, changed } = facade();
    const { pack, version } = registry;
    if (pack.brand === undefined) return c.json({ error: 'not_found' }, 404);
    if (known?.version !== version) {
      const bundle = brandBundle(pack, pack.brand, fhirBase, place.replace(/\.json$/, ''), changed);
      known = { version, bundle };
    }
    const { json, etag } = known.bundle;
    c.header('Access-Control-Expose-Headers', 'ETag');
    c.header('Cache-Control', `public, max-age=${BRAND_AGE}`);
    c.header('ETag', etag);
    c.env.outgoing.removeHeader('Pragma');
    const tags = (c.req.header('if-none-match') ?? '').split(',').map(tag => tag.trim());
    if (tags.includes(etag) || tags.includes('*')) return c.body(null, 304);
    return c.body(json, 200, { 'Content-Type': 'application/fhir+json; charset=utf-8' });
  });

  return routes;
}
