/** A `code` element has only the system of its required binding. https://hl7.org/fhir/R4/search.html#token */
import { expect, test } from 'vitest';
import { type Found, searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE TODO (NO INTEGER NOT NULL PRIMARY KEY, WHY VARCHAR(10) COLLATE RTRIM, ST VARCHAR(10) COLLATE RTRIM);
INSERT INTO TODO VALUES (1, 'unknown', 'draft'), (2, 'order', 'ready'), (3, 'plan', 'draft');
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'task.yaml': `mapping: tasks
resource: Task
source: { table: TODO, as: t, key: [NO] }
id: "{NO}"
elements:
  status: { from: ST, via: code, else: draft }
  intent: { from: WHY, via: code, else: unknown }
`,
};

const search = async (name: string, value: string): Promise<Found['ids']> =>
  (await searchSmall(SCHEMA, PACK, `Task?${name}=${encodeURIComponent(value)}`)).ids;

test('a system alone finds the codes that are bound to it', async () => {
  expect(await search('status', 'http://hl7.org/fhir/task-status|')).toEqual(['1', '2', '3']);
  expect(await search('status:not', 'http://hl7.org/fhir/task-status|')).toEqual([]);
  expect(await search('status', 'http://example.org/other|')).toEqual([]);
});

test('a system alone finds only its own codes in an element with codes of two systems', async () => {
  expect(await search('intent', 'http://hl7.org/fhir/task-intent|')).toEqual(['1']);
  expect(await search('intent', 'http://hl7.org/fhir/request-intent|')).toEqual(['2', '3']);
  expect(await search('intent', 'http://hl7.org/fhir/task-intent|order')).toEqual([]);
});
