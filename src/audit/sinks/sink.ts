/** The interface of a sink: a system that gets the audit besides its store. */

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
   * Milliseconds for which what was sent may still be lost without a word: a sink that acknowledges has 0. What was
   * sent within them before a failure is sent again.
   */
  readonly settles: number;
  /**
   * Resolves when all are taken over; rejects with SinkError where some may not be. An empty list asks whether what was
   * sent before may have been lost meanwhile.
   */
  send(events: readonly EventText[]): Promise<void>;
  close(): Promise<void>;
}

/** A sink does not take what it should. Holds no value of a record. */
export class SinkError extends Error {
  override readonly name = 'SinkError';
  /** Of the system, of TLS or of HTTP: ECONNREFUSED, CERT_HAS_EXPIRED, HTTP_503. */
  readonly code: string;

  constructor(code: string) {
    super(`The audit cannot be forwarded (${code})`);
    this.code = code;
  }
}

/** What the system said, without its words: they may hold anything. */
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
