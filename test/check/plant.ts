/**
 * Plants faults into copies of the third database and of its pack. In: the faults. Out: the output of `lintel check`.
 */
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { buildThird } from '../../fixtures/third/build.ts';
import { checkRows } from '../../src/check/check.ts';
import { SECTIONS } from '../../src/check/sections.ts';
import { readConfig } from '../../src/config/config.ts';
import { lintel } from '../cli/lintel.ts';
import { THIRD_PACK } from '../law/third.ts';
import type { Planted } from './planted.ts';

export interface Told {
  readonly severity: string;
  readonly file: string;
  readonly line: number;
  /** The message: the problem, what was expected, what was found, and a suggestion. */
  readonly text: string;
}

export interface Checked {
  /** Folder of the changed pack. */
  readonly pack: string;
  readonly told: readonly Told[];
}

export interface Bed {
  checkWith(planted: readonly Planted[]): Promise<Checked>;
  /** Output of `lintel check --parameters` over the sound pack after a statement. */
  parametersAfter(sql: string): Promise<string>;
  remove(): void;
}

/** The sound database, whose copies get the faults. */
export function makeBed(): Bed {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-planted-'));
  const sound = join(folder, 'third.sqlite');
  buildThird(sound);
  return {
    remove: () => rmSync(folder, { recursive: true }),
    async parametersAfter(sql) {
      const own = mkdtempSync(join(folder, 'parameters-'));
      const file = join(own, 'third.sqlite');
      copyFileSync(sound, file);
      const database = new DatabaseSync(file);
      database.exec(sql);
      database.close();
      const environment = { DATABASE_URL: `sqlite:${file}`, MAPPINGS: THIRD_PACK, DATA_DIR: own };
      return (await lintel(environment, 'check', '--parameters', '--budget', '1')).out;
    },
    async checkWith(planted) {
      const own = mkdtempSync(join(folder, 'planted-'));
      const pack = join(own, 'pack');
      const file = join(own, 'third.sqlite');
      cpSync(THIRD_PACK, pack, { recursive: true });
      copyFileSync(sound, file);
      plant(planted, pack, file);
      const environment = { DATABASE_URL: `sqlite:${file}`, MAPPINGS: pack, DATA_DIR: own };
      // Searches of all parameters take long, and no fault here needs them.
      const sections = SECTIONS.filter(({ name }) => name !== 'searches');
      const options = { seed: 1, budgetSeconds: undefined, values: false, all: false };
      const { problems } = (await checkRows(readConfig(environment, {}), sections, options, () => {})).pack;
      return {
        pack,
        told: problems.map(({ severity, position: { file, line }, message, expected, found, suggestion }) => ({
          severity,
          file,
          line,
          text: [message, expected, found, suggestion && `did you mean ${suggestion}?`].filter(Boolean).join('; '),
        })),
      };
    },
  };
}

function plant(planted: readonly Planted[], pack: string, file: string): void {
  const database = new DatabaseSync(file);
  for (const { sql, edit } of planted) {
    if (sql !== undefined) database.exec(sql);
    if (!edit) continue;
    const [name, from, to] = edit;
    const parts = readFileSync(join(pack, name), 'utf8').split(from);
    expect(parts, `${from} once in ${name}`).toHaveLength(2);
    writeFileSync(join(pack, name), parts.join(to));
  }
  database.close();
}

/** True if a fault is reported at its line. Messages that the sound database also causes do not count. */
export function finds({ at, says, severity }: Planted, { pack, told }: Checked, sound: Checked): boolean {
  const [name, text] = at;
  const lines = readFileSync(join(pack, name), 'utf8').split('\n');
  const before = new Set(sound.told.map(one => `${one.file} ${one.text}`));
  return told.some(
    one =>
      one.file === name &&
      one.severity === severity &&
      lines[one.line - 1]?.includes(text) === true &&
      says.test(one.text) &&
      !before.has(`${one.file} ${one.text}`),
  );
}
