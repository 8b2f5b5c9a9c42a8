/** Units of the demo's laboratory by UCUM code and name, as in mappings/medkeep/laboratory.codes.yaml. */
export const UNITS: Readonly<Record<string, readonly [code: string, name: string]>> = {
  'MG/DL': ['mg/dL', 'mg/dL'],
  'G/DL': ['g/dL', 'g/dL'],
  'NG/DL': ['ng/dL', 'ng/dL'],
  'NG/ML': ['ng/mL', 'ng/mL'],
  'UG/DL': ['ug/dL', 'ug/dL'],
  'MG/L': ['mg/L', 'mg/L'],
  'PG/ML': ['pg/mL', 'pg/mL'],
  'MMOL/L': ['mmol/L', 'mmol/L'],
  'MEQ/L': ['meq/L', 'meq/L'],
  'U/L': ['U/L', 'U/L'],
  'UIU/ML': ['u[IU]/mL', 'uIU/mL'],
  'K/UL': ['10*3/uL', '10*3/uL'],
  'M/UL': ['10*6/uL', '10*6/uL'],
  FL: ['fL', 'fL'],
  'ML/MIN/1.73': ['mL/min/{1.73_m2}', 'mL/min/1.73 m2'],
  '%': ['%', '%'],
};

export const STATUS: Readonly<Record<string, string>> = {
  F: 'final',
  P: 'preliminary',
  C: 'corrected',
  X: 'cancelled',
  I: 'registered',
};
export const FLAGS: Readonly<Record<string, string>> = {
  H: 'High',
  L: 'Low',
  HH: 'Critical high',
  LL: 'Critical low',
  A: 'Abnormal',
  N: 'Normal',
};
