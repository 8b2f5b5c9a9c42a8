/**
 * The straightforward benchmark program: makes a laboratory result of the demo as an object for JSON.stringify, from a
 * row object of the facade's own statement. In: columns by name, and a function that returns the offset of a local
 * time. Out: the same resource as the facade's.
 */
import { FLAGS, STATUS, UNITS } from './laboratory-codes.ts';

export type LaboratoryObject = Readonly<Record<string, string | number | null>>;

/** Returns the offset, such as `-05:00`, of `yyyy-mm-dd hh`. */
export type Offset = (hour: string) => string;

const LOCAL = 'urn:oid:2.16.840.1.113883.3.9999.4';

/** Blank counts as absent. */
function text(raw: string | number | null | undefined): string | undefined {
  const trimmed = raw === null || raw === undefined ? '' : String(raw).trim();
  return trimmed === '' ? undefined : trimmed;
}

/** A number that JSON.stringify writes with its original digits, trailing zeros included. */
function decimal(digits: string): unknown {
  const rawJSON = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
  return rawJSON(digits);
}

function moment(raw: string | number | null | undefined, offset: Offset): string | undefined {
  const stored = text(raw);
  return stored === undefined ? undefined : `${stored.replace(' ', 'T')}${offset(stored.slice(0, 13))}`;
}

function quantity(digits: string, comparator: string | undefined, unit: string | undefined) {
  const [code, name] = UNITS[unit?.toUpperCase() ?? ''] ?? [];
  return {
    value: decimal(digits),
    comparator,
    unit: name ?? unit,
    system: code === undefined ? undefined : 'http://unitsofmeasure.org',
    code,
  };
}

function value(row: LaboratoryObject): Readonly<Record<string, unknown>> {
  const result = text(row['RSLT_TX']);
  if (text(row['RSLT_CD']) !== undefined) {
    const coding = [];
    if (text(row['STD_CD']) !== undefined)
      coding.push({ system: 'http://snomed.info/sct', code: row['STD_CD'], display: text(row['STD_DESCR']) });
    coding.push({ system: LOCAL, code: text(row['RSLT_CD']), display: text(row['DESCR']) });
    return { valueCodeableConcept: { coding, text: result } };
  }
  const match = /^(<=|>=|<|>)? *(-?\d+(?:\.\d+)?)$/.exec(result ?? '');
  if (match) return { valueQuantity: quantity(match[2] ?? '', match[1], text(row['UNITS'])) };
  if (result !== undefined) return { valueString: result };
  const status = text(row['RSLT_STS'])?.toUpperCase();
  const [code, display] =
    status === 'I'
      ? ['temp-unknown', 'Temporarily Unknown']
      : status === 'X'
        ? ['not-performed', 'Not Performed']
        : ['unknown', 'Unknown'];
  const system = 'http://terminology.hl7.org/CodeSystem/data-absent-reason';
  return { dataAbsentReason: { coding: [{ system, code, display }], text: display } };
}

function interpretation(row: LaboratoryObject) {
  const [flag, status] = [text(row['ABN_FL']), text(row['RSLT_STS'])];
  const isResult = text(row['RSLT_CD']) !== undefined || /^(?:[<>]| *\d|-\d)/.test(String(row['RSLT_TX'] ?? ''));
  if (status?.toUpperCase() === 'I' || (flag === undefined && !isResult)) return undefined;
  const system = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';
  return [{ coding: [{ system, code: flag ?? 'N', display: FLAGS[flag ?? 'N'] }] }];
}

function range(row: LaboratoryObject) {
  const words = text(row['REF_RNG']);
  if (words === undefined) return undefined;
  const unit = text(row['UNITS']);
  const between = /^(\d+(?:\.\d+)?) *- *(\d+(?:\.\d+)?)$/.exec(words);
  const limit = /^(<=?|>=?) *(\d+(?:\.\d+)?)$/.exec(words);
  const low = between?.[1] ?? (limit?.[1]?.startsWith('>') ? limit[2] : undefined);
  const high = between?.[2] ?? (limit?.[1]?.startsWith('<') ? limit[2] : undefined);
  return [
    {
      low: low === undefined ? undefined : quantity(low, undefined, unit),
      high: high === undefined ? undefined : quantity(high, undefined, unit),
      text: words,
    },
  ];
}

export function laboratoryObject(row: LaboratoryObject, offset: Offset) {
  const test = text(row['TST_CD']);
  const own = text(row['LN_CD']);
  const code = own ?? text(row['LOINC']);
  const display = own === undefined || own === text(row['LOINC']) ? text(row['LN_DESCR']) : undefined;
  const coding = [];
  if (code !== undefined) coding.push({ system: 'http://loinc.org', code, display });
  coding.push({ system: LOCAL, code: test, display: text(row['TST_NM']) });
  const day = String(row['OBS_DT']);
  const date = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6, 8)}`;
  const clock = text(row['OBS_TM']);
  const time = clock && `T${clock.slice(0, 2)}:${clock.slice(2, 4)}:00${offset(`${date} ${clock.slice(0, 2)}`)}`;
  const { id, encounter, performer, specimen } = referencesOf(row);
  return {
    resourceType: 'Observation',
    id,
    meta: {
      lastUpdated: moment(row['UPD_DTM'], offset),
      profile: ['http://hl7.org/fhir/us/core/StructureDefinition/us-core-observation-lab'],
    },
    status: STATUS[text(row['RSLT_STS'])?.toUpperCase() ?? ''] ?? 'unknown',
    category: [
      {
        coding: [
          {
            system: 'http://terminology.hl7.org/CodeSystem/observation-category',
            code: 'laboratory',
            display: 'Laboratory',
          },
        ],
        text: 'Laboratory',
      },
    ],
    code: { coding, text: text(row['TST_TX']) ?? text(row['TST_NM']) ?? test },
    subject: { reference: `Patient/${row['PT_NO']}` },
    encounter,
    effectiveDateTime: `${date}${time ?? ''}`,
    issued: moment(row['VER_DTM'], offset),
    performer,
    ...value(row),
    interpretation: interpretation(row),
    specimen,
    referenceRange: range(row),
  };
}

function referencesOf(row: LaboratoryObject) {
  return {
    id:
      row['RSLT_ID'] === null
        ? `lab-${row['ACC_NO']}.${text(row['TST_CD'])}.${row['RPT_SEQ']}`
        : `lab-${row['RSLT_ID']}`,
    encounter: row['ENC_THERE'] === 1 ? { reference: `Encounter/${row['ENC_NO']}` } : undefined,
    performer: row['FAC_THERE'] === 1 ? [{ reference: `Organization/fac-${text(row['PERF_ID'])}` }] : undefined,
    specimen: row['SPC_THERE'] === 1 ? { reference: `Specimen/${row['ACC_NO']}.${row['SPC_SEQ']}` } : undefined,
  };
}
