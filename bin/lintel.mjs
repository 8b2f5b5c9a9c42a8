#!/usr/bin/env node
// Finds a Node that runs TypeScript directly (24.12 or newer): this one, or the one that npm installed among the
// dependencies. Plain JavaScript, so that an old Node can parse it and print what is missing.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
// Imported as a namespace, because Node 20 has no enableCompileCache.
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

/** Milliseconds between two checks for the parent process. */
const LOOK = 500;

/**
 * Calls `stop` after the parent process has ended. npm runs a command in a shell and signals only the shell, which ends
 * without passing the signal on. Without this, `kill` of `npm start` or `npx lintel serve` would leave the server
 * running.
 */
function whenOrphaned(stop) {
  // biome-ignore lint/style/noProcessEnv: says whether npm started this; it is no configuration of Lintel's.
  if (process.env.npm_execpath === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, LOOK);
  timer.unref();
}

// Without a handler, this signal opens Node's debugger on a port of loopback, and every user of the machine could read
// the memory of this process. Rotation of logs often sends it. `node --inspect bin/lintel.mjs` opens the debugger.
if (process.platform !== 'win32') process.on('SIGUSR1', () => {});

// The first process of a container ignores signals without a handler, and a server has handlers once it listens.
if (process.pid === 1) {
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ])
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    });
}

const OLDEST = [24, 12];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) {
  // The compile cache for the next start is beside the code and nowhere else, because anyone who can write it can
  // change the code that runs. A folder that is not writable is no error. Its entries name files by relative paths, so
  // that a folder that was moved or copied uses them.
  nodeModule.enableCompileCache({
    directory: fileURLToPath(new URL('../node_modules/.cache/lintel', import.meta.url)),
    portable: true,
  });
  whenOrphaned(() => process.kill(process.pid, 'SIGTERM'));
  const { runProcess } = await import('../src/cli/main.ts');
  await runProcess();
} else {
  const own = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(own)) {
    console.error(
      `Lintel needs Node ${OLDEST.join('.')} or newer and this is ${process.versions.node}. ` +
        'Either install a newer Node, or run `npm ci` here: it brings one along.',
    );
    process.exit(1);
  }
  const child = spawn(own, [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  whenOrphaned(() => child.kill('SIGTERM'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === null ? 1 : 128);
  });
}
