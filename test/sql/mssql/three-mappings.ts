/** Makes a pack of three mappings, one of which refers to another, and the tables of its scripted server. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../temporary-folder.ts';
import type { ScriptedTable } from './schema-script.ts';

const PACK = {
  'pack.yaml': 'name: clinic\ntitle: Clinic\nzone: America/New_York\nsystems: {}\n',
  'place.yaml': `mapping: places
resource: Location
source: { table: PLACE, as: l, key: [NO] }
id: "{NO}"
elements:
  name: { from: TITLE }
`,
  'room.yaml': `mapping: rooms
resource: Location
source: { table: ROOM, as: r, key: [NO] }
id: "r-{NO}"
elements:
  name: { from: TITLE }
  partOf: { ref: houses, on: { NO: HOUSE_NO } }
`,
  'house.yaml': `mapping: houses
resource: Location
source: { table: HOUSE, as: h, key: [NO], changed: CHANGED }
id: "h-{NO}"
elements:
  name: { from: TITLE }
`,
};

export const PLACE: ScriptedTable = { columns: { NO: 'int', TITLE: 'varchar' } };
export const ROOM: ScriptedTable = { columns: { NO: 'int', TITLE: 'varchar', HOUSE_NO: 'int' } };
/** No mapping names it. */
export const STAFF: ScriptedTable = { columns: { NO: 'int', PIN: 'varchar' } };
export const HOUSE: ScriptedTable = { columns: { NO: 'int', TITLE: 'varchar', CHANGED: 'datetime' } };

/** The pack in a folder that is removed at the end of the test, with further files. */
export function packFolder(more: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries({ ...PACK, ...more })) writeFileSync(join(folder, name), text);
  return folder;
}
