/** Declares the interface of a sink: a system that gets the audit besides its store. */

/** One AuditEvent. */
export interface EventText {
  /** Logical id. */
  readonly id: string;
  /** FHIR JSON in one line. */
  readonly json: string;
}

export type SinkKind = 'json' | 'syslog' | 'otlp';

export interface Sink {
  readonly kind: SinkKind;
  /**
   * Milliseconds in which sent events may still be lost silently; 0 for a sink that acknowledges. After a failure,
   * events sent within this time are sent again.
   */
  readonly settles: number;
  /**
   * Resolves when the sink has accepted all; rejects with SinkError if it may have missed some. An empty list checks
   * whether events sent before may have been lost.
   */
  send(events: readonly EventText[]): Promise<void>;
  close(): Promise<void>;
}

/** A sink does not accept events. Holds no value of a record. */
export class SinkError extends Error {
  override readonly name = 'SinkError';
  /** Error code of the system, of TLS or of HTTP: ECONNREFUSED, CERT_HAS_EXPIRED, HTTP_503. */
  readonly code: string;

  constructor(code: string) {
    super(`The audit cannot be forwarded (${code})`);
    this.code = code;
  }
}

/** Returns only the error's code, because its message may contain anything. */
export function sinkError(error: unknown): SinkError {
  if (error instanceof SinkError) return error;
  const { code, name, cause } = (error ?? {}) as {
    readonly code?: unknown;
    readonly name?: unknown;
    readonly cause?: unknown;
  };
  if (typeof code === 'string') return new SinkError(code);
  if (cause !== undefined) return sinkError(cause);
  return new SinkError(name === 'TimeoutError' ? 'ETIMEDOUT' : 'unknown');
}
