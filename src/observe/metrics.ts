/**
 * Counts what the server does, for Prometheus. In: requests, statements, reloads. Out: the text of `/metrics`. No
 * label contains a value of a patient or of a request: methods and statuses are few, routes are patterns, mappings are
 * those of the pack.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type CountStatements, type Spent, STAGES } from './statements.ts';

/** In seconds: from a cached answer to the longest that REQUEST_TIMEOUT usually allows. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Numbers that another component keeps; read at each scrape. */
export interface Reading {
  readonly kind: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  read(): Iterable<readonly [labels: readonly string[], value: number]>;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  /** Counts an HTTP request and its duration. */
  request(method: string, route: string, status: number, milliseconds: number, spent: Spent): void;
  readonly statements: CountStatements;
  reload(outcome: string): void;
  schemaLook(outcome: string): void;
  /** Counts a request that was refused before it reached an application. */
  refused(status: number): void;
  /** Counts a connection that was closed because the client did not read its answers. */
  cutOff(): void;
  /** Counts connections that were closed because there were too many. */
  crowded(connections: number): void;
  add(reading: Reading): void;
  /** Adds memory, garbage collection and event loop of the process; call once per process. */
  addProcess(): void;
}

export function createMetrics(): Metrics {
  const register = new Registry();
  const registers = [register];
  const add = ({ kind, name, help, labels, read }: Reading): void => {
    const config = { name, help, labelNames: labels, registers };
    const fill = (set: Gauge | Counter): void => {
      set.reset();
      for (const [values, value] of read()) set.labels(...values).inc(value);
    };
    const set: Gauge | Counter =
      kind === 'gauge'
        ? new Gauge({ ...config, collect: () => fill(set) })
        : new Counter({ ...config, collect: () => fill(set) });
  };
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers });
  const requests = new Histogram({
    name: 'lintel_http_request_duration_seconds',
    help: 'Requests by method, route pattern and status, until the answer begins.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers,
  });
  const stages = counter('lintel_stage_seconds_total', 'Time of requests by stage.', ['stage']);
  const statements = counter('lintel_sql_statements_total', 'Statements by mapping, bulkhead and outcome.', [
    'mapping',
    'bulkhead',
    'outcome',
  ]);
  const seconds = counter('lintel_sql_seconds_total', 'Time until the rows of statements were there.', [
    'mapping',
    'bulkhead',
  ]);
  const reloads = counter('lintel_mapping_reloads_total', 'Looks at mappings that had changed, by outcome.', [
    'outcome',
  ]);
  const looks = counter('lintel_schema_looks_total', 'Looks at the schema because something was missing, by outcome.', [
    'outcome',
  ]);
  const refusals = counter(
    'lintel_http_refused_total',
    'Requests that are no HTTP, too long, too slow or of no one host, by status: no route saw them.',
    ['status'],
  );
  const crowds = counter('lintel_http_crowded_out_total', 'Idle connections closed because there were too many.', []);
  const cuts = counter('lintel_http_cut_off_total', 'Connections closed because their clients took no answers.', []);
  return {
    contentType: register.contentType,
    text: () => register.metrics(),
    request(method, route, status, milliseconds, spent) {
      requests.observe({ method, route, status }, milliseconds / 1000);
      if (spent.statements === 0 && spent.stages.parse === 0) return;
      for (const stage of STAGES) {
        const taken = spent.stages[stage];
        if (taken > 0) stages.inc({ stage }, taken / 1000);
      }
    },
    statements({ mapping, bulkhead, outcome, statements: count, milliseconds }) {
      statements.inc({ mapping, bulkhead, outcome }, count);
      seconds.inc({ mapping, bulkhead }, milliseconds / 1000);
    },
    reload: outcome => reloads.inc({ outcome }),
    schemaLook: outcome => looks.inc({ outcome }),
    refused: status => refusals.inc({ status }),
    cutOff: () => cuts.inc(),
    crowded: connections => crowds.inc(connections),
    add,
    addProcess: () => collectDefaultMetrics({ register }),
  };
}
