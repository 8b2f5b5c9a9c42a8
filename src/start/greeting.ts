/** Writes the text that is printed when the server has started: its addresses, and requests to try. */
import { curlOf } from '../common/curl.ts';
import { plural } from '../common/plural.ts';
import type { Config } from '../config/config.ts';
import { sampleRequests } from '../http/pages/samples.ts';
import type { Version } from '../reload/version.ts';
import type { DemoAccount } from '../rest/start.ts';

/** Returns the text. `toTry` replaces the requests that anybody may send. */
export function greeting(
  base: string,
  config: Config,
  { facade, rest }: Version,
  demo: DemoAccount | undefined,
  toTry = [
    'Try:',
    '',
    ...sampleRequests(base + config.fhirPath, facade).map(({ url }) => `  ${curlOf(config.tls)} '${url}'`),
  ].join('\n'),
): string {
  const { registry } = facade;
  const fhir = base + config.fhirPath;
  return [
    `Lintel serves ${registry.pack.title}: ${plural(registry.mappings.length, 'mapping')} of ${plural(registry.types.length, 'type')}.`,
    '',
    `  Start here   ${base}/`,
    `  FHIR base    ${fhir}`,
    ...(rest === undefined ? [] : [`  REST base    ${base}${config.apiPath}`]),
    ...(rest === undefined || demo === undefined ? [] : [`  Log in as    ${demoText(demo)}`]),
    '',
    toTry,
    '',
    'Stop with Ctrl+C.',
  ].join('\n');
}

function demoText({ user, password }: DemoAccount): string {
  return password === undefined ? `${user}, with DEMO_PASSWORD` : `${user}, password ${password}`;
}
