/**
 * Numbers for Prometheus. In: what happens, and who else counts. Out: the text of `/metrics`. No label holds a value of a
 * patient or of a request: methods and statuses are few, routes are patterns, mappings are those of the pack.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Spent, STAGES } from './stages.ts';

/** Numbers that somebody else keeps, asked for at each scrape. */
export interface Reading {
  readonly kind: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  read(): Iterable<readonly [labels: readonly string[], value: number]>;
}

export type StatementOutcome = 'answered' | 'cancelled' | 'unavailable' | 'failed';

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  /** An HTTP request was answered after so many milliseconds. */
  request(method: string, route: string, status: number, milliseconds: number, spent: Spent): void;
  statement(mapping: string, outcome: StatementOutcome, milliseconds: number): void;
  reload(outcome: string): void;
  add(reading: Reading): void;
  /** Memory, garbage, event loop of the process; once per process. */
  addProcess(): void;
}

/** Seconds: from a cached read to the longest that REQUEST_TIMEOUT allows as a rule. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): Metrics {
  const register = new Registry();
  const registers = [register];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name, help, labelNames, registers });
  const requests = new Histogram({
    name: 'lintel_http_request_duration_seconds',
    help: 'Requests by method, route pattern and status, until the answer begins.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers,
  });
  const stages = counter('lintel_stage_seconds_total', 'Time of requests by stage.', ['stage']);
  const statements = counter('lintel_sql_statements_total', 'Statements by mapping and outcome.', [
    'mapping',
    'outcome',
  ]);
  const seconds = counter('lintel_sql_seconds_total', 'Time until the rows of statements were there.', ['mapping']);
  const reloads = counter('lintel_mapping_reloads_total', 'Looks at mappings that had changed, by outcome.', [
    'outcome',
  ]);
  const ofRequest = kept((key: string) => requests.labels(...(key.split(' ') as [string, string, string])));
  const ofStage = kept((stage: string) => stages.labels(stage));
  const ofMapping = kept((mapping: string) => seconds.labels(mapping));

  return {
    contentType: register.contentType,
    text: () => register.metrics(),
    request(method, route, status, milliseconds, spent) {
      ofRequest(`${method} ${route} ${status}`).observe(milliseconds / 1000);
      for (const stage of STAGES) {
        const taken = spent.stages[stage];
        if (taken > 0) ofStage(stage).inc(taken / 1000);
      }
    },
    statement(mapping, outcome, milliseconds) {
      statements.inc({ mapping, outcome });
      ofMapping(mapping).inc(milliseconds / 1000);
    },
    reload: outcome => reloads.inc({ outcome }),
    add({ kind, name, help, labels, read }) {
      const config = { name, help, labelNames: labels, registers };
      const fill = (set: Gauge | Counter): void => {
        set.reset();
        for (const [values, value] of read()) set.labels(...values).inc(value);
      };
      const set: Gauge | Counter =
        kind === 'gauge'
          ? new Gauge({ ...config, collect: () => fill(set) })
          : new Counter({ ...config, collect: () => fill(set) });
    },
    addProcess: () => collectDefaultMetrics({ register }),
  };
}

/** What prom-client would look up by its labels each time. As many as there are series, which are few. */
function kept<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return key => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    known.set(key, made);
    return made;
  };
}
