/**
 * Runs the whole HTTP application over the demo, and records all its outputs: answers, log, metrics, and the
 * statements.
 */

import type { Hono } from 'hono';
import { readConfig } from '../../src/config/config.ts';
import type { Facade } from '../../src/facade.ts';
import { createApp } from '../../src/http/app.ts';
import type { HttpEnv } from '../../src/http/context.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';
import type { Statement } from '../../src/sql/plan.ts';
import { openDemo } from '../law/demo.ts';

export interface DemoApp {
  readonly app: Hono<HttpEnv>;
  readonly facade: Facade;
  readonly metrics: Metrics;
  readonly lines: string[];
  /** Since the list was last emptied. */
  readonly statements: Statement[];
  close(): Promise<void>;
}

export async function demoApp(patients = 3): Promise<DemoApp> {
  const statements: Statement[] = [];
  const demo = await openDemo({
    patients,
    onQuery: (plan, places, now) => statements.push(demo.database.render(plan, places, now)),
  });
  const lines: string[] = [];
  const metrics = createMetrics();
  const { facade, registry } = demo;
  const app = createApp({
    facade,
    served: {
      pack: { name: 'medkeep', title: 'Demo', version: '1' },
      mappings: registry.mappings.length,
      warnings: [],
    },
    config: readConfig({}),
    log: createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
    metrics,
    ping: async () => {},
  });
  return { app, facade, metrics, lines, statements, close: () => demo.close() };
}
