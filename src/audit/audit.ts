/**
 * Writes the audit for the server, and decides whether answers wait for it, what happens when the store fails, and how
 * a flood of refusals is summed up. In: records. Out: a promise after which the answer may go out.
 */
import type { AuditSettings } from '../config/config.ts';
import type { Log } from '../log.ts';
import type { AuditRecord } from './record.ts';
import { AuditError, type AuditWriter, openWriter, type WriterLoad } from './writer.ts';

export interface AuditLoad extends WriterLoad {
  readonly written: number;
  /** Records that could not be written. */
  readonly failed: number;
}

export interface Audit {
  readonly file: string;
  /** Rejects with AuditError where the answer must not go out. */
  write(record: AuditRecord): Promise<void>;
  load(): AuditLoad;
  close(): Promise<void>;
}

/** Refusals of callers without a good token that are written one by one in each window; of more there is a count. */
export interface FloodLimits {
  readonly each: number;
  /** Milliseconds. */
  readonly window: number;
}

const FLOOD: FloodLimits = { each: 200, window: 10_000 };
const UNAUTHORIZED = 401;
/** Milliseconds between two lines of the log on the same trouble. */
const PAUSE = 60_000;
/** Part of the bytes from which on the log warns. */
const NEARLY = 0.8;

/** Rejects with AuditError where the store cannot be opened, unless it is `best-effort`. */
export async function openAudit(
  settings: Omit<AuditSettings, 'sinks'>,
  log: Log,
  flood: FloodLimits = FLOOD,
): Promise<Audit> {
  const { mode, file: path, keep, bytes, survives } = settings;
  const open = (): Promise<AuditWriter> => openWriter({ path, keep, bytes, survives });
  let writer = open();
  let [written, failed] = [0, 0];
  const told = new Map<string, number>();
  let load: WriterLoad = { waiting: 0, used: 0, bytes };

  const complain = (message: string, fields: Parameters<Log['error']>[1]): void => {
    if (Date.now() - (told.get(message) ?? 0) < PAUSE) return;
    told.set(message, Date.now());
    log.error(message, fields);
  };
  const store = async (record: AuditRecord): Promise<void> => {
    try {
      const opened = await writer;
      await opened.write(record);
      written++;
      load = opened.load();
      if (load.used > NEARLY * bytes)
        complain('the audit store is nearly full', { bytes: load.used, of: bytes, setting: 'AUDIT_SIZE' });
    } catch (error) {
      failed++;
      const known = error instanceof AuditError ? error : new AuditError(false, 'unknown');
      complain('the audit cannot be written', { code: known.code, full: known.full, stops: mode === 'required' });
      if (known.code === 'thread' || known.code === 'ETIMEDOUT') reopen();
      throw known;
    }
  };
  let opening = false;
  /** Once at a time; while it fails, each record fails with it and tries again. */
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

  const windows = refusals(flood, store);
  return {
    file: path,
    write(record) {
      const stored = record.status === UNAUTHORIZED ? windows.write(record) : store(record);
      if (mode === 'required') return stored;
      stored.catch(() => {});
      return Promise.resolve();
    },
    load: () => ({ ...load, written, failed }),
    async close() {
      await windows.close();
      const opened = await writer.catch(() => undefined);
      await opened?.close();
    },
  };
}

/** Whoever sends bad tokens by the thousand must not fill the store, which would stop the answers of all others. */
function refusals({ each, window }: FloodLimits, store: (record: AuditRecord) => Promise<void>) {
  let begun = 0;
  let seen = 0;
  let last: AuditRecord | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const further = seen - each;
    const example = last;
    last = undefined;
    seen = 0;
    if (further > 0 && example !== undefined) await store({ ...example, count: further });
  };
  return {
    async write(record: AuditRecord): Promise<void> {
      const now = Date.now();
      if (now - begun >= window) {
        // What the timer has not written yet.
        await flush();
        begun = now;
      }
      if (++seen <= each) return store(record);
      last = record;
      // Counted refusals tell nothing of a patient: they are not waited for.
      timer ??= setTimeout(() => void flush().catch(() => {}), window);
    },
    close: () => flush().catch(() => {}),
  };
}
