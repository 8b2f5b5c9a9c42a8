/**
 * Runs a scripted TDS server on loopback, for fault injection; it has no SQL engine. In: a function from a request of
 * the driver to a reaction. Out: its port, and all requests.
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import {
  attentionReply,
  batchText,
  type Cell,
  type Column,
  createAssembler,
  endOf,
  errorOf,
  failedEnd,
  loginReply,
  MESSAGE,
  metadata,
  preloginReply,
  readRpc,
  readTransaction,
  reply,
  rowOf,
} from './tds.ts';

export interface Asked {
  readonly kind: 'login' | 'batch' | 'rpc' | 'bulk' | 'transaction' | 'attention';
  readonly text: string;
  /** Types of the parameters, and their encoded bytes. */
  readonly declared: string;
  readonly bytes: Buffer;
  /** Connections are numbered in order. */
  readonly connection: number;
}

/**
 * Fault after the rows: the connection ends within a row or after one, nothing follows, the end is late, an error
 * follows, or garbage.
 */
type Cut = 'mid-row' | 'behind-row' | 'deaf' | 'late' | 'garbage' | { readonly error: number };

export type Answer =
  | { readonly columns: readonly Column[]; readonly rows: Iterable<readonly Cell[]>; readonly cut?: Cut }
  | { readonly error: number }
  /** Closes the connection without an answer. */
  | 'drop'
  /** Sends the beginning of a message, and closes the connection. */
  | 'half'
  /** Sends nothing until an attention arrives, and then its acknowledgement. */
  | 'hang'
  /** Sends nothing, whatever arrives. */
  | 'deaf'
  /** Answers with a meaningless message, or with bytes that are no message. */
  | 'garbage'
  | 'noise';

/** Answer to a statement; unless scripted, logins are accepted and settings confirmed. */
export type Script = (asked: Asked) => Answer | undefined | Promise<Answer | undefined>;

export interface Endpoint {
  readonly port: number;
  readonly asked: readonly Asked[];
  /** Number of open connections. */
  readonly connections: () => number;
  script: Script;
  /** Drops all connections, as KILL does. */
  drop(): void;
  /** Drops all connections and refuses new ones. */
  stop(): Promise<void>;
  /** Listens on the same port again. */
  start(): Promise<void>;
}

export const NUMBERS: readonly Column[] = [{ name: 'n', type: 'int' }];

/** Milliseconds. */
const LATE = 300;

/** Bytes that are no TDS message. */
const GARBAGE = Buffer.from([0x13, 0x37, 0x00, 0x42, 0xff, 0xfe]);

/** Answer to an unscripted statement: one row with 1, or no rows for the catalog. */
const ONE = { columns: NUMBERS, rows: [[1]] } as const;

export async function openEndpoint(script: Script = () => undefined): Promise<Endpoint> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let count = 0;

  const serve = (socket: Socket): void => {
    const connection = count++;
    const assemble = createAssembler();
    let deaf = false;
    let hanging = false;
    /** Rows being sent; an attention ends them early. */
    let sending: { stopped: boolean; readonly end: Promise<void> } | undefined;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // When a test drops a connection, the driver drops it too.
    socket.on('error', () => undefined);

    const give = async (what: Asked): Promise<void> => {
      asked.push(what);
      if (what.kind === 'attention') {
        if (sending) sending.stopped = true;
        const answer = await endpoint.script(what);
        if (answer === 'drop' || answer === 'half') {
          if (answer === 'half') socket.end(reply(attentionReply()).subarray(0, 5));
          else socket.destroy();
          return;
        }
        if (answer === 'deaf') return;
        if (answer === 'garbage') {
          socket.write(reply(GARBAGE));
          return;
        }
        if (answer !== undefined && typeof answer === 'object' && 'error' in answer) {
          socket.write(reply(Buffer.concat([errorOf(answer.error, 'no attention'), failedEnd('batch')])));
          hanging = false;
          return;
        }
        // The current reply ends first; the attention has its own.
        await sending?.end;
        if (!deaf)
          socket.write(Buffer.concat([...(hanging ? [reply(failedEnd('batch'))] : []), reply(attentionReply())]));
        hanging = false;
        return;
      }
      const answer = await endpoint.script(what);
      if (answer === 'half') {
        socket.end(reply(endOf('rpc', 0)).subarray(0, 5));
        return;
      }
      const kind = what.kind === 'rpc' ? 'rpc' : 'batch';
      if (answer === 'drop') socket.destroy();
      else if (answer === 'garbage') socket.write(reply(GARBAGE));
      else if (answer === 'noise') socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
      else if (answer === 'deaf') deaf = true;
      else if (answer === 'hang') hanging = true;
      else if (answer !== undefined && 'error' in answer) {
        const text = `Something about the value 'canary-4711' (${answer.error})`;
        socket.write(reply(Buffer.concat([errorOf(answer.error, text), failedEnd(kind)])));
      } else if (what.kind === 'login') socket.write(reply(loginReply()));
      else if (what.kind === 'transaction') socket.write(reply(readTransaction(what.bytes).reply));
      else if (what.kind === 'bulk' || /^(set|insert bulk|create|alter|drop) /i.test(what.text))
        socket.write(reply(endOf(kind, 0)));
      else {
        const state = { stopped: false };
        const rows = answer ?? usual(what);
        deaf = rows.cut === 'deaf';
        const end = sendRows(socket, kind, rows, () => state.stopped);
        sending = Object.assign(state, { end });
        await end;
        sending = undefined;
      }
    };

    socket.on('data', piece => {
      for (const { type, data } of assemble(piece)) {
        const base = { text: '', declared: '', bytes: data, connection };
        if (type === MESSAGE.prelogin) socket.write(reply(preloginReply()));
        else if (type === MESSAGE.login) void give({ ...base, kind: 'login' });
        else if (type === MESSAGE.attention) void give({ ...base, kind: 'attention' });
        else if (type === MESSAGE.batch) void give({ ...base, kind: 'batch', text: batchText(data) });
        else if (type === MESSAGE.bulk) void give({ ...base, kind: 'bulk' });
        else if (type === MESSAGE.transaction)
          void give({ ...base, kind: 'transaction', text: readTransaction(data).text });
        else if (type === MESSAGE.rpc) void give({ ...base, kind: 'rpc', ...readRpc(data) });
      }
    });
  };

  let server = createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the endpoint has no port');
  const { port } = address;

  const endpoint: Endpoint = {
    port,
    asked,
    connections: () => sockets.size,
    script,
    drop() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async start() {
      server = createServer(serve);
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
  return endpoint;
}

/** Default answers to questions about the server itself. */
function usual({ text }: Asked): Exclude<Answer, string | { readonly error: number }> {
  if (text.includes('sys.databases')) {
    const columns: readonly Column[] = [
      { name: 'a', type: 'int' },
      { name: 'b', type: 'int' },
    ];
    return { columns, rows: [[1, 0]] };
  }
  if (text.includes('fn_my_permissions')) return { columns: [{ name: 'p', type: 'nvarchar' }], rows: [] };
  return ONE;
}

/** Resolves when the socket accepts more data, or is closed. */
function roomOf(socket: Socket): Promise<void> {
  return new Promise(resolve => {
    const settle = (): void => {
      socket.off('drain', settle).off('close', settle);
      resolve();
    };
    socket.on('drain', settle).on('close', settle);
  });
}

async function sendRows(
  socket: Socket,
  kind: 'batch' | 'rpc',
  { columns, rows, cut }: Exclude<Answer, string | { readonly error: number }>,
  isStopped: () => boolean,
): Promise<void> {
  let held: Buffer[] = [metadata(columns)];
  let count = 0;
  const flush = async (last: boolean): Promise<void> => {
    const whole = socket.write(reply(Buffer.concat(held), last));
    held = [];
    if (!whole && !socket.destroyed) await roomOf(socket);
  };
  for (const row of rows) {
    held.push(rowOf(columns, row));
    count++;
    if (held.length >= 500) await flush(false);
    if (isStopped()) {
      held.push(failedEnd(kind));
      return flush(true);
    }
  }
  if (cut === 'mid-row') {
    const last = held.pop() ?? Buffer.alloc(0);
    held.push(last.subarray(0, Math.max(1, last.length - 2)));
    await flush(false);
    socket.end();
    return;
  }
  if (cut === 'behind-row') {
    await flush(false);
    socket.end();
    return;
  }
  if (cut === 'deaf') return flush(false);
  if (cut === 'late') {
    await flush(false);
    await new Promise(resolve => setTimeout(resolve, LATE));
    held.push(endOf(kind, count));
    return flush(true);
  }
  if (cut === 'garbage') held.push(GARBAGE);
  else if (cut !== undefined) held.push(errorOf(cut.error, `the value 'canary-4711' (${cut.error})`), failedEnd(kind));
  if (cut !== undefined) return flush(true);
  held.push(endOf(kind, count));
  await flush(true);
}
