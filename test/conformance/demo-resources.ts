/**
 * Opens the demo for the conformance tests: the special charts of the fixture behind the whole HTTP application, and
 * all resources that it serves.
 */
import type { Hono } from 'hono';
import { readConfig } from '../../src/config/config.ts';
import { createApp } from '../../src/http/app.ts';
import type { HttpEnv } from '../../src/http/context.ts';
import { allOf } from '../../src/law/searches.ts';
import { createLog } from '../../src/log.ts';
import { type Demo, openDemo } from '../law/demo.ts';

/** All special charts of the fixture and a few ordinary ones. */
const PATIENTS = 29;

export interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta?: { readonly profile?: readonly string[]; readonly lastUpdated?: string };
  readonly [element: string]: unknown;
}

export interface ServedDemo extends Demo {
  readonly app: Hono<HttpEnv>;
  readonly resources: ReadonlyMap<string, readonly Resource[]>;
}

/** Opens the demo, reads the resources of some types or of all, and starts the HTTP application. */
export async function serveDemo(types?: readonly string[]): Promise<ServedDemo> {
  const demo = await openDemo({ patients: PATIENTS });
  const resources = new Map<string, readonly Resource[]>();
  for (const type of types ?? demo.facade.offers.types)
    resources.set(type, (await allOf(demo.facade, type, [])) as readonly Resource[]);
  const app = createApp({
    facade: demo.facade,
    served: { pack: { name: 'demo', title: 'Demo', version: '0' }, mappings: 0, warnings: [] },
    config: readConfig({}),
    log: createLog({ level: 'error', format: 'json', write: () => {} }),
    ping: async () => {},
  });
  const close = async (): Promise<void> => {
    // The process runs other files too, and keeps this file's variables.
    resources.clear();
    await demo.close();
  };
  return { ...demo, app, resources, close };
}

/** Short names of the profiles that a resource claims: the last segment of each canonical URL. */
export function claimsOf({ meta }: Resource): readonly string[] {
  return (meta?.profile ?? []).map(url => url.slice(url.lastIndexOf('/') + 1));
}
