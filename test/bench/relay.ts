/**
 * Relays to a SQL Server, in a process of its own whose CPU no bench counts. In: an address without TLS. Out: an
 * address whose SELECTs are answered by the server or, after `keep`, from recorded answers, so that rows arrive as fast
 * as the driver takes them. The driver's cost per row depends on that: it parses a row again if its last packet has not
 * arrived yet.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createAssembler, MESSAGE, readLogin, readRpc } from '../sql/mssql/tds.ts';

export interface Relay {
  readonly port: number;
  /** From now on the relay answers from memory. */
  keep(): void;
  stop(): void;
}

/** Starts a relay to the server at a host and port. */
export async function startRelay(host: string, port: number): Promise<Relay> {
  const child: ChildProcess = fork(new URL(import.meta.url), [host, String(port)]);
  const [listening] = (await once(child, 'message')) as [number];
  return {
    port: listening,
    keep: () => void child.send('keep'),
    stop: () => void child.kill(),
  };
}

const kept = new Map<string, Buffer>();
let keeping = false;

function relay(client: Socket, server: Socket): void {
  const [asking, answering] = [createAssembler(), createAssembler()];
  let asked: Buffer[] = [];
  let answered: Buffer[] = [];
  let packetSize = 0;
  let key: string | undefined;
  client.setNoDelay();
  server.setNoDelay();
  client.on('data', piece => {
    asked.push(piece);
    for (const { type, data } of asking(piece)) {
      const whole = Buffer.concat(asked);
      asked = [];
      if (type === MESSAGE.login) packetSize = readLogin(data).packetSize;
      const isSelect = type === MESSAGE.rpc && readRpc(data).text.startsWith('SELECT');
      key = keeping && isSelect ? `${packetSize} ${data.toString('latin1')}` : undefined;
      const answer = key === undefined ? undefined : kept.get(key);
      if (answer) client.write(answer);
      else server.write(whole);
    }
  });
  server.on('data', piece => {
    client.write(piece);
    if (key !== undefined) answered.push(piece);
    if (answering(piece).length === 0) return;
    if (key !== undefined) kept.set(key, Buffer.concat(answered));
    answered = [];
  });
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('close', () => other.destroy());
    // A broken connection is intended.
    one.on('error', () => undefined);
  }
}

if (import.meta.main) {
  const [host = '', port] = process.argv.slice(2);
  process.on('message', () => {
    keeping = true;
  });
  process.on('disconnect', () => process.exit());
  const listener = createServer(client => relay(client, connect(Number(port), host)));
  listener.listen(0, '127.0.0.1', () => process.send?.((listener.address() as { port: number }).port));
}
