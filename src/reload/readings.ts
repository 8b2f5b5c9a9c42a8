/**
 * Collects gauges for `/metrics`: which mappings are served, and the load of database, exports and cache. In: those
 * parts. Out: readings, taken at each scrape.
 */
import type { Audit } from '../audit/audit.ts';
import type { Forwarding } from '../audit/forward.ts';
import type { AnswerCounters } from '../cache/answers.ts';
import type { Jobs } from '../export/jobs.ts';
import type { Admission, Places } from '../http/middleware/limits.ts';
import type { Tls } from '../http/server/tls.ts';
import type { Registry } from '../mapping/model.ts';
import type { Reading } from '../observe/metrics.ts';
import type { BulkheadLoad, Database } from '../sql/database.ts';

export interface Observed {
  readonly database: Pick<Database, 'load'>;
  readonly jobs: Pick<Jobs, 'load'> | undefined;
  readonly cache: { counters(): AnswerCounters } | undefined;
  readonly admission: Admission;
  readonly audit: Pick<Audit, 'load'> | undefined;
  readonly forwarding: Pick<Forwarding, 'load'> | undefined;
  readonly tls: Pick<Tls, 'ends'> | undefined;
  readonly served: () => Pick<Registry, 'pack' | 'version'> & { readonly refused: boolean; readonly lacking: boolean };
}

type Values = ReturnType<Reading['read']>;

export function readingsOf({
  database,
  jobs,
  cache,
  admission,
  audit,
  forwarding,
  tls,
  served,
}: Observed): readonly Reading[] {
  const bulkheads = (what: keyof BulkheadLoad) => (): Values =>
    Object.entries(database.load().bulkheads).map(([bulkhead, load]) => [[bulkhead], load[what]]);
  const places = (what: keyof BulkheadLoad) => (): Values =>
    Object.entries<Places>({ ...admission }).map(([kind, { load }]) => [[kind], load()[what]]);
  return [
    {
      ...gauge('lintel_mapping_info', 'The mappings that are served.', ['pack', 'version']),
      read: () => [[[served().pack.name, served().version], 1]],
    },
    {
      ...gauge('lintel_mapping_refused', '1 while the mappings on disk have errors and are not served.'),
      read: () => one(served().refused ? 1 : 0),
    },
    {
      ...gauge(
        'lintel_schema_lacking',
        '1 while the database lacks objects that mappings need: these fail, or are omitted.',
      ),
      read: () => one(served().lacking ? 1 : 0),
    },
    {
      ...gauge('lintel_database_away', '1 while only a probe queries the database.'),
      read: () => one(database.load().away ? 1 : 0),
    },
    {
      ...gauge('lintel_database_connections', 'Statements that may run at a time.', ['bulkhead']),
      read: bulkheads('size'),
    },
    { ...gauge('lintel_database_connections_taken', 'Statements that run.', ['bulkhead']), read: bulkheads('taken') },
    {
      ...gauge('lintel_database_statements_waiting', 'Statements that wait for a connection.', ['bulkhead']),
      read: bulkheads('waiting'),
    },
    {
      ...counter('lintel_database_statements_refused_total', 'Statements that no connection became free for.', [
        'bulkhead',
      ]),
      read: bulkheads('refused'),
    },
    { ...gauge('lintel_answers_at_most', 'Answers that may be made at a time.', ['kind']), read: places('size') },
    { ...gauge('lintel_answers_made', 'Answers that are made.', ['kind']), read: places('taken') },
    { ...gauge('lintel_answers_waiting', 'Answers that wait for a place.', ['kind']), read: places('waiting') },
    {
      ...counter('lintel_answers_refused_total', 'Answers that there was no place for.', ['kind']),
      read: places('refused'),
    },
    ...(jobs ? exportReadings(jobs) : []),
    ...(cache ? cacheReadings(cache) : []),
    ...(audit ? auditReadings(audit) : []),
    ...(forwarding ? sinkReadings(forwarding) : []),
    ...(tls ? [certificateReading(tls)] : []),
  ];
}

function certificateReading(tls: Pick<Tls, 'ends'>): Reading {
  const help = 'When the certificate of TLS_CERT ends, in seconds since 1970.';
  return { ...gauge('lintel_tls_certificate_end_timestamp_seconds', help), read: () => one(tls.ends() / 1000) };
}

function exportReadings(jobs: Pick<Jobs, 'load'>): readonly Reading[] {
  return [
    { ...gauge('lintel_export_jobs', 'Exports.', ['status']), read: () => byName(jobs.load().jobs) },
    {
      ...gauge('lintel_export_parts', 'Parts of exports that a thread works on, and that wait for one.', ['state']),
      read: () => byName(jobs.load().threads),
    },
  ];
}

function cacheReadings({ counters }: NonNullable<Observed['cache']>): readonly Reading[] {
  return [
    {
      ...counter('lintel_cache_answers_total', 'Answers by what the cache had: all but hits were made.', ['result']),
      read() {
        const { hits, misses, stale, refused } = counters();
        return byName({ hit: hits, miss: misses, stale, refused });
      },
    },
    {
      ...counter('lintel_cache_events_total', 'Answers shared in progress, stored, too large to store, and evicted.', [
        'event',
      ]),
      read() {
        const { collapsed, stored, tooLarge, evicted } = counters();
        return byName({ collapsed, stored, too_large: tooLarge, evicted });
      },
    },
    { ...gauge('lintel_cache_entries', 'Cached answers.'), read: () => one(counters().entries) },
    { ...gauge('lintel_cache_bytes', 'Bytes of cached answers.'), read: () => one(counters().bytes) },
  ];
}

function auditReadings({ load }: Pick<Audit, 'load'>): readonly Reading[] {
  return [
    {
      ...counter('lintel_audit_records_total', 'Records of the audit that were written, and that could not be.', [
        'outcome',
      ]),
      read() {
        const { written, failed } = load();
        return byName({ written, failed });
      },
    },
    { ...gauge('lintel_audit_waiting', 'Records on their way to the store.'), read: () => one(load().waiting) },
    { ...gauge('lintel_audit_bytes', 'Bytes of the store that are in use.'), read: () => one(load().used) },
    { ...gauge('lintel_audit_bytes_at_most', 'Bytes that it may take.'), read: () => one(load().bytes) },
  ];
}

function sinkReadings({ load }: Pick<Forwarding, 'load'>): readonly Reading[] {
  const each = (of: (sink: ReturnType<Forwarding['load']>[number]) => number) => (): Values =>
    load().map(sink => [[sink.kind], of(sink)]);
  return [
    {
      ...counter('lintel_audit_sink_events_total', 'AuditEvents that were forwarded.', ['sink']),
      read: each(({ sent }) => sent),
    },
    {
      ...gauge('lintel_audit_sink_behind', 'Records of the store that have not arrived at a sink.', ['sink']),
      read: each(({ behind }) => behind),
    },
    {
      ...gauge('lintel_audit_sink_failing', '1 while a sink accepts nothing.', ['sink']),
      read: each(({ failing }) => (failing ? 1 : 0)),
    },
    {
      ...counter('lintel_audit_sink_gone_total', 'Records that were too old before they could be forwarded.', ['sink']),
      read: each(({ gone }) => gone),
    },
  ];
}

function gauge(name: string, help: string, labels: Reading['labels'] = []): Omit<Reading, 'read'> {
  return { kind: 'gauge', name, help, labels };
}

function counter(name: string, help: string, labels: Reading['labels']): Omit<Reading, 'read'> {
  return { kind: 'counter', name, help, labels };
}

function one(value: number): Values {
  return [[[], value]];
}

function byName(numbers: Readonly<Record<string, number>>): Values {
  return Object.entries(numbers).map(([name, value]) => [[name], value]);
}
