/**
 * Measures the writer per resource against the interpreter with JSON.stringify. Run it by hand:
 * `node test/resource/bench.ts`. Prints microseconds per resource for an Observation of some twenty elements.
 */

import { compileWriter, type WriteContext } from '../../src/resource/compile.ts';
import { NO_CHILDREN } from '../../src/resource/rows.ts';
import { shapeOf } from '../../src/resource/shape.ts';
import { toXml } from '../../src/resource/xml.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import { interpret } from '../law/planned-rows.ts';
import {
  codec,
  codeMap,
  col,
  constant,
  DECIMAL,
  first,
  join,
  list,
  mapping,
  named,
  object,
  PLAIN,
  ref,
  resolver,
  value,
} from './nodes.ts';

const CODE = codeMap({ GLU: '2345-7', NA: '2951-2', K: '2823-3' });
const NAME = codeMap({ GLU: 'Glucose', NA: 'Sodium', K: 'Potassium' });
const UNIT = codeMap({ 'MG/DL': 'mg/dL', 'MMOL/L': 'mmol/L' });
const STATUS = codeMap({ F: 'final', P: 'preliminary' });
const FLAG = codeMap({ H: 'H', L: 'L', N: 'N' });
const TIME = codec('datetime', raw =>
  typeof raw === 'string' ? `${raw.slice(0, 10)}T${raw.slice(11, 19)}-05:00` : undefined,
);

const patients = mapping({
  name: 'patients',
  resource: 'Patient',
  root: object('Patient', {}),
  source: { ...mapping({ root: object('Patient', {}) }).source, alias: col('pt.NO').alias, key: [col('pt.NO')] },
  id: { alternatives: [[{ kind: 'column', column: col('pt.NO'), codec: PLAIN }]] },
});

const coding = (system: string, column: string, code: typeof CODE, display: typeof CODE) =>
  object(
    'Coding',
    {
      system: constant(system),
      code: value(column, { codec: code, type: 'code' }),
      display: value(column, { codec: display }),
    },
    { needs: ['code'] },
  );

const quantity = (column: string, options = {}) =>
  object(
    'Quantity',
    {
      value: value(column, { codec: DECIMAL, type: 'decimal' }),
      unit: value('UNIT', { codec: UNIT }),
      system: constant('http://unitsofmeasure.org'),
      code: value('UNIT', { codec: UNIT, type: 'code' }),
    },
    { needs: ['value'], ...options },
  );

const labs = mapping({
  root: object('Observation', {
    meta: object('Meta', {
      profile: list(constant('http://hl7.org/fhir/us/core/StructureDefinition/us-core-observation-lab')),
    }),
    identifier: list(
      object('Identifier', { system: constant('urn:oid:1.2.3'), value: value('ACC') }, { needs: ['value'] }),
    ),
    status: first(value('STATUS', { codec: STATUS, type: 'code' }), constant('unknown', 'code')),
    category: list(
      constant(
        {
          coding: [
            {
              system: 'http://terminology.hl7.org/CodeSystem/observation-category',
              code: 'laboratory',
              display: 'Laboratory',
            },
          ],
        },
        'CodeableConcept',
      ),
    ),
    code: object('CodeableConcept', {
      coding: list(coding('http://loinc.org', 'TEST', CODE, NAME)),
      text: value('DESCR'),
    }),
    subject: ref('patients', [join('pt.NO', 'PAT')], { members: named({ display: value('NAME') }) }),
    effectiveDateTime: value('DONE', { codec: TIME, type: 'dateTime' }),
    issued: value('ISSUED', { codec: TIME, type: 'instant' }),
    performer: list(object('Reference', { display: value('LAB') })),
    valueQuantity: quantity('RESULT'),
    interpretation: list(
      object('CodeableConcept', {
        coding: list(coding('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', 'FLAG', FLAG, FLAG)),
      }),
    ),
    note: list(object('Annotation', { text: value('NOTE') }, { needs: ['text'] })),
    referenceRange: list(object('Observation.referenceRange', { low: quantity('LOW'), high: quantity('HIGH') })),
  }),
  changed: value('UPD', { codec: TIME, type: 'instant' }),
});

const shape = shapeOf(labs, { kind: 'all' }, resolver(patients));
const writer = compileWriter(labs, shape);
const context: WriteContext = { base: 'https://fhir.example', now: 0, zone: 'UTC' };

function sample(i: number): readonly SqlValue[] {
  const values: Readonly<Record<string, SqlValue>> = {
    ID: `L${i}`,
    ACC: `ACC-${i}`,
    STATUS: i % 9 === 0 ? 'P' : 'F',
    TEST: ['GLU', 'NA', 'K'][i % 3] ?? null,
    DESCR: 'Blood test, fasting',
    PAT: `P${i % 500}`,
    NAME: 'Doe, Jane',
    DONE: `2024-03-${10 + (i % 20)} 02:30:00.000`,
    ISSUED: '2024-03-10 02:30:00.000',
    LAB: 'Main laboratory',
    RESULT: `${i % 300}.50`,
    UNIT: i % 2 ? 'MG/DL' : 'MMOL/L',
    FLAG: ['H', 'L', 'N'][i % 3] ?? null,
    NOTE: i % 4 ? null : 'Line one\nLine "two"',
    LOW: '70',
    HIGH: '110.0',
    UPD: '2024-03-11 00:00:00.000',
  };
  return shape.columns.map(column =>
    column.kind === 'flag' ? 1 : (values[expressionKey(column).replace(/^t\./, '')] ?? null),
  );
}

const rows = Array.from({ length: 20_000 }, (_, i) => sample(i));

function measure(
  label: string,
  each: (row: readonly SqlValue[]) => number,
  over: readonly (readonly SqlValue[])[] = rows,
): void {
  let best = Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (let round = 0; round < 6; round++) {
    bytes = 0;
    const start = performance.now();
    for (const row of over) bytes += each(row);
    best = Math.min(best, performance.now() - start);
  }
  console.log(
    `${label}: ${((best * 1000) / over.length).toFixed(2)} µs per resource of ${Math.round(bytes / over.length)} characters`,
  );
}

measure('writer', row => writer.write(row, NO_CHILDREN, context).length);
measure(
  'writer, 100 per page, to UTF-8',
  (() => {
    let page: string[] = [];
    return row => {
      page.push(writer.write(row, NO_CHILDREN, context));
      if (page.length < 100) return 0;
      const bytes = Buffer.from(page.join()).length;
      page = [];
      return bytes;
    };
  })(),
);
measure(
  'interpreter and JSON.stringify',
  row => JSON.stringify(interpret(labs, shape, row, NO_CHILDREN, context)).length,
  rows.slice(0, 2000),
);
const texts = new Map(rows.slice(0, 2000).map(row => [row, writer.write(row, NO_CHILDREN, context)]));
measure('XML from its text', row => toXml(texts.get(row) ?? '').length, rows.slice(0, 2000));
