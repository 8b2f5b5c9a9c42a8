/** References between the tables that `lintel init` proposes: to visits and to practitioners. */
import { expect, test } from 'vitest';
import { begun, instant } from './begun-pack.ts';

const CLINIC = `
  CREATE TABLE patients (id INTEGER PRIMARY KEY, last_name VARCHAR(40), first_name VARCHAR(40), birth_date DATE, sex CHAR(1),
    gp INTEGER REFERENCES doctors(doctor_no));
  CREATE TABLE doctors (doctor_no INTEGER PRIMARY KEY, last_name VARCHAR(40), first_name VARCHAR(40), npi VARCHAR(10));
  CREATE TABLE visits (visit_no INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(id), start_date DATETIME, status VARCHAR(10),
    visit_type VARCHAR(10), modified_by INTEGER REFERENCES doctors(doctor_no), seen_by INTEGER REFERENCES doctors(doctor_no));
  CREATE TABLE orders (order_no INTEGER PRIMARY KEY, visit_no INTEGER, patient_id INTEGER REFERENCES patients(id));
  CREATE TABLE results (result_no INTEGER PRIMARY KEY, order_no INTEGER REFERENCES orders(order_no), test_name VARCHAR(20), value DECIMAL(8,2),
    unit VARCHAR(9), result_date DATETIME, status VARCHAR(10));
  CREATE TABLE problems (problem_no INTEGER PRIMARY KEY, patient_id INTEGER, encounter_id INTEGER, doctor_id INTEGER, problem_text VARCHAR(40),
    onset_date DATE);
  CREATE TABLE allergies (allergy_no INTEGER PRIMARY KEY, patient_id INTEGER, visit_no INTEGER, substance VARCHAR(40), status VARCHAR(10));`;

type Insert = Parameters<Parameters<typeof begun>[1]>[0];

/** `dangling`: how many of the 40 rows have keys without a target row. */
const rows =
  (dangling: number) =>
  (insert: Insert): void => {
    for (let i = 1; i <= 5; i++) insert('doctors', i, 'Quxl', 'Quxf', `123456789${i}`);
    for (let i = 1; i <= 40; i++) {
      const [lost, doctor] = [i <= dangling, 1 + (i % 5)];
      const visit = lost ? (i % 2 ? 90_000 + i : null) : 1000 + i;
      insert('patients', i, 'Quxl', 'Quxf', '1970-01-02', 'F', i % 3 ? doctor : null);
      insert('visits', 1000 + i, i, instant(i), 'finished', 'inpatient', 1, lost ? 77 : doctor);
      insert('orders', 2000 + i, visit, i);
      insert('results', 3000 + i, 2000 + i, 'Sodium', 140, 'mmol/L', instant(i), 'final');
      insert('problems', 4000 + i, i, visit, doctor, 'Hypertension', '2023-01-02');
      // A number of something else: it is no key of a visit.
      insert('allergies', 5000 + i, i, i, 'Peanut', 'active');
    }
  };

test('a column with keys of visits or doctors is proposed as a reference to their mapping', async () => {
  const { first, text, errors, told } = await begun(CLINIC, rows(0));
  expect(text('patients.yaml')).toMatch(
    /^# {3}generalPractitioner: \{ ref: practitioners, on: \{ doctor_no: gp \} \} {2}## INTEGER, score 1\.00: declared foreign key to doctors\.doctor_no; 100 % of a sample are there$/m,
  );
  // The user who changed a row last is no participant.
  expect(text('encounters.yaml')).toMatch(
    /^# {3}participant:\n# {5}individual: \{ ref: practitioners, on: \{ doctor_no: seen_by \} \}/m,
  );
  expect(text('results.yaml')).toContain('encounter: { ref: encounters, on: { visit_no: j.visit_no } }');
  expect(text('results.yaml').match(/table: orders/g)).toHaveLength(1);
  const problems = text('conditions.yaml');
  expect(problems).toMatch(
    /encounter: \{ ref: encounters, on: \{ visit_no: encounter_id \} \} .*reads as "encounter id"/,
  );
  expect(problems).toContain('recorder: { ref: practitioners, on: { doctor_no: doctor_id } }');
  expect(first('conditions').elements.find(({ path }) => path === 'encounter')).toMatchObject({
    column: 'encounter_id',
    reference: { mapping: 'encounters', on: [{ theirs: 'visit_no', ours: 'encounter_id' }] },
  });
  // Only the names suggest it; the rows contradict it.
  expect(text('allergies.yaml')).not.toContain('ref: encounters');
  expect(await errors()).toEqual([]);
  expect(told).not.toContain('Qux');
});

test('with keys that dangle or are NULL the proposed pack passes check', async () => {
  const { text, errors } = await begun(CLINIC, rows(12));
  expect(text('conditions.yaml')).toMatch(/encounter: .*8\d % of a sample are visit_no of visits/);
  expect(text('encounters.yaml')).toMatch(/individual: .*declared foreign key/);
  expect(await errors()).toEqual([]);
});

test('if all declared keys dangle, the reference is kept with a remark', async () => {
  const { text, errors } = await begun(CLINIC, rows(40));
  expect(text('encounters.yaml')).toMatch(
    /individual: .*declared foreign key to doctors\.doctor_no; 0 % of a sample are there/,
  );
  expect(text('conditions.yaml')).not.toContain('ref: encounters');
  expect(await errors()).toEqual([]);
});

test('tables of clients and therapists are recognised, and linked without declared foreign keys', async () => {
  const { first } = await begun(
    `CREATE TABLE PEOPLE (MEMBER_NO INTEGER PRIMARY KEY, LAST_NAME VARCHAR(40), FIRST_NAME VARCHAR(40), DOB DATE, SEX CHAR(1));
    CREATE TABLE THERAPISTS (ID INTEGER PRIMARY KEY, FULL_NAME VARCHAR(60), NPI CHAR(10));
    CREATE TABLE BOOKS (BOOK_NO INTEGER PRIMARY KEY, MEMBER_NO INTEGER);
    CREATE TABLE VITALS (ID INTEGER PRIMARY KEY, MEMBER_NO INTEGER, BOOK_NO INTEGER REFERENCES BOOKS(BOOK_NO), VALUE DECIMAL(8,2),
      UNIT VARCHAR(9), TAKEN DATETIME);`,
    insert => {
      for (let i = 1; i <= 20; i++) {
        insert('PEOPLE', i, 'Quxl', 'Quxf', '1970-01-02', 'F');
        insert('THERAPISTS', i, 'Quxt Quxt', '1234567890');
        insert('BOOKS', i, i);
        insert('VITALS', i, i, i, 70, 'kg', instant(i));
      }
    },
  );
  expect(first('practitioners').table).toBe('THERAPISTS');
  const subject = first('vitals').elements.find(({ path }) => path === 'subject');
  expect(subject).toMatchObject({ column: 'MEMBER_NO' });
  expect(subject?.join).toBeUndefined();
});

test('tables of wards and hospitals are recognised by name, with the references to them', async () => {
  const { proposals, text, errors } = await begun(
    `CREATE TABLE patients (id INTEGER PRIMARY KEY, last_name VARCHAR(40), first_name VARCHAR(40), birth_date DATE, sex CHAR(1));
    CREATE TABLE hospitals (hospital_id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(40));
    CREATE TABLE hospital_invoices (id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(40));
    CREATE TABLE wards (ward_no INTEGER PRIMARY KEY, ward_name VARCHAR(40), hospital_id INTEGER REFERENCES hospitals(hospital_id));
    CREATE TABLE admissions (id INTEGER PRIMARY KEY, patient_id INTEGER, start_date DATETIME, status VARCHAR(10), class VARCHAR(10),
      ward_no INTEGER REFERENCES wards(ward_no));
    CREATE TABLE doctors (doctor_id INTEGER PRIMARY KEY, full_name VARCHAR(40), npi CHAR(10));
    CREATE TABLE procedures (id INTEGER PRIMARY KEY, patient_id INTEGER, procedure_text VARCHAR(40), status VARCHAR(12), procedure_date DATE,
      surgeon INTEGER REFERENCES doctors(doctor_id));`,
    insert => {
      insert('hospitals', 1, 'Saint Elsewhere', 'Boston');
      insert('hospital_invoices', 1, 'Rent', 'Boston');
      for (let i = 1; i <= 20; i++) {
        insert('wards', i, 'West', 1);
        insert('doctors', i, 'Quxt', '1234567890');
        insert('procedures', i, i, 'Appendectomy', 'completed', '2023-01-02', i % 2 ? i : null);
        insert('patients', i, 'Quxl', 'Quxf', '1970-01-02', 'F');
        insert('admissions', i, i, instant(i), 'finished', 'inpatient', i % 3 ? i : null);
      }
    },
  );
  expect(proposals.filter(({ kind }) => kind === 'organizations').map(({ table }) => table)).toEqual(['hospitals']);
  expect(text('locations.yaml')).toContain(
    'managingOrganization: { ref: organizations, on: { hospital_id: hospital_id } }',
  );
  expect(text('encounters.yaml')).toMatch(
    /location:\n# {5}needs: \[location\]\n# {5}location: \{ ref: locations, on: \{ ward_no: ward_no \} \}/,
  );
  expect(await errors()).toEqual([]);
});

test('numbers that several clinics give out: a reference has all columns of the key', async () => {
  const { text, errors } = await begun(
    `CREATE TABLE patients (clinic CHAR(3), patient_id VARCHAR(9), last_name VARCHAR(40), first_name VARCHAR(40), birth_date DATE,
       sex CHAR(1), PRIMARY KEY (clinic, patient_id));
     CREATE TABLE visits (clinic CHAR(3), visit_id VARCHAR(9), patient_id VARCHAR(9), start_date DATETIME, status VARCHAR(10),
       visit_type VARCHAR(10), PRIMARY KEY (clinic, visit_id));
     CREATE TABLE problems (clinic CHAR(3), problem_id INTEGER, patient_id VARCHAR(9), visit_id VARCHAR(9), problem_text VARCHAR(40),
       onset_date DATE, PRIMARY KEY (clinic, problem_id));`,
    insert => {
      for (let i = 0; i < 80; i++) {
        const clinic = i % 2 ? 'EST' : 'WST';
        const number = 100 + Math.floor(i / 2);
        insert('patients', clinic, `P${number}`, 'Quxl', 'Quxf', '1970-01-02', 'F');
        insert('visits', clinic, `V${number}`, `P${number}`, instant(i), 'finished', 'inpatient');
        insert('problems', clinic, number, `P${number}`, `V${number}`, 'Hypertension', '2023-01-02');
      }
    },
  );
  const patient = '{ ref: patients, on: { patient_id: patient_id, clinic: clinic } }';
  expect(text('encounters.yaml')).toContain(`subject: ${patient}`);
  expect(text('conditions.yaml')).toContain(`subject: ${patient}`);
  expect(await errors()).toEqual([]);
});

test('the whole name of a patient in one column is proposed', async () => {
  const { text, errors } = await begun(
    'CREATE TABLE patients (id INTEGER PRIMARY KEY, name VARCHAR(40), birth_date DATE, sex CHAR(1))',
    insert => {
      for (let i = 1; i <= 30; i++) insert('patients', i, `QUXL${i},QUXF M`, '1970-01-02', i % 2 ? 'F' : 'M');
    },
  );
  expect(text('patients.yaml')).toMatch(/^# {3}name:\n# {5}text: \{ from: name \} .*; ABC99,ABC A and others$/m);
  expect(await errors()).toEqual([]);
});
