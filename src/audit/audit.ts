/**
 * Writes the audit for the server. Decides whether answers wait for it, what happens if the store fails, and how a
 * flood of refusals is summed up. In: records. Out: a promise after which the answer may be sent.
 */
import type { AuditSettings } from '../config/config.ts';
import type { Log } from '../log.ts';
import { type AuditRecord, isUnknown } from './record.ts';
import { AuditError, type AuditWriter, openWriter, type WriterLoad } from './writer.ts';

export interface AuditLoad extends WriterLoad {
  readonly written: number;
  /** Records that could not be written. */
  readonly failed: number;
}

export interface Audit {
  readonly file: string;
  /** Rejects with AuditError if the answer must not be sent. */
  write(record: AuditRecord): Promise<void>;
  /** True if no answer may be sent: the audit is required, and could not be written recently. */
  isFailing(): boolean;
  load(): AuditLoad;
  close(): Promise<void>;
}

/** Limits for records of unknown callers: a number is written one by one, the rest is counted. */
export interface FloodLimits {
  /** Maximum number at once. */
  readonly each: number;
  /** Milliseconds after which one more is allowed. */
  readonly pace: number;
  /** Milliseconds between two counts. */
  readonly window: number;
}

/** Less than 20 MB a day in any case. */
const FLOOD: FloodLimits = { each: 200, pace: 20_000, window: 10_000 };
const UNAUTHORIZED = 401;
/** Status of requests beyond REQUESTS_PER_MINUTE. */
const TOO_MANY = 429;
/** Maximum characters of a stored request: with its parameters it may have 256,000. */
const LENGTH = { answered: 32_000, refused: 2000, unknown: 500 } as const;
/** Milliseconds between two log lines about the same problem. */
const PAUSE = 60_000;
/**
 * Milliseconds after which a failed store is tried again: without this, a load balancer that sends no requests here
 * would never learn that it works again.
 */
const TRIED_AGAIN = 30_000;
/** Share of the bytes from which on the log warns. */
const NEARLY = 0.8;

/**
 * Opens the audit. Rejects with AuditError if the store cannot be opened, unless it is `best-effort`. `clock`:
 * milliseconds of a monotonic clock.
 */
export async function openAudit(
  settings: Omit<AuditSettings, 'sinks'>,
  log: Log,
  flood: FloodLimits = FLOOD,
  clock: () => number = () => performance.now(),
): Promise<Audit> {
  const { mode, file: path, keep, bytes, survives } = settings;
  const open = (): Promise<AuditWriter> => openWriter({ path, keep, bytes, survives });
  let writer = open();
  let [written, failed] = [0, 0];
  const lastLogged = new Map<string, number>();
  let failedAt = Number.NEGATIVE_INFINITY;
  let load: WriterLoad = { waiting: 0, used: 0, bytes };

  const complain = (message: string, fields: Parameters<Log['error']>[1]): void => {
    const now = clock();
    if (now - (lastLogged.get(message) ?? Number.NEGATIVE_INFINITY) < PAUSE) return;
    lastLogged.set(message, now);
    log.error(message, fields);
  };
  const store = async (record: AuditRecord): Promise<void> => {
    try {
      const opened = await writer;
      await opened.write(record);
      written++;
      failedAt = Number.NEGATIVE_INFINITY;
      load = opened.load();
      if (load.used > NEARLY * bytes)
        complain('the audit store is nearly full', { bytes: load.used, of: bytes, setting: 'AUDIT_SIZE' });
    } catch (error) {
      failed++;
      failedAt = clock();
      const known = error instanceof AuditError ? error : new AuditError(false, 'unknown');
      complain('the audit cannot be written', { code: known.code, full: known.full, stops: mode === 'required' });
      if (known.code === 'thread' || known.code === 'ETIMEDOUT') reopen();
      throw known;
    }
  };
  let opening = false;
  /** Opens the store again, once at a time; while that fails, each record fails too and tries again. */
  const reopen = (): void => {
    if (opening) return;
    opening = true;
    writer = open();
    writer.then(
      () => {
        opening = false;
      },
      () => {
        opening = false;
      },
    );
  };
  if (mode === 'required') await writer;
  else writer.catch(reopenLater);

  function reopenLater(error: unknown): void {
    complain('the audit cannot be written', {
      code: error instanceof AuditError ? error.code : 'unknown',
      stops: false,
    });
  }

  const unknown = refusals(flood, store, clock);
  const throttled = refusals(flood, store, clock);
  return {
    file: path,
    write(whole) {
      const window =
        isUnknown(whole) || whole.status === UNAUTHORIZED ? unknown : whole.status === TOO_MANY ? throttled : undefined;
      const record = shortened(whole, window !== undefined);
      const stored = window === undefined ? store(record) : window.write(record);
      if (mode === 'required') return stored;
      stored.catch(() => {});
      return Promise.resolve();
    },
    isFailing: () => mode === 'required' && clock() - failedAt < TRIED_AGAIN,
    load: () => ({ ...load, written, failed }),
    async close() {
      await Promise.all([unknown.close(), throttled.close()]);
      const opened = await writer.catch(() => undefined);
      await opened?.close();
    },
  };
}

/** Shortens long requests, because a full store stops all answers. */
function shortened(record: AuditRecord, isSummedUp: boolean): AuditRecord {
  const { query, status } = record;
  const most = LENGTH[isSummedUp ? 'unknown' : status < 400 ? 'answered' : 'refused'];
  return query.length <= most ? record : { ...record, query: `${query.slice(0, most)}… (${query.length} characters)` };
}

/**
 * Sums up refusals: thousands of requests without a valid token must not fill the store, which would stop all answers.
 */
function refusals(
  { each, pace, window }: FloodLimits,
  store: (record: AuditRecord) => Promise<void>,
  clock: () => number,
) {
  let left = each;
  let refilled = clock();
  let further = 0;
  let last: AuditRecord | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const [example, count] = [last, further];
    last = undefined;
    further = 0;
    if (example !== undefined) await store({ ...example, count });
  };
  const refill = (): void => {
    const more = Math.floor((clock() - refilled) / pace);
    left = Math.min(each, left + more);
    refilled += more * pace;
  };
  return {
    async write(record: AuditRecord): Promise<void> {
      refill();
      if (left > 0) {
        left--;
        return store(record);
      }
      further++;
      last = record;
      // A count says nothing about a patient, so the answer does not wait for it.
      timer ??= setTimeout(() => void flush().catch(() => {}), window);
    },
    close: () => flush().catch(() => {}),
  };
}
