/**
 * Tells the paths of the authorization server apart. In: the path of a request. Out: who answers it, and its pattern
 * for the log and for metrics, without the id of a login.
 */
import { DEMO_APP } from './demo-app.ts';
import { CALLBACK } from './issuer-routes.ts';
import type { SmartParts } from './parts.ts';
import { AUTH_PATH, ROUTES } from './provider.ts';
import { PUBLISHED } from './published.ts';

export function publishedPaths(fhirPath: string) {
  return {
    configuration: `${fhirPath}/.well-known/smart-configuration`,
    style: AUTH_PATH + PUBLISHED.style,
    brands: AUTH_PATH + PUBLISHED.brands,
  };
}

/** Patterns of the paths that are answered here and not by the provider. */
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

/** Pattern of a path that the provider answers. */
export function providerRoute(path: string): string {
  const rest = path.slice(AUTH_PATH.length);
  if (PROVIDER_PATHS.has(rest)) return path;
  return rest.startsWith(`${ROUTES.authorization}/`) ? `${AUTH_PATH}${ROUTES.authorization}/:uid` : `${AUTH_PATH}/*`;
}
