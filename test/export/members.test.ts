/**
 * Members of a list who have left it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Clinic } from './clinic.ts';
import { clinic, contents, finished, kickOff, served } from './exporting.ts';

/** A clinic whose lists say when somebody left, or just that. */
function withLeavers(): Clinic {
  const where = clinic();
  where.change('ALTER TABLE LISTED ADD COLUMN LEFT_AT DATETIME; ALTER TABLE LISTED ADD COLUMN OFF CHAR(1)');
  const pack = where.environment['MAPPINGS'] ?? '';
  for (const name of readdirSync(pack)) {
    const text = readFileSync(join(pack, name), 'utf8');
    writeFileSync(
      join(pack, name),
      text.replace(
        'needs: [entity] }',
        'period: { end: { from: m.LEFT_AT } }, inactive: { from: m.OFF, via: { boolean: { true: Y, false: N } } }, needs: [entity] }',
      ),
    );
  }
  return where;
}

test('a membership ends by its end date or its inactive flag; a future end date does not end it', async () => {
  const where = withLeavers();
  where.change(`UPDATE LISTED SET LEFT_AT = '2024-01-01 00:00:00.000' WHERE PERSON_ID = 1;
    UPDATE LISTED SET LEFT_AT = '2124-01-01 00:00:00.000' WHERE PERSON_ID = 3;
    UPDATE LISTED SET OFF = 'Y' WHERE PERSON_ID = 5; UPDATE LISTED SET OFF = 'N' WHERE PERSON_ID = 7`);
  const { fhir } = await served(where);
  const found = await contents(await finished(await kickOff(`${fhir}/Group/g-1/$export?_type=Patient`)));
  expect(found).toEqual(['Patient/3', 'Patient/7', 'Patient/9']);
});
