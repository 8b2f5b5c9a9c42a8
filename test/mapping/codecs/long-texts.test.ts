/**
 * Every codec and text step reads texts that are made to take long in a time that grows with their length. Databases
 * hold anything, and a row that takes minutes stops the server.
 */
import { expect, test } from 'vitest';
import { CODECS, TEXT_STEPS } from '../../../src/mapping/codecs/table.ts';
import { globPattern } from '../../../src/resource/condition.ts';
import { canonicalOf } from '../../../src/resource/raw.ts';
import { declaredType } from '../../../src/sql/engines.ts';
import { lengthInId } from '../../../src/sql/shared-functions.ts';
import { cpuTime } from '../../cpu-time.ts';

const LENGTH = 80_000;
const PUMPS = [
  ...[' ', '\n', '\t', '\u00a0', '0', 'a', 'T', '.', '-', ':', '/', '<', '>', '&', '^', '\\', '{'],
  ...['&#', '0.', '1-', ' .', 'a ', '<= ', '{\\rtf1 ', '\\par ', '<b>', '1e'],
];
const TEXTS = ['', '1', '2024-01-01T'].flatMap(begin =>
  PUMPS.flatMap(pump => ['', '!'].map(end => begin + pump.repeat(LENGTH / pump.length) + end)),
);

const FHIR_TYPES = ['string', 'code', 'markdown', 'xhtml', 'boolean', 'decimal', 'date', 'dateTime', 'instant', 'time'];
const COLUMNS = ['VARCHAR(40)', 'DATE', 'DATETIME', 'TIME', 'DECIMAL(9,2)', 'INTEGER', 'UUID', 'BLOB'];
const OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  boolean: [{ true: 'Y', false: 'N' }],
  'date-and-time': [{ date: 'ymd8', time: 'hhmm' }],
  days: [{ since: '1899-12-30' }],
  time: [undefined, 'hhmm'],
  piece: [{ by: ' ', at: '2' }],
  prefix: [['A', '0']],
  dotted: ['3'],
  words: ['first', 'last', 'all-but-last', 'all-but-first'],
  written: ['MM/DD/YYYY', 'DD-MON-YYYY', 'DD/MM/YYYY HH:mm', 'YYYY'],
};

/** Everything that reads a stored text, by name. */
function readers(): ReadonlyMap<string, (text: string) => unknown> {
  const found = new Map<string, (text: string) => unknown>();
  const types = COLUMNS.flatMap(declared => declaredType('sqlite', declared) ?? []);
  for (const [name, { facets, make }] of Object.entries(CODECS))
    for (const options of OPTIONS[name] ?? [undefined])
      for (const facet of facets.length > 0 ? facets : [undefined])
        for (const columnTypes of types.flatMap(type => [[type], [type, type]]))
          for (const fhirType of FHIR_TYPES) {
            const made = make(options, facet, { zone: 'America/New_York', fhirType, columnTypes });
            if (!('codec' in made)) continue;
            const { codec } = made;
            const kinds = columnTypes.map(({ declared }) => declared).join();
            found.set(`${codec.label} of ${kinds}`, text =>
              columnTypes.length === 1 ? codec.decode(text) : codec.decode(text, text),
            );
          }
  for (const [name, { make }] of Object.entries(TEXT_STEPS))
    for (const options of OPTIONS[name] ?? [undefined]) {
      const made = make(options);
      if ('step' in made) found.set(`step ${made.step.label}`, made.step.apply);
    }
  for (const type of types) found.set(`comparison of ${type.declared}`, canonicalOf(type));
  for (const pattern of ['*a*b*c', '*0*1*', '?*<*>*']) {
    const glob = globPattern(pattern);
    found.set(`pattern ${pattern}`, text => glob.test(text));
  }
  for (const how of [0, 1, 2]) found.set(`length of an id ${how}`, text => lengthInId(text, how));
  return found;
}

test('no codec, step, comparison or pattern takes longer than in proportion to the length of a text', () => {
  const slow: string[] = [];
  const all = [...readers()];
  expect(all.length).toBeGreaterThan(60);
  for (const [name, read] of all)
    for (const text of TEXTS) {
      // Usual are 10 ms at most; quadratic time is seconds.
      const took = cpuTime(() => read(text), 500);
      if (took <= 500) continue;
      slow.push(`${name}: ${Math.round(took)} ms for ${JSON.stringify(text.slice(0, 20))}`);
      break;
    }
  expect(slow).toEqual([]);
}, 120_000);
