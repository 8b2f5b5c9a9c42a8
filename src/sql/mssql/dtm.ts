/**
 * Reads time stamps of HL7 v2 and of ISO 8601 in T-SQL (src/time/dtm.ts). In: SQL of a text, and what it is needed for.
 * Out: SQL of the text that stamps are compared by, or of their sort key; NULL for a text that is no stamp.
 */
import { pad } from '../../time/calendar.ts';
import { DTM_LETTERS, type DtmNeed, type KeyPiece, keyPiecesOf, localPiecesOf, ZONED_YEARS } from '../../time/dtm.ts';
import { printLocal, type Zone } from '../../time/zone.ts';
import { binary } from './forms.ts';

/** Returns `D2024-03-00`, `L2024-03-10 08:30:05.1230000` or `Z2024-03-10 13:30:05.1230000`. */
export function comparedDtm(sql: string, need: DtmNeed): string {
  const { date, local, instant } = DTM_LETTERS;
  return cases(sql, need, {
    date: `'${date}' + ${DATE}`,
    local: `'${local}' + ${clockOf('m.m')}`,
    instant: `'${instant}' + ${clockOf(SHIFTED)}`,
  });
}

/** Returns `2024-03-00`, `2024-03-10 08:30:05.1230000`, or the key of a second time (src/time/instant-key.ts). */
export function keyOfDtm(sql: string, need: DtmNeed, zone: Zone): string {
  return cases(sql, need, { date: DATE, local: clockOf('m.m'), instant: need === 'day' ? 'NULL' : zonedKey(zone) });
}

/**
 * Splits a stamp: `t` the text, `z` its offset or nothing, `b` the text before it, `w` its digits, `f` those of a
 * second.
 */
function partsOf(sql: string): string {
  const texts = `(SELECT ${binary(`RTRIM(${sql})`)} AS t) AS n`;
  const zoned = `(SELECT n.t, CASE WHEN n.t LIKE '%[-+][0-9][0-9][0-9][0-9]' THEN RIGHT(n.t, 5) ELSE '' END AS z FROM ${texts}) AS o`;
  const before = `(SELECT o.t, o.z, LEFT(o.t, LEN(o.t) - LEN(o.z)) AS b FROM ${zoned}) AS p`;
  return (
    `(SELECT p.z, CASE WHEN p.b LIKE '%.%' THEN LEFT(p.b, CHARINDEX('.', p.b) - 1) ELSE p.b END AS w,` +
    ` CASE WHEN p.b LIKE '%.%' THEN SUBSTRING(p.b, CHARINDEX('.', p.b) + 1, 4000) END AS f FROM ${before}) AS q`
  );
}

/** Missing years, months and days become the first, missing times zero. */
const FILLED = `q.w + SUBSTRING('00000101000000', LEN(q.w) + 1, 14)`;

/** Adds `m`, the local time of the digits; NULL if the digits or the offset are invalid. */
function momentsOf(sql: string): string {
  const [date, times] = [`STUFF(STUFF(LEFT(${FILLED}, 8), 7, 0, '-'), 5, 0, '-')`, `RIGHT(${FILLED}, 6)`];
  const clock = `STUFF(STUFF(${times}, 5, 0, ':'), 3, 0, ':')`;
  const isForm = [
    `q.w LIKE '[0-9][0-9][0-9][0-9]%' AND q.w NOT LIKE '%[^0-9]%'`,
    `LEN(q.w) IN (4, 6, 8, 10, 12, 14)`,
    `(q.f IS NULL OR (LEN(q.w) = 14 AND q.f LIKE '[0-9]%' AND q.f NOT LIKE '%[^0-9]%' AND LEN(q.f) <= 7))`,
    `(q.z = '' OR q.z LIKE '[-+]0[0-9][0-5][0-9]' OR q.z LIKE '[-+]1[0-3][0-5][0-9]' OR q.z LIKE '[-+]1400')`,
  ].join(' AND ');
  const read = `TRY_CONVERT(datetime2(0), ${date} + 'T' + ${clock}, 126)`;
  return `(SELECT q.z, q.w, q.f, CASE WHEN ${isForm} THEN ${read} END AS m FROM ${partsOf(sql)}) AS m`;
}

const DATE = `STUFF(STUFF(LEFT(m.w + '0000', 8), 7, 0, '-'), 5, 0, '-')`;
const FRACTION = `LEFT(COALESCE(m.f, '') + '0000000', 7)`;
const OFFSET = `(CAST(SUBSTRING(m.z, 2, 2) AS int) * 60 + CAST(SUBSTRING(m.z, 4, 2) AS int))`;
/** The time in UTC. */
const SHIFTED = `DATEADD(minute, CASE LEFT(m.z, 1) WHEN '-' THEN 1 ELSE -1 END * ${OFFSET}, m.m)`;

function clockOf(moment: string): string {
  return `CONVERT(nvarchar(19), ${moment}, 120) + '.' + ${FRACTION}`;
}

/** The SQL for each kind of stamp. */
interface Kinds {
  readonly date: string;
  readonly local: string;
  readonly instant: string;
}

function cases(sql: string, need: DtmNeed, { date, local, instant }: Kinds): string {
  const from = momentsOf(sql);
  if (need === 'day') return `(SELECT CASE WHEN m.m IS NOT NULL THEN ${date} END FROM ${from})`;
  const years = `m.w >= '${pad(ZONED_YEARS.first, 4)}' AND m.w < '${pad(ZONED_YEARS.end, 4)}'`;
  const short = need === 'moment' ? `LEN(m.w) <= 8 THEN ${date}` : `LEN(m.w) < ${need === 'second' ? 14 : 8} THEN NULL`;
  const whens = [`m.m IS NULL THEN NULL`, short, `m.z = '' THEN ${local}`, `${years} THEN ${instant}`];
  return `(SELECT CASE ${whens.map(when => `WHEN ${when}`).join(' ')} END FROM ${from})`;
}

/** Returns an instant's key by the last piece of the zone that begins at or before it. */
function zonedKey(zone: Zone): string {
  const rows = keyPiecesOf(zone).map(rowOf).join(', ');
  // BIG, because the server may also evaluate it for pieces that are filtered out.
  const since = `DATEDIFF_BIG(second, k.a, u.u) * 1000 + CAST(LEFT(${FRACTION}, 3) AS int)`;
  const rest = `CASE WHEN ${FRACTION} LIKE '___0000' THEN '' ELSE RIGHT(${FRACTION}, 4) END`;
  const second = `k.p + RIGHT('00000000' + CONVERT(nvarchar(20), ${since}), 8) + ${rest}`;
  const plain = clockOf('DATEADD(minute, k.o, u.u)');
  return (
    `(SELECT TOP (1) CASE WHEN k.p = '' THEN ${plain} ELSE ${second} END` +
    ` FROM (SELECT ${SHIFTED} AS u) AS u CROSS JOIN` +
    ` (SELECT CAST(v.a AS datetime2(0)) AS a, v.o, v.p FROM (VALUES ${rows}) AS v(a, o, p)) AS k` +
    ' WHERE k.a <= u.u ORDER BY k.a DESC)'
  );
}

/** Returns the sort key, in the zone `to`, of a local time on clocks in `from` (src/time/instant-key.ts). */
export function keyOfClock(sql: string, from: Zone, to: Zone): string {
  const nanoseconds = `RIGHT('000000' + CONVERT(nvarchar(7), DATEPART(nanosecond, t.t) / 100), 7)`;
  const text = `(SELECT CONVERT(nvarchar(19), t.t, 120) AS s, ${nanoseconds} AS f FROM (SELECT CAST(${sql} AS datetime2(7)) AS t) AS t)`;
  const own = `m.s + '.' + m.f`;
  if (from === to) return `(SELECT ${own} FROM ${text} AS m)`;
  const pieces = (of: readonly KeyPiece[]): string =>
    `(SELECT CAST(v.a AS datetime2(0)) AS a, v.o, v.p FROM (VALUES ${of.map(rowOf).join(', ')}) AS v(a, o, p))`;
  // At either end of the calendar the other clocks show a year that no column holds. A CASE may evaluate all branches.
  const isWithin = "m.s >= '0001-01-03' AND m.s < '9999-12-30'";
  const within = `CONVERT(datetime2(0), CASE WHEN ${isWithin} THEN m.s ELSE '2000-01-01 00:00:00' END, 120)`;
  const times = `(SELECT m.s, m.f, ${within} AS m FROM ${text} AS m)`;
  const moment =
    `(SELECT TOP (1) m.s, m.f, DATEADD(minute, -f.o, m.m) AS u FROM ${times} AS m` +
    ` CROSS JOIN ${pieces(localPiecesOf(from))} AS f WHERE f.a <= m.m ORDER BY f.a DESC)`;
  const since = `DATEDIFF_BIG(second, k.a, m.u) * 1000 + CAST(LEFT(m.f, 3) AS int)`;
  const rest = `CASE WHEN m.f LIKE '___0000' THEN '' ELSE RIGHT(m.f, 4) END`;
  const second = `k.p + RIGHT('00000000' + CONVERT(nvarchar(20), ${since}), 8) + ${rest}`;
  const plain = `CONVERT(nvarchar(19), DATEADD(minute, k.o, m.u), 120) + '.' + m.f`;
  return (
    `(SELECT TOP (1) CASE WHEN NOT (${isWithin}) THEN ${own} WHEN k.p = '' THEN ${plain} ELSE ${second} END` +
    ` FROM ${moment} AS m CROSS JOIN ${pieces(keyPiecesOf(to))} AS k WHERE k.a <= m.u ORDER BY k.a DESC)`
  );
}

function rowOf({ from, offset, second }: KeyPiece): string {
  const begin = Number.isFinite(from) ? printLocal(from, 0).replace(' ', 'T') : '0001-01-01T00:00:00';
  return `('${begin}', ${offset / 60_000}, '${second?.prefix ?? ''}')`;
}

const [TWO, FOUR] = ['[0-9][0-9]', '[0-9][0-9][0-9][0-9]'];

/** Returns the stamp of HL7 v2 for a text of ISO 8601. `r`: what follows the minutes, `k`: length of the zone. */
export function stampOfIso(sql: string): string {
  const texts = `(SELECT ${binary(`RTRIM(${sql})`)} AS t) AS n`;
  const after = `(SELECT n.t, SUBSTRING(n.t, 17, 4000) AS r FROM ${texts}) AS o`;
  const zones = [
    ['Z', 1],
    [`[-+]${TWO}:${TWO}`, 6],
    [`[-+]${FOUR}`, 5],
    [`[-+]${TWO}`, 3],
  ].map(([form, length]) => `WHEN o.r LIKE '%${form}' THEN ${length}`);
  const zoned = `(SELECT o.t, o.r, CASE ${zones.join(' ')} ELSE 0 END AS k FROM ${after}) AS p`;
  const parts =
    `(SELECT p.t, RTRIM(LEFT(p.r, LEN(p.r) - p.k)) AS s, REPLACE(RIGHT(p.r, p.k), ':', '') AS z` +
    ` FROM ${zoned}) AS q`;
  const date = `${FOUR}-${TWO}-${TWO}`;
  const isDate = `q.t LIKE '${FOUR}' OR q.t LIKE '${FOUR}-${TWO}' OR q.t LIKE '${date}'`;
  const isFraction = `q.s LIKE ':${TWO}.[0-9]%' AND SUBSTRING(q.s, 5, 4000) NOT LIKE '%[^0-9]%' AND LEN(q.s) <= 13`;
  const isMoment = `q.t LIKE '${date}[T ]${TWO}:${TWO}%' AND (q.s = '' OR q.s LIKE ':${TWO}' OR (${isFraction}))`;
  const clock = 'SUBSTRING(q.t, 12, 2) + SUBSTRING(q.t, 15, 2) + SUBSTRING(q.s, 2, 2) + SUBSTRING(q.s, 4, 8)';
  const zone = `CASE WHEN q.z = 'Z' THEN '+0000' WHEN LEN(q.z) = 3 THEN q.z + '00' ELSE q.z END`;
  return (
    `(SELECT CASE WHEN ${isDate} THEN REPLACE(q.t, '-', '')` +
    ` WHEN ${isMoment} THEN REPLACE(LEFT(q.t, 10), '-', '') + ${clock} + ${zone} END FROM ${parts})`
  );
}
