/**
 * Hand-written programs to compare the facade with: an optimised and a straightforward one. Both run the facade's own
 * statements. In: a database file. Out: pages and reads as JSON text.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Cursor, cursorCodec, pageBefore, pagesBefore } from '../../src/search/cursor.ts';
import { preparesLasting } from '../../src/sql/sqlite/file.ts';
import { registerFunctions } from '../../src/sql/sqlite/functions.ts';
import { withNames } from './column-names.ts';
import { CONTEXT, LINK_SECRET } from './demo.ts';
import { type LaboratoryObject, laboratoryObject, type Offset } from './laboratory-object.ts';
import { COUNT, type Page, type Read } from './laboratory-pages.ts';
import { type LaboratoryRow, laboratoryId, laboratoryText } from './laboratory-text.ts';

export interface Program {
  page(page: Page): string;
  read(read: Read): string;
  /** The text of the statement alone. */
  rows(asked: Page | Read): unknown;
}

const BINDING = 'open|Observation|category=laboratory';
const SELF = `${CONTEXT.base}/Observation?category=laboratory&_count=${COUNT}`;

/** Opened as the adapter does; both programs cache prepared statements. */
function openFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec('PRAGMA query_only = ON; PRAGMA cache_size = -65536');
  registerFunctions(database);
  return database;
}

function statements(prepare: (sql: string) => StatementSync): (sql: string) => StatementSync {
  const known = new Map<string, StatementSync>();
  return sql => {
    let statement = known.get(sql);
    if (statement === undefined) {
      statement = prepare(sql);
      known.set(sql, statement);
    }
    return statement;
  };
}

const ZONE = 'America/New_York';

const cursors = cursorCodec(LINK_SECRET);

const linkTo = (cursor: Cursor): string => `${SELF}&_cursor=${cursors.seal(cursor, BINDING)}`;

/** The links after `self`: next, previous and first. */
function linksOf(
  { cursor }: Page,
  last: LaboratoryRow | LaboratoryObject | undefined,
): readonly (readonly [string, string])[] {
  const links: [string, string][] = [];
  if (last) {
    const key = Array.isArray(last) ? last.slice(0, 3) : Object.values(last).slice(0, 3);
    const place = { group: 'lab-results', branch: 0, key, ordinal: 0, sort: [], made: 'mappings' };
    links.push(['next', linkTo({ ...place, now: cursor?.now ?? Date.now(), before: pagesBefore(cursor) })]);
  }
  const before = pageBefore(cursor);
  if (before) links.push(['previous', before === 'first' ? SELF : linkTo(before)], ['first', SELF]);
  return links;
}

export function bestProgram(file: string): Program {
  const prepare = preparesLasting(openFile(file));
  const prepared = statements(sql => {
    const statement = prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  });
  const rowsOf = ({ sql, bound }: Page | Read): readonly LaboratoryRow[] =>
    prepared(sql).all(...bound) as unknown as readonly LaboratoryRow[];
  return {
    rows: rowsOf,
    page(page) {
      const rows = rowsOf(page);
      const end = page.skip + COUNT;
      let entries = '';
      for (let i = page.skip; i < end; i++) {
        const row = rows[i];
        if (row === undefined) break;
        const id = laboratoryId(row);
        entries += `${entries === '' ? '' : ','}{"fullUrl":"${CONTEXT.base}/Observation/${id}","resource":${laboratoryText(row, id)},"search":{"mode":"match"}}`;
      }
      const last = rows[end - 1];
      let links = `{"relation":"self","url":"${SELF}"}`;
      for (const [relation, url] of linksOf(page, rows.length > end ? last : undefined))
        links += `,{"relation":"${relation}","url":"${url}"}`;
      return `{"resourceType":"Bundle","type":"searchset","link":[${links}],"entry":[${entries}]}`;
    },
    read(read) {
      const [row] = rowsOf(read);
      return row === undefined ? '' : laboratoryText(row, laboratoryId(row));
    },
  };
}

const NAMES =
  'ACC_NO TST_CD RPT_SEQ RSLT_ID UPD_DTM OBS_DT RSLT_STS LN_CD LOINC LN_DESCR TST_NM TST_TX MRN PT_NO ENC_NO ENC_THERE OBS_TM VER_DTM PERF_ID FAC_THERE STD_CD STD_DESCR RSLT_CD DESCR RSLT_TX UNITS ABN_FL SPC_SEQ SPC_THERE REF_RNG'.split(
    ' ',
  );

/** `offsetsOf`: cached offsets, or one call of Intl for each local time. */
export function obviousProgram(file: string, offsetsOf: (zone: string) => Offset): Program {
  const offset = offsetsOf(ZONE);
  const prepare = preparesLasting(openFile(file));
  const prepared = statements(sql => prepare(withNames(sql, NAMES)));
  const rowsOf = ({ sql, bound }: Page | Read): readonly LaboratoryObject[] =>
    prepared(sql).all(...bound) as unknown as readonly LaboratoryObject[];
  return {
    rows: rowsOf,
    page(page) {
      const rows = rowsOf(page);
      const shown = rows.slice(page.skip, page.skip + COUNT);
      const last = rows.length > page.skip + COUNT ? shown.at(-1) : undefined;
      const link = [['self', SELF] as const, ...linksOf(page, last)].map(([relation, url]) => ({ relation, url }));
      const entry = shown
        .map(row => laboratoryObject(row, offset))
        .map(resource => ({
          fullUrl: `${CONTEXT.base}/Observation/${resource.id}`,
          resource,
          search: { mode: 'match' },
        }));
      return JSON.stringify({ resourceType: 'Bundle', type: 'searchset', link, entry });
    },
    read(read) {
      const [row] = rowsOf(read);
      return row === undefined ? '' : JSON.stringify(laboratoryObject(row, offset));
    },
  };
}
