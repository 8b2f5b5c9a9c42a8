/**
 * Prints an error that ends a process or a command. In: the error. Out: errors that a user can fix, in full with their
 * code of docs/errors.md; others without their message, which may contain anything.
 */
import { AuditError } from '../audit/writer.ts';
import { ConfigError } from '../config/config.ts';
import { START_ERRORS, type StartErrorKind } from '../errors/pack-errors.ts';
import { REQUEST_ERRORS } from '../errors/request-errors.ts';
import { describeError } from '../log.ts';
import { FhirError } from '../outcome.ts';
import { DatabaseError } from '../sql/database.ts';
import { ENGINES } from '../sql/engines.ts';

export function printError(error: unknown, note: (text: string) => void): void {
  if (error instanceof ConfigError) {
    note([`${error.message}:`, ...error.problems.map(problem => `  ${settingText(problem)}`)].join('\n'));
  } else if (error instanceof DatabaseError) {
    note([coded('unusable-database', `The database: ${error.message}`), ...cureOf(error)].join('\n'));
  } else if (error instanceof AuditError) {
    note(coded('unusable-audit', auditText(error)));
  } else if (error instanceof FhirError) {
    note(`${error.message} [${REQUEST_ERRORS[error.kind][0]}]`);
  } else if (isSystemError(error)) {
    note(systemText(error));
  } else {
    const { kind, at } = describeError(error);
    note(coded('unexpected-failure', `Unexpected ${kind} at ${at}`));
  }
}

function coded(kind: StartErrorKind, text: string): string {
  return `${text} [${START_ERRORS[kind][0]}]`;
}

/** Adds the error code; a problem in a file that the configuration names has one already. */
function settingText(problem: string): string {
  return /\[LNT-\d+\]$/.test(problem) ? problem : coded('wrong-setting', problem);
}

/** Returns advice for errors that a configuration causes. */
function cureOf({ engine }: DatabaseError): readonly string[] {
  const codes = [engine.number, engine.code].map(String);
  return [...ENGINES.values()].flatMap(({ cures }) => codes.flatMap(code => cures[code] ?? [])).slice(0, 1);
}

const NEW_FORM =
  'Move it to another folder and keep it: it is the record of accesses. The next start makes a new file, and `lintel audit --file` of ' +
  'the version that wrote the old one still reads that.';
const WRITABLE = 'The user of this process has to be allowed to write the file and its folder (DATA_DIR).';
const ROOM = 'Free disk space, or raise AUDIT_SIZE.';

/** The problem with the audit file, and the remedy, by SQLite's result code or the system's error code. */
const AUDIT_CURES: Readonly<Record<string, readonly [wrong: string, cure: string]>> = {
  SQLITE_1: ['is not in the form that this version writes', NEW_FORM],
  SQLITE_5: ['is held by another process', 'Stop that, or give each server a DATA_DIR of its own.'],
  SQLITE_8: ['may not be written', WRITABLE],
  SQLITE_11: ['is damaged', NEW_FORM],
  SQLITE_13: ['is full', ROOM],
  SQLITE_14: ['cannot be opened', WRITABLE],
  SQLITE_26: ['is no SQLite file', NEW_FORM],
  ENOSPC: ['has no space left on its disk', ROOM],
  EACCES: ['may not be written', WRITABLE],
  EPERM: ['may not be written', WRITABLE],
  EROFS: ['is on a file system that cannot be written', WRITABLE],
  EISDIR: ['is a folder', 'Name another DATA_DIR, or remove the folder.'],
};

function auditText({ code, file, message }: AuditError): string {
  const [wrong, cure] = AUDIT_CURES[code] ?? ['cannot be used', 'Look at DATA_DIR and AUDIT_SIZE.'];
  return file === undefined ? `${message}.` : `The audit: ${file} ${wrong} (${code}). ${cure}`;
}

type SystemError = Error & { readonly code: string; readonly syscall: string };

/** True for an error of the file system or the network: a port in use, a missing folder. */
function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is no folder',
  EISDIR: 'is a folder',
  EACCES: 'may not be used by the user of this process',
  EPERM: 'may not be used by the user of this process',
  EROFS: 'is on a file system that cannot be written',
  ENOSPC: 'has no space left on its disk',
};

/** Describes the problem with a port, address or path, and names the variable to check. */
function systemText(error: SystemError): string {
  const { code, syscall } = error;
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  const place = [hostOf(error), 'port' in error ? error.port : ''].join(':');
  if (syscall === 'listen' && code === 'EADDRINUSE') {
    const text = `PORT: ${place} is taken by another program. Stop that, or choose another port with PORT or --port.`;
    return coded('unusable-address', text);
  }
  if (syscall === 'listen' && code === 'EACCES') {
    const text = `PORT: this user may not listen on ${place}. Choose a port above 1023 with PORT or --port.`;
    return coded('unusable-address', text);
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return coded('unusable-address', `HOST: ${hostOf(error)} is no address of this machine.`);
  }
  const problem = FILE_PROBLEMS[code];
  if (problem === undefined || path === undefined)
    return coded('unexpected-failure', `The system refuses: ${error.message}`);
  const variable = syscall === 'scandir' ? 'MAPPINGS: the folder ' : '';
  return coded('unusable-file', `${variable}${path} ${problem} (${code}).`);
}

function hostOf(error: SystemError): string {
  if ('address' in error && typeof error.address === 'string') return error.address;
  return 'hostname' in error && typeof error.hostname === 'string' ? error.hostname : 'the host';
}
