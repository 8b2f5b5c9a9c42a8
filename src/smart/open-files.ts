/**
 * Opens the files of the authorization server. In: paths in DATA_DIR. Out: the keys and the store; a damaged file is
 * renamed and replaced, and the log says so.
 */
import { reasonOf } from '../common/reason.ts';
import { readOrSetAside } from '../common/sealed-file.ts';
import type { Log } from '../log.ts';
import { type Keys, KeysError, readKeys } from './keys.ts';
import { isDamagedStore, openStore, type Store, storeFile } from './store.ts';

/** Reads the keys of a file; undefined if there are none or they are damaged. Then everybody has to log in again. */
export function wholeKeys(file: string, log: Pick<Log, 'error'>): Keys | undefined {
  return readOrSetAside(
    file,
    () => readKeys(file),
    error => error instanceof KeysError,
    (damaged, aside) =>
      log.error(
        'the keys of the authorization server were damaged and set aside; new ones are made, and sessions end',
        {
          file: damaged,
          aside,
        },
      ),
  );
}

/** Opens the store of a folder; replaces a damaged one, which ends sessions, tokens and grants. */
export function wholeStore(folder: string, log: Pick<Log, 'error'>): Store {
  const failed = complaint(log);
  const open = (): Store => openStore(folder, Date.now, failed);
  const whole = readOrSetAside(storeFile(folder), open, isDamagedStore, (file, aside) =>
    log.error(
      'the store of the authorization server was damaged and set aside; sessions, tokens and grants have ended',
      {
        file,
        aside,
      },
    ),
  );
  return whole ?? open();
}

/** Milliseconds between two log lines about a store that cannot be written. */
const PAUSE = 60_000;

/** Logs why the store cannot be written, at most once a minute. */
function complaint(log: Pick<Log, 'error'>): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return error => {
    if (performance.now() - loggedAt < PAUSE) return;
    loggedAt = performance.now();
    log.error('the store of the authorization server cannot be written', { ...reasonOf(error) });
  };
}
