/**
 * Audits changes to accounts and clients before a command makes them. In: the words of the command, which contain no
 * secret, and whether the change gives or removes access. Out: whether the change may be made. docs/audit.md
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { ADMINISTRATION, type AuditRecord } from '../audit/record.ts';
import { openStore } from '../audit/store.ts';
import { reasonOf } from '../common/reason.ts';
import { AUDIT_FILE, type Config, processEnvironment } from '../config/config.ts';
import type { Terminal } from './command.ts';

/**
 * Records a change; returns whether it may be made. If the audit cannot take a record, a change that gives access is
 * refused. One that removes access is allowed: filling the audit must not keep an account alive.
 */
export function isRecorded(
  words: readonly string[],
  gives: boolean,
  { dataDir, audit }: Pick<Config, 'dataDir' | 'audit'>,
  terminal: Terminal,
): boolean {
  const path = join(dataDir, AUDIT_FILE);
  // The server's environment may enable the audit even if this command's does not.
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

/** Returns the operating system's user; with `sudo` also the person behind it. */
function personAtConsole({ environment = processEnvironment() }: Terminal): string {
  const login = loginOfProcess();
  const person = environment['SUDO_USER'];
  return person === undefined || person === login ? login : `${person} as ${login}`;
}

function loginOfProcess(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user id may have no name.
    return `uid ${process.getuid?.()}`;
  }
}
