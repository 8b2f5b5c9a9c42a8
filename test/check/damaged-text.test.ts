import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';

/** A small clinic whose second surname has these bytes, as a text or as they are. */
function clinicWith(surname: Uint8Array, as: 'text' | 'bytes' = 'text'): Readonly<Record<string, string>> {
  const { environment } = smallClinic();
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.prepare(`UPDATE PERSON SET SURNAME = ${as === 'text' ? 'CAST(? AS TEXT)' : '?'} WHERE ID = 2`).run(surname);
  database.close();
  return environment;
}

test('bytes of another encoding are reported by column, and not as wrong searches', async () => {
  const environment = clinicWith(Buffer.from('Müller', 'latin1'));
  const { out } = await lintel(environment, 'check', '--all');
  expect(out).toContain(
    'warning: SURNAME has lost letters in 1 sampled row; expected texts in UTF-8; found U+FFFD, which stands for what ' +
      'could not be read [LNT-708]',
  );
  expect(out).not.toContain('ller');
  expect(out).toMatch(/0 errors, 1 warning$/);
  expect((await lintel(environment, 'profile', 'PERSON')).out).toMatch(/lost letters +50%/);
});

test('bytes in a column of texts are reported by column', async () => {
  const environment = clinicWith(Buffer.from('M'), 'bytes');
  expect((await lintel(environment, 'check', '--all')).out).toContain(
    'warning: SURNAME holds bytes in 1 sampled row; expected texts: searches take bytes for a value, which no element ' +
      'shows; found bytes [LNT-708]',
  );
});

test('UTF-8 that was read as windows-1252 is reported by column', async () => {
  const environment = clinicWith(Buffer.from('MÃ¼ller', 'utf8'));
  const { out } = await lintel(environment, 'check', '--all');
  expect(out).toContain(
    'warning: SURNAME is encoded twice in 1 sampled row; expected texts in UTF-8; found letters such as Ã© where é is ' +
      'meant [LNT-708]',
  );
  expect((await lintel(environment, 'profile', 'PERSON')).out).toMatch(/encoded twice +50%/);
});

test.each(['Müller', 'AMANHû', 'CAFÉ’', '“São”', 'O’Neil', 'Â', 'Ångström', '東京'])(
  '%s is valid, and not reported',
  async name => {
    const environment = clinicWith(Buffer.from(name, 'utf8'));
    expect((await lintel(environment, 'check', '--all')).out).toMatch(/0 errors, 0 warnings$/);
    expect((await lintel(environment, 'profile', 'PERSON')).out).not.toMatch(/lost letters|encoded twice/);
  },
);
