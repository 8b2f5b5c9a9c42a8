/** Makes a whole HTTP application over a facade of a few lines, so that http is tested without a database. */
import type { Hono } from 'hono';
import { readConfig } from '../../src/config/config.ts';
import type { RequestContext, SearchRequest } from '../../src/facade.ts';
import { createApp } from '../../src/http/app.ts';
import type { AppParts, HttpEnv } from '../../src/http/context.ts';
import { createLog } from '../../src/log.ts';

export type SmallFacade = AppParts['facade'];

export interface AppUnderTest {
  readonly app: Hono<HttpEnv>;
  /** The requests that reached the facade, in order. */
  readonly calls: { readonly request: SearchRequest; readonly context: RequestContext }[];
  readonly lines: string[];
}

export const WIDGET = '{"resourceType":"Widget","id":"1","weight":1.50,"name":"Zoë <b>"}';

/** `environment`: as for the process; `facade` and `ping` replace those of the small stand-in. */
export function appUnderTest(
  environment: Readonly<Record<string, string>> = {},
  replace: Partial<SmallFacade> &
    Pick<
      Partial<AppParts>,
      'ping' | 'served' | 'answers' | 'admission' | 'entry' | 'authorization' | 'audit' | 'rate'
    > = {},
): AppUnderTest {
  const calls: AppUnderTest['calls'] = [];
  const lines: string[] = [];
  const { ping, served, answers, admission, entry, authorization, audit, rate, ...methods } = replace;
  const facade: SmallFacade = {
    async read(type, id, parameters, context) {
      calls.push({ request: { type, parameters }, context });
      if (id !== '1') return undefined;
      return { type, id, json: WIDGET, lastUpdated: '2024-03-10T02:30:00.500-05:00' };
    },
    async search(request, context) {
      calls.push({ request, context });
      return { json: '{"resourceType":"Bundle","type":"searchset"}', entries: 0 };
    },
    async searchAll(parameters, context) {
      calls.push({ request: { type: '', parameters }, context });
      return { json: '{"resourceType":"Bundle","type":"searchset"}', entries: 0 };
    },
    async searchCompartment({ type, parameters }, context) {
      calls.push({ request: { type, parameters }, context });
      return { json: '{"resourceType":"Bundle","type":"searchset"}', entries: 0 };
    },
    shown: parameters => parameters,
    registry: { types: ['Widget', 'Gadget'], ofType: () => [] },
    offers: {
      types: ['Widget', 'Gadget', 'Binary'],
      find: () => undefined,
      isNeverGiven: () => false,
      of: () => [],
      valueSet: () => undefined,
      hierarchies: undefined,
    },
    recordOperations: [],
    async operate() {
      throw new Error('Expected no operation');
    },
    capabilities: ({ base }) => ({
      resourceType: 'CapabilityStatement',
      implementation: { url: base },
      rest: [
        {
          resource: [
            { type: 'Widget', searchParam: [{ name: 'name' }, { name: 'maker' }], supportedProfile: ['http://x/y'] },
            { type: 'Gadget', searchParam: [{ name: 'patient' }] },
            { type: 'Binary' },
          ],
        },
      ],
    }),
    ...methods,
  };
  const app = createApp({
    facade,
    served: served ?? {
      pack: { name: 'workshop', title: 'Workshop & sons', version: 'abc123' },
      mappings: 2,
      warnings: [],
    },
    config: { ...readConfig(environment), ...(entry ? { access: 'jwt' } : {}) },
    log: createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
    ping: ping ?? (async () => {}),
    ...(answers ? { answers } : {}),
    ...(admission ? { admission } : {}),
    ...(audit ? { audit } : {}),
    ...(rate ? { rate } : {}),
    ...(entry ? { entry, authorization } : {}),
  });
  return { app, calls, lines };
}

/** The issues of an OperationOutcome response. */
export async function issuesOf(response: Response): Promise<readonly { code: string; diagnostics: string }[]> {
  const body = (await response.json()) as { resourceType: string; issue: { code: string; diagnostics: string }[] };
  if (body.resourceType !== 'OperationOutcome')
    throw new Error(`Expected an OperationOutcome, got ${body.resourceType}`);
  return body.issue;
}
