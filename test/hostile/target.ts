/**
 * Starts the target of the attacks: a real server on loopback in this process, and clients that send raw bytes. Every
 * attack is bounded: `HOSTILE=full` (`npm run test:hostile`) tries more of each.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { type Running, startServer } from '../../src/main.ts';
import { type SmallClinic, smallClinic } from '../cli/small-clinic.ts';

/** True: try more of each attack; false: a little, as in `npm test`. */
export const HOSTILE = process.env['HOSTILE'] === 'full';

export interface Target {
  readonly url: string;
  readonly port: number;
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  readonly reload: Running['reload'];
  readonly stop: Running['stop'];
}

/** Serves a small clinic until the test is over. */
export async function target(
  environment: Readonly<Record<string, string>> = {},
  clinic = smallClinic(),
): Promise<Target> {
  const running = await started(environment, clinic);
  onTestFinished(running.stop);
  return running;
}

/** The same; the caller stops it. */
export async function started(environment: Readonly<Record<string, string>>, clinic: SmallClinic): Promise<Target> {
  const lines: string[] = [];
  const notes: string[] = [];
  // All lines of the log are stored, so a test that measures memory should log few.
  const config = readConfig({ LOG_LEVEL: 'debug', ...clinic.environment, ...environment });
  const running = await startServer(
    config,
    { out: () => {}, note: text => notes.push(text) },
    createLog({ level: config.log.level, format: 'json', write: line => lines.push(line) }),
  );
  if (running === undefined) throw new Error(`The server did not start:\n${notes.join('\n')}`);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= running.stop();
    return stopped;
  };
  return { url: running.url, port: Number(new URL(running.url).port), lines, notes, reload: running.reload, stop };
}

/** Opens a connection that sends bytes and then neither ends nor reads. It is closed at the end of the test. */
export async function sends(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  return socket;
}

/** Returns all bytes that come back until the server closes. */
export async function exchanged(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}).write(bytes, 'latin1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}
