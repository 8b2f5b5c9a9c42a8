/** `lintel init` on a schema with a patient's names, numbers and addresses in tables of their own. */
import { expect, test } from 'vitest';
import { begun } from './begun-pack.ts';

type Insert = Parameters<Parameters<typeof begun>[1]>[0];

/** Persons, some of whom are patients, as in large products. */
const PERSONS = `
  CREATE TABLE person (person_id INTEGER PRIMARY KEY, gender VARCHAR(50), birthdate DATE, voided TINYINT);
  CREATE TABLE patient (patient_id INTEGER PRIMARY KEY REFERENCES person(person_id), voided TINYINT);
  CREATE TABLE person_name (person_name_id INTEGER PRIMARY KEY, preferred TINYINT, person_id INTEGER REFERENCES person(person_id),
    given_name VARCHAR(50), family_name VARCHAR(50), voided TINYINT);
  CREATE TABLE person_address (person_address_id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES person(person_id), address1 VARCHAR(99),
    city_village VARCHAR(99), postal_code VARCHAR(9));
  CREATE TABLE patient_identifier (patient_identifier_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patient(patient_id),
    identifier VARCHAR(50), identifier_type INTEGER, voided_by INTEGER REFERENCES person(person_id));
  CREATE TABLE patient_phone (id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patient(patient_id), phone_number VARCHAR(20));
  CREATE TABLE specimen (specimen_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patient(patient_id), identifier VARCHAR(20));`;

function persons(insert: Insert): void {
  for (let i = 1; i <= 40; i++) {
    insert('person', i, i % 2 ? 'F' : 'M', `19${40 + i}-03-14`, 0);
    insert('person_name', 100 + i, 1, i, 'Quxg', 'Quxf', 0);
    insert('person_address', 200 + i, i, 'Quxstreet 1', 'Quxtown', '01234');
    if (i <= 5) continue;
    insert('patient', i, 0);
    insert('patient_identifier', 300 + i, i, `10${i}A`, 1, 1);
    insert('patient_phone', 400 + i, i, '555-0100');
    insert('specimen', 500 + i, i, `S${i}`);
  }
}

test('if patients are rows of persons, both tables and those with a row for each value are mapped', async () => {
  const { proposals, first, text, errors, told } = await begun(PERSONS, persons);
  expect(first('patients')).toMatchObject({ table: 'patient', score: expect.any(Number) });
  const paths = first('patients').elements.map(({ path, column }) => `${path} ${column}`);
  expect(paths).toEqual([
    ...['name.family family_name', 'name.given given_name', 'birthDate birthdate', 'gender gender'],
    ...['identifier.value identifier', 'telecom[phone].value phone_number'],
    ...['address.line address1', 'address.city city_village', 'address.postalCode postal_code'],
  ]);
  const patients = text('patients.yaml');
  expect(patients).toContain('#     j: { table: person, on: { person_id: patient_id } }\n');
  expect(patients).toContain(`#   name:
#     - each: { table: person_name, as: c, on: { person_id: patient_id }, where: { voided: { not: "1" } }, order: [-preferred, person_name_id] }
#       elements:
#         family: { from: c.family_name }`);
  expect(patients).toMatch(/table: patient_identifier, .* {2}## identifier_type says of which kind\n/);
  expect(patients).toMatch(/^# {3}telecom:\n# {5}- each: .*\n# {7}elements:\n# {9}system: phone\n# {9}value: /m);
  expect(patients).toContain('100 % of a sample of patient have a row');
  const person = proposals.find(({ table }) => table === 'person');
  expect(person?.reasons).toContain('patient shares its key, so it may hold people who are no patients');
  expect(await errors()).toEqual([]);
  expect(told).not.toContain('Qux');
});

const PROVIDER = `CREATE TABLE provider (provider_id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES person(person_id), npi VARCHAR(10),
  creator INTEGER REFERENCES person(person_id));`;

test('if doctors are rows of persons, the names of the persons are mapped', async () => {
  const { first, text, errors, told } = await begun(PERSONS + PROVIDER, insert => {
    persons(insert);
    for (let i = 1; i <= 5; i++) insert('provider', 900 + i, i, '1234567893', 1);
  });
  const paths = first('practitioners').elements.map(({ path, column }) => `${path} ${column}`);
  expect(paths).toEqual(['name.family family_name', 'name.given given_name', 'identifier.value npi']);
  expect(text('practitioners.yaml')).toContain(
    '#     - each: { table: person_name, as: c, on: { person_id: person_id }, where: { voided: { not: "1" } }',
  );
  expect(await errors()).toEqual([]);
  expect(told).not.toContain('Qux');
});

test.each([
  [
    'a table of people',
    'staff (staff_id INTEGER PRIMARY KEY, employee_id INTEGER REFERENCES employee(id), npi TEXT)',
    'employee',
    true,
  ],
  [
    'whoever leads it',
    'staff (staff_id INTEGER PRIMARY KEY, manager_id INTEGER REFERENCES employee(id), npi TEXT)',
    'employee',
    false,
  ],
  [
    'its patient',
    'patient_provider (staff_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(id), npi TEXT)',
    'patients',
    false,
  ],
])('the name of a doctor stands in %s', async (_, ddl, people, isFound) => {
  const { proposals } = await begun(
    `CREATE TABLE patients (id INTEGER PRIMARY KEY, last_name TEXT, first_name TEXT, birth_date DATE);
     CREATE TABLE employee (id INTEGER PRIMARY KEY, last_name TEXT, first_name TEXT); CREATE TABLE ${ddl};`,
    insert => {
      for (let i = 1; i <= 20; i++) {
        insert('patients', i, 'Quxf', 'Quxg', '1970-03-14');
        insert('employee', i, 'Quxf', 'Quxg');
        insert(ddl.replace(/ .*/, ''), 100 + i, i, '1234567893');
      }
    },
  );
  const found = proposals.filter(({ kind }) => kind === 'practitioners').flatMap(({ elements }) => elements);
  const names = found.filter(({ path }) => path === 'name.family');
  expect(names.some(({ join = [] }) => join.some(({ table }) => table === people))).toBe(isFound);
});

const ALONE = 'CREATE TABLE patients (id INTEGER PRIMARY KEY, birth_date DATE, sex CHAR(1));';

/** What init finds besides the own columns of 40 patients, `having` of whom have a row in `table`. */
async function beside(table: string, ddl: string, having: number, row: (i: number) => (string | number)[]) {
  const { first } = await begun(`${ALONE} CREATE TABLE ${table} (${ddl});`, insert => {
    for (let i = 1; i <= 40; i++) insert('patients', i, '1970-03-14', 'F');
    for (let i = 1; i <= having; i++) insert(table, ...row(i));
  });
  return first('patients').elements.flatMap(({ path, column }) =>
    /birth|gender/.test(path) ? [] : [`${path} ${column}`],
  );
}

const NAMES = ['name.family last_name', 'name.given first_name'];
const REFERS = 'id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(id)';

test.each<[what: string, found: readonly string[], table: string, ddl: string, having: number]>([
  ['names', NAMES, 'names', `${REFERS}, last_name TEXT, first_name TEXT`, 40],
  ['names of few', [], 'names', `${REFERS}, last_name TEXT, first_name TEXT`, 9],
  ['names of contacts', [], 'emergency_contacts', `${REFERS}, last_name TEXT, first_name TEXT`, 40],
  ['names of relatives', [], 'people', `${REFERS}, last_name TEXT, first_name TEXT, relationship TEXT`, 40],
  ['names of people with a sex', [], 'people', `${REFERS}, last_name TEXT, first_name TEXT, sex TEXT`, 40],
  [
    'names by a key of names alone',
    NAMES,
    'names',
    'id INTEGER PRIMARY KEY, patients_id INTEGER, last_name TEXT, first_name TEXT',
    40,
  ],
  ['an address beside the name of another', [], 'homes', `${REFERS}, last_name TEXT, street TEXT, city TEXT`, 40],
  [
    'no type for a street',
    ['address.city city', 'address.postalCode zip'],
    'addr',
    `${REFERS}, addr_typ TEXT, city TEXT, zip TEXT`,
    40,
  ],
  ['a city alone', [], 'births', `${REFERS}, city TEXT, note TEXT`, 40],
  ['numbers of samples', [], 'samples', `${REFERS}, identifier TEXT, note TEXT`, 40],
  ['a telephone of an appointment', [], 'appointments', `${REFERS}, phone TEXT, note TEXT`, 40],
])('%s', async (_, found, table, ddl, having) => {
  const columns = ddl.split(',').length - 2;
  expect(await beside(table, ddl, having, i => [i, i, ...['Quxa', 'Quxb', 'F'].slice(0, columns)])).toEqual(found);
});

test('a table linked to patients by column names alone is ignored if its keys find no patient', async () => {
  const ddl = 'id INTEGER PRIMARY KEY, patients_id INTEGER, last_name TEXT, first_name TEXT';
  expect(await beside('names', ddl, 40, i => [i, 1000 + i, 'Quxa', 'Quxb'])).toEqual([]);
});
