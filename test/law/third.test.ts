import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allIds, allOf } from '../../src/law/searches.ts';
import { lintel } from '../cli/lintel.ts';
import { ASKS_ALL } from '../share.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { checkLaw } from './law.ts';
import { openThird, THIRD_PACK } from './third.ts';

describe('the third database', () => {
  let third: Awaited<ReturnType<typeof openThird>>;
  beforeAll(async () => {
    third = await openThird();
  });
  afterAll(() => third.close());

  test('answers each search with exactly the resources that match by the FHIRPath engine', {
    timeout: 300_000,
  }, async () => {
    const report = await checkLaw(third.facade, { zone: 'America/Chicago', values: 2, oneIn: 6 });
    console.log(`the law on the third database: ${report.cases} cases of ${report.byParameter.size} parameters`);
    expect(report.differences).toEqual([]);
    expect(report.cases).toBeGreaterThan(6000 / (ASKS_ALL ? 1 : 12));
  });

  test('gives the same resources in small pages as in one', async () => {
    for (const type of third.facade.offers.types) {
      const whole = await allIds(third.facade, type, [['_elements', 'id']]);
      expect(await allIds(third.facade, type, [['_elements', 'id']], 13), type).toEqual(whole);
      expect(new Set(whole).size, type).toBe(whole.length);
    }
  });

  test('exports the same resources as its searches', { timeout: 120_000 }, async () => {
    const folder = temporaryFolder();
    const environment = { DATABASE_URL: `sqlite:${third.file}`, MAPPINGS: THIRD_PACK, DATA_DIR: folder };
    const { code, notes } = await lintel(environment, 'export', join(folder, 'out'));
    expect(code, notes).toBe(0);
    const exported = new Map<string, unknown>();
    for (const file of readdirSync(join(folder, 'out')).filter(name => name.endsWith('.ndjson'))) {
      for (const line of readFileSync(join(folder, 'out', file), 'utf8')
        .split('\n')
        .filter(Boolean)) {
        const resource = JSON.parse(line) as { readonly resourceType: string; readonly id: string };
        exported.set(`${resource.resourceType}/${resource.id}`, resource);
      }
    }
    let found = 0;
    for (const type of third.registry.types) {
      for (const resource of await allOf(third.facade, type, [])) {
        expect(exported.get(`${type}/${resource.id}`), `${type}/${resource.id}`).toEqual(resource);
        found++;
      }
    }
    expect(exported.size).toBe(found);
  });
});
