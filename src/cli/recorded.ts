/**
 * Writes into the audit what a command changes of who may log in and what may ask, before it is changed. In: the words
 * of the command, in which no secret is, and whether the change gives access or takes it away. Out: whether it may be
 * made. docs/audit.md
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '../audit/reason.ts';
import { ADMINISTRATION, type AuditRecord } from '../audit/record.ts';
import { openStore } from '../audit/store.ts';
import { AUDIT_FILE, type Config, processEnvironment } from '../config/config.ts';
import type { Terminal } from './command.ts';

/**
 * False: the change gives access, there is an audit, and it takes no record. One that takes access away is made
 * nevertheless: whoever floods the audit shall not keep an account alive.
 */
export function isRecorded(
  words: readonly string[],
  gives: boolean,
  { dataDir, audit }: Pick<Config, 'dataDir' | 'audit'>,
  terminal: Terminal,
): boolean {
  const path = join(dataDir, AUDIT_FILE);
  // The command may know less of the environment than the server does.
  if (audit === undefined && !existsSync(path)) return true;
  const record = recordOf(words.join(' '), personAtConsole(terminal));
  try {
    const store = openStore({ path, bytes: audit?.bytes, survives: 'power' });
    try {
      store.append([record]);
    } finally {
      store.close();
    }
    return true;
  } catch (error) {
    const why = `The audit at ${path} takes no record (${reasonOf(error).code}).`;
    terminal.note(gives ? `${why} Nothing was changed.` : `${why} The change is made without one.`);
    return !gives;
  }
}

function recordOf(query: string, subject: string): AuditRecord {
  return {
    at: Date.now(),
    request: randomUUID(),
    who: { client: 'lintel', subject },
    address: '127.0.0.1',
    server: hostname(),
    interaction: ADMINISTRATION,
    route: 'console',
    status: 200,
    query,
    patients: [],
  };
}

/** The login of the system; behind `sudo` that of the person, too. */
function personAtConsole({ environment = processEnvironment() }: Terminal): string {
  const login = loginOfProcess();
  const person = environment['SUDO_USER'];
  return person === undefined || person === login ? login : `${person} as ${login}`;
}

function loginOfProcess(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that no name belongs to.
    return `uid ${process.getuid?.()}`;
  }
}
