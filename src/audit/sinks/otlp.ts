/**
 * Sink that sends AuditEvents as OpenTelemetry log records, by OTLP over HTTP in JSON. The collector answers when it
 * has them.
 * https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
import { boundedFetch } from '../../common/bounded-fetch.ts';
import { type EventText, type Sink, SinkError, sinkError } from './sink.ts';

export interface OtlpOptions {
  /** URL with its path, like `https://collector.example.org:4318/v1/logs`. */
  readonly url: string;
  /** Headers that identify the sender to the collector. */
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  /** Called with the number of records that the collector has accepted and discarded; they must not be sent again. */
  readonly rejected: (records: number) => void;
}

/** Milliseconds in which the collector has to answer. */
const TIME_LIMIT = 15_000;
/** https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber */
const SEVERITY = { '0': [9, 'INFO'], '4': [13, 'WARN'], '8': [17, 'ERROR'] } as const;

export function otlp({ url, headers, version, rejected }: OtlpOptions): Sink {
  const resource = {
    attributes: [attribute('service.name', 'lintel'), attribute('service.version', version)],
  };
  return {
    kind: 'otlp',
    settles: 0,
    async send(events) {
      if (events.length === 0) return;
      const scopeLogs = [{ scope: { name: 'lintel.audit', version }, logRecords: events.map(recordOf) }];
      try {
        const response = await boundedFetch(url, {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs }] }),
          redirect: 'error',
          signal: AbortSignal.timeout(TIME_LIMIT),
        });
        const text = await response.text();
        if (!response.ok) throw new SinkError(`HTTP_${response.status}`);
        const count = rejectedIn(text);
        if (count > 0) rejected(count);
      } catch (error) {
        throw sinkError(error);
      }
    },
    async close() {},
  };
}

function recordOf({ id, json }: EventText): object {
  const { recorded, outcome } = JSON.parse(json) as { readonly recorded: string; readonly outcome: string };
  const [severityNumber, severityText] = SEVERITY[outcome as keyof typeof SEVERITY] ?? SEVERITY[0];
  return {
    timeUnixNano: `${Date.parse(recorded)}000000`,
    ...{ severityNumber, severityText },
    eventName: 'fhir.AuditEvent',
    body: { stringValue: json },
    attributes: [attribute('fhir.resource.type', 'AuditEvent'), attribute('fhir.resource.id', id)],
  };
}

function attribute(key: string, stringValue: string): object {
  return { key, value: { stringValue } };
}

/** Returns the number of records that the collector discarded; 0 if the answer is not JSON. */
function rejectedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedLogRecords?: number | string } };
    return Number(partialSuccess?.rejectedLogRecords ?? 0);
  } catch {
    return 0;
  }
}
