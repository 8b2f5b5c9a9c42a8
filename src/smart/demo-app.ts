/**
 * Serves the app of the demo, a page with a script that launches like any app. In: demo-app.html. Out: that page for
 * this server, with a policy that lets only its own script run.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Path of the app. */
export const DEMO_APP = '/demo-app';

/** Returns the app. `fhirPath`: of the FHIR interface, with which the app launches standalone. */
export function demoApp(fhirPath: string): { readonly html: string; readonly policy: string } {
  const text = readFileSync(new URL('demo-app.html', import.meta.url), 'utf8');
  const html = text.replace("new URL('fhir', here)", `new URL('${fhirPath.slice(1)}', here)`);
  const script = /<script>(.*)<\/script>/s.exec(html)?.[1] ?? '';
  const digest = hash('sha256', script, 'base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${digest}'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'`;
  return { html, policy };
}
