/**
 * Another program writes rows in forms that their columns never had, while a server answers: at most one answer after
 * such a row still treats the column in its old form.
 */
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { finished, kickOff } from '../export/exporting.ts';

interface Resource {
  readonly id: string;
  readonly effectiveDateTime?: string;
  readonly valueQuantity?: { readonly value: number };
}

interface Bundle {
  readonly total?: number;
  readonly entry?: readonly { readonly resource: Resource }[];
}

interface Served {
  readonly url: string;
  /** Writes by a separate connection, which is closed again. */
  write(sql: string): void;
  read(id: string): Promise<Resource>;
  /** Returns the ids that a search finds. */
  find(query: string): Promise<readonly string[]>;
}

async function served(): Promise<Served> {
  const clinic = smallClinic();
  const file = clinic.environment['DATABASE_URL']?.slice('sqlite:'.length) ?? '';
  const running = await startServer(
    readConfig({ ...clinic.environment, RELOAD_INTERVAL: '0' }),
    { out: () => {}, note: () => {} },
    createLog({ level: 'silent', format: 'json' }),
  );
  if (running === undefined) throw new Error('the pack has errors');
  onTestFinished(() => running.stop());
  const get = async (path: string): Promise<unknown> => (await fetch(`${running.url}/fhir/${path}`)).json();
  return {
    url: running.url,
    write(sql) {
      const writer = new DatabaseSync(file);
      writer.exec(sql);
      writer.close();
    },
    read: async id => (await get(`Observation/${id}`)) as Resource,
    find: async query =>
      ((await get(`Observation?${query}`)) as Bundle).entry?.map(({ resource }) => resource.id) ?? [],
  };
}

const IN_APRIL = 'date=2024-04&_sort=date';

test('a date in a new form is found, emitted and sorted from the second answer on', async () => {
  const { write, read, find } = await served();
  expect(await find(IN_APRIL)).toEqual(['w-8']);
  // In April by UTC, and as a text before all others of April.
  write("INSERT INTO WEIGHING VALUES (9, 1, '2024-03-31T23:30:00Z', 63)");
  await read('w-9');
  expect(await find(IN_APRIL)).toEqual(['w-9', 'w-8']);
  expect(await read('w-9')).toMatchObject({ effectiveDateTime: '2024-04-01T01:30:00+02:00' });
  expect(await find('date=2024-03')).toEqual(['w-7']);
});

test('the same holds if a search read the row without matching it', async () => {
  const { write, read, find } = await served();
  write("INSERT INTO WEIGHING VALUES (9, 1, '2024-04-30T23:30:00Z', 63)");
  await find(IN_APRIL);
  expect(await find(IN_APRIL)).toEqual(['w-8']);
  expect(await find('date=2024-05')).toEqual(['w-9']);
  expect(await read('w-9')).toMatchObject({ effectiveDateTime: '2024-05-01T01:30:00+02:00' });
});

test('requests during a rebuild of the mappings wait for it', async () => {
  const { write, read, find } = await served();
  write("UPDATE WEIGHING SET TAKEN = '2024-05-10T08:30:00Z' WHERE NO = 8");
  await read('w-8');
  const answers = await Promise.all([
    find('date=2024-05'),
    find(IN_APRIL),
    find('date=2024-05&_count=5'),
    find('date=gt2024-04-30'),
  ]);
  expect(answers).toEqual([['w-8'], [], ['w-8'], ['w-8']]);
});

test('a number beyond its column type is emitted at once, and searchable afterwards', async () => {
  const { write, read, find } = await served();
  expect(await find('value-quantity=gt61.5')).toEqual(['w-8']);
  write(
    "INSERT INTO WEIGHING VALUES (9, 1, '2024-05-10 08:30:00.000', 61.501), (10, 1, '2024-05-10 08:30:00.000', '<5')",
  );
  expect((await read('w-9')).valueQuantity?.value).toBe(61.501);
  expect((await read('w-10')).valueQuantity?.value).toBeUndefined();
  expect(await find('value-quantity=gt61.5')).toEqual(['w-8', 'w-9']);
  expect(await find('value-quantity=61.501')).toEqual(['w-9']);
  expect(await find('value-quantity=gt1000')).toEqual([]);
});

test('answers cached before are not sent afterwards', async () => {
  const { write, read, find } = await served();
  write("UPDATE WEIGHING SET TAKEN = '2024-05-10T08:30:00Z' WHERE NO = 8");
  const first = await find('_id=w-8&date=2024-05');
  // The first answer misses the row, or finds it as one of the new form.
  expect([[], ['w-8']]).toContainEqual(first);
  await read('w-8');
  expect((await read('w-8')).effectiveDateTime).toBe('2024-05-10T10:30:00+02:00');
  expect(await find('_id=w-8&date=2024-05')).toEqual(['w-8']);
});

test('an export thread restarts on a new form, and writes each row once with its date', async () => {
  const { url, write } = await served();
  const weighings = async (): Promise<readonly Resource[]> => {
    const { output } = await finished(await kickOff(`${url}/fhir/$export?_type=Observation`));
    const files = await Promise.all(output.map(async file => (await fetch(file.url)).text()));
    return files.flatMap(text =>
      text
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as Resource),
    );
  };
  expect(await weighings()).toHaveLength(2);
  write("INSERT INTO WEIGHING VALUES (9, 1, '2024-03-31T23:30:00Z', 63.125)");
  const after = await weighings();
  expect(after.map(({ id }) => id).toSorted()).toEqual(['w-7', 'w-8', 'w-9']);
  expect(after.find(({ id }) => id === 'w-9')).toMatchObject({
    effectiveDateTime: '2024-04-01T01:30:00+02:00',
    valueQuantity: { value: 63.125 },
  });
});
