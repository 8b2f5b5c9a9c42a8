/**
 * `lintel init` on schemas with other conventions: German names with declared foreign keys of one and of several
 * columns, Spanish names without keys, and foreign keys with meaningless names.
 */
import { expect, test } from 'vitest';
import { begun, day, instant } from './begun-pack.ts';

test('German names are read, and declared foreign keys lead to the patient whatever their names', async () => {
  const { proposals, first, columns, text, errors, told } = await begun(
    `CREATE TABLE tbl_Patient (PatNr INTEGER PRIMARY KEY, Nachname VARCHAR(40), Vorname VARCHAR(40), GebDatum VARCHAR(10), Geschlecht CHAR(1),
      Straße VARCHAR(60), PLZ VARCHAR(10), Ort VARCHAR(40), Bundesland VARCHAR(30), Telefon VARCHAR(20), LetzteAenderung DATETIME);
    CREATE TABLE tbl_Arzt (ArztNr INTEGER PRIMARY KEY, Nachname VARCHAR(40), Vorname VARCHAR(40), LANR CHAR(9));
    CREATE TABLE tbl_Fall (FallNr INTEGER PRIMARY KEY, Traeger INTEGER REFERENCES tbl_Patient(PatNr), Aufnahme DATETIME, Entlassung DATETIME,
      FallArt VARCHAR(12), FallStatus CHAR(1), BehandelnderArzt INTEGER REFERENCES tbl_Arzt(ArztNr));
    CREATE TABLE tbl_Diagnose (FallNr INTEGER REFERENCES tbl_Fall(FallNr), LfdNr INTEGER, ICD10 VARCHAR(8), DiagText VARCHAR(200), DiagDatum DATE,
      PRIMARY KEY (FallNr, LfdNr));
    CREATE TABLE tbl_Auftrag (AuftragNr INTEGER PRIMARY KEY, FallNr INTEGER REFERENCES tbl_Fall(FallNr), Abnahme DATETIME);
    CREATE TABLE tbl_Analyt (AnalytCode VARCHAR(8) PRIMARY KEY, Bezeichnung VARCHAR(60), LOINC VARCHAR(10));
    CREATE TABLE tbl_LaborWert (AuftragNr INTEGER REFERENCES tbl_Auftrag(AuftragNr), AnalytCode VARCHAR(8) REFERENCES tbl_Analyt(AnalytCode),
      Ergebnis VARCHAR(20), Einheit VARCHAR(10), Status CHAR(1), MessDatum DATETIME, PRIMARY KEY (AuftragNr, AnalytCode));
    CREATE TABLE tbl_Vitalwert (FallNr INTEGER REFERENCES tbl_Fall(FallNr), MessZeit DATETIME, Art VARCHAR(8), Wert DECIMAL(8,2), Einheit VARCHAR(9),
      PRIMARY KEY (FallNr, MessZeit, Art));
    CREATE TABLE tbl_Angehoeriger (AngNr INTEGER PRIMARY KEY, Zu INTEGER REFERENCES tbl_Patient(PatNr), Nachname VARCHAR(40), Vorname VARCHAR(40),
      GebDatum VARCHAR(10), Geschlecht CHAR(1));`,
    insert => {
      for (let i = 1; i <= 40; i++) {
        const born = `2${i % 9}.0${1 + (i % 9)}.1970`;
        insert(
          'tbl_Patient',
          i,
          'Quxl',
          'Quxf',
          born,
          i === 9 ? 'd' : i % 2 ? 'm' : 'w',
          'W',
          '1',
          'O',
          'Hessen',
          '5',
          instant(i),
        );
        insert('tbl_Angehoeriger', i, i, 'Quxl', 'Quxf', born, 'w');
        insert('tbl_Fall', 100 + i, i, instant(i), instant(i), 'ambulant', 'EAS'[i % 3] ?? '', 1);
        insert('tbl_Diagnose', 100 + i, 1, 'I10', 'Hypertonie', day(i));
        insert('tbl_Auftrag', 200 + i, 100 + i, instant(i));
        insert('tbl_LaborWert', 200 + i, 'NA', i % 2 ? '<5' : '7,2', 'mmol/l', 'F', instant(i));
        insert('tbl_Vitalwert', 100 + i, instant(i), 'PULS', 70, '/min');
      }
      insert('tbl_Arzt', 1, 'Quxl', 'Quxf', '123456789');
      insert('tbl_Analyt', 'NA', 'Natrium', '2951-2');
    },
  );
  expect(columns('patients')).toMatchObject({
    ...{ 'name.family': 'Nachname', 'name.given': 'Vorname', birthDate: 'GebDatum', gender: 'Geschlecht' },
    ...{ 'address.line': 'Straße', 'address.city': 'Ort', 'address.state': 'Bundesland', 'address.postalCode': 'PLZ' },
  });
  const people = proposals.filter(({ kind }) => kind === 'patients');
  expect(people.map(({ table }) => table)).toEqual(['tbl_Patient', 'tbl_Angehoeriger'].slice(0, people.length));
  for (const relative of people.slice(1)) {
    expect(relative.reasons.join()).toContain('its Zu refers to tbl_Patient, so it may hold people around patients');
    expect(relative.score).toBeLessThan(0.7);
  }
  expect(first('encounters').elements.find(({ path }) => path === 'subject')).toMatchObject({
    ...{ column: 'Traeger', why: 'declared foreign key to tbl_Patient.PatNr' },
  });
  expect(columns('results')).toMatchObject({
    status: 'Status',
    'code.text': 'Bezeichnung',
    'code.coding[loinc].code': 'LOINC',
  });
  const results = text('results.yaml');
  expect(results).toMatch(
    /j: \{ table: tbl_Auftrag, on: \{ AuftragNr: AuftragNr \}, required: true \}\n.*j2: \{ table: tbl_Fall, on: \{ FallNr: j\.FallNr \}, required: true \}\n/,
  );
  expect(results).toContain('subject: { ref: patients, on: { PatNr: j2.Traeger } }');
  expect(results).toContain('- system: http://loinc.org');
  // Without the comparator, `<5` would be served as 5.
  expect(results).toMatch(
    /value: \{ from: Ergebnis, via: comparator-number\.value \}.*no codec reads decimal commas.*\n# {5}comparator: \{ from: Ergebnis, via: comparator-number\.comparator \}\n/,
  );
  // A single letter of another language is offered as a question, not accepted.
  expect(text('codes.yaml')).toMatch(/^# {5}E: absent {2}## 13 rows; perhaps entered-in-error: /m);
  expect(text('codes.yaml')).toMatch(/^# {5}w: female {2}## /m);
  expect(text('vitals.yaml')).toMatch(/^# id: "v-\{FallNr\}-\{MessZeit\}-\{Art\|?\w*\}"/m);
  expect(proposals.filter(({ kind }) => kind === 'conditions').map(({ table }) => table)).toEqual(['tbl_Diagnose']);
  expect((await errors()).filter(message => !message.startsWith('required element'))).toEqual([]);
  expect(told).not.toContain('Qux');
});

test('foreign keys of several columns are joined by all of them', async () => {
  const { text, errors, first } = await begun(
    `CREATE TABLE t_pat_base (pat_key CHAR(8) PRIMARY KEY, pat_lname VARCHAR(40), pat_fname VARCHAR(40), pat_dob INTEGER, pat_sex INTEGER);
    CREATE TABLE t_pat_visit (site INTEGER, vno INTEGER, owner CHAR(8) REFERENCES t_pat_base(pat_key), v_from DATETIME, PRIMARY KEY (site, vno));
    CREATE TABLE t_pat_dx (dkey INTEGER PRIMARY KEY, site INTEGER, vno INTEGER, dx_icd VARCHAR(8), dx_descr VARCHAR(80),
      FOREIGN KEY (site, vno) REFERENCES t_pat_visit);
    CREATE TABLE t_pat_alg (akey INTEGER PRIMARY KEY, owner CHAR(8) REFERENCES t_pat_base(pat_key), patient_id INTEGER REFERENCES t_adm_site(site),
      agent INTEGER REFERENCES t_cat_agent(agent_key));
    CREATE TABLE t_cat_agent (agent_key INTEGER PRIMARY KEY, name VARCHAR(60));
    CREATE TABLE t_adm_site (site INTEGER PRIMARY KEY, name VARCHAR(60));`,
    insert => {
      for (let i = 1; i <= 20; i++) {
        insert('t_pat_base', `P${i}`, 'Quxl', 'Quxf', 19700100 + i, 1 + (i % 2));
        insert('t_pat_visit', 1, i, `P${i}`, instant(i));
        insert('t_pat_dx', i, 1, i, 'I10', 'Hypertension');
        insert('t_pat_alg', i, `P${i}`, 1, 1);
      }
      insert('t_cat_agent', 1, 'Penicillin');
    },
  );
  expect(text('conditions.yaml')).toContain('j: { table: t_pat_visit, on: { site: site, vno: vno }, required: true }');
  expect(first('allergies').elements).toMatchObject([
    { path: 'patient', column: 'owner' },
    { path: 'code.text', column: 'name', join: [{ table: 't_cat_agent', declared: true }] },
  ]);
  expect((await errors()).filter(message => !message.startsWith('required element'))).toEqual([]);
});

test('without a declared key the first column is the key if its values are unique', async () => {
  const { first, columns, text, errors } = await begun(
    `CREATE TABLE Pacientes (IdPaciente INTEGER, NumHistoria VARCHAR(12), Apellidos VARCHAR(60), Nombres VARCHAR(60), FechaNacimiento VARCHAR(8),
      Sexo CHAR(1), Dirección VARCHAR(80), Provincia VARCHAR(40), Teléfono VARCHAR(20));
    CREATE TABLE Consultas (IdConsulta INTEGER, IdPaciente INTEGER, FechaInicio DATETIME, FechaFin DATETIME, Estado CHAR(1));
    CREATE TABLE OrdenesLab (IdOrden INTEGER, IdConsulta INTEGER);
    CREATE TABLE ResultadosLab (IdResultado INTEGER, IdOrden INTEGER, NombrePrueba VARCHAR(60), Resultado VARCHAR(20), Unidad VARCHAR(10));
    CREATE TABLE Alergias (IdAlergia INTEGER, IdPaciente INTEGER, Sustancia VARCHAR(60));`,
    insert => {
      for (let i = 1; i <= 40; i++) {
        insert('Pacientes', i, `H${i}`, 'Quxl', 'Quxf', `1970010${i % 9}`, 'MF'[i % 2] ?? '', 'C', 'Salta', '5');
        insert('Consultas', 100 + i, i, instant(i), instant(i), 'F');
        insert('OrdenesLab', 200 + i, 100 + i);
        insert('ResultadosLab', i, 200 + i, 'Sodio', '140', 'mmol/L');
        insert('Alergias', 7, i, 'Polen');
      }
    },
  );
  expect(first('patients')).toMatchObject({ table: 'Pacientes', key: ['IdPaciente'] });
  expect(first('patients').reasons).toContain('IdPaciente may be its key: unique in all 40 rows');
  expect(text('patients.yaml')).toContain('key: [IdPaciente]  ## not declared: make sure that it is unique');
  expect(columns('patients')).toMatchObject({
    ...{ 'name.family': 'Apellidos', 'name.given': 'Nombres', birthDate: 'FechaNacimiento', gender: 'Sexo' },
    ...{ 'address.line': 'Dirección', 'address.state': 'Provincia', 'telecom[phone].value': 'Teléfono' },
  });
  expect(columns('encounters')).toMatchObject({ status: 'Estado', 'period.start': 'FechaInicio' });
  expect(first('allergies')).toMatchObject({ key: [] });
  expect(first('allergies').reasons).toContain('IdAlergia has the name of a key, and is not unique');
  expect(text('results.yaml')).toMatch(/j2: \{ table: Consultas, .*\} {2}## by the names alone/);
  expect(text('results.yaml')).toMatch(/subject: .*100 % of a sample of IdOrden are in OrdenesLab/);
  expect((await errors()).filter(message => !/^required element|key|^id without a column/.test(message))).toEqual([]);
});

test('deletion marks, keys of lists, flags and the writers of rows are not mistaken for other data', async () => {
  const marks =
    'creator INTEGER REFERENCES users(user_id), voided TINYINT(1), voided_by INTEGER REFERENCES users(user_id), date_voided DATETIME';
  const { first, columns, text, errors, proposals } = await begun(
    `CREATE TABLE client (client_id INT(11) PRIMARY KEY, given_name VARCHAR(40), family_name VARCHAR(40), birthdate DATE, gender CHAR(1), ${marks});
    CREATE TABLE users (user_id INT(11) PRIMARY KEY, client_id INT(11) REFERENCES client(client_id), username VARCHAR(20));
    CREATE TABLE visit_type (visit_type_id INT(11) PRIMARY KEY, name VARCHAR(40));
    CREATE TABLE visit (visit_id INT(11) PRIMARY KEY, client_id INT(11) REFERENCES client(client_id),
      visit_type INT(11) REFERENCES visit_type(visit_type_id), date_started DATETIME, date_stopped DATETIME, ${marks});
    CREATE TABLE diagnosis_note (note_id INT(11) PRIMARY KEY, diagnosis_text VARCHAR(80), diagnosis_date DATE, ${marks});
    CREATE TABLE obs (obs_id INT(11) PRIMARY KEY, client_id INT(11) REFERENCES client(client_id), obs_datetime DATETIME,
      value_coded INT(11), value_numeric DOUBLE, status VARCHAR(16), deleted_at DATETIME);
    CREATE TABLE drug_order (order_id INT(11) PRIMARY KEY, visit_id INT(11) REFERENCES visit(visit_id), drug_name VARCHAR(40),
      dispense_as_written TINYINT(1), is_deleted CHAR(1));
    CREATE TABLE allergy (allergy_id INT(11) PRIMARY KEY, client_id INT(11) REFERENCES client(client_id), allergen_type VARCHAR(20),
      onset_date DATE, status VARCHAR(9), ${marks});`,
    insert => {
      const kept = [1, 0, null, null];
      for (let i = 1; i <= 40; i++) {
        insert('client', i, 'Quxf', 'Quxl', day(i), 'MF'[i % 2] ?? '', ...kept);
        insert('visit', i, i, 1 + (i % 5), instant(i), instant(i), ...kept);
        insert('diagnosis_note', i, 'Quxd', day(i), ...kept);
        insert('obs', i, i, instant(i), null, i / 4, 'FINAL', null);
        insert('drug_order', i, i, 'Quxm', i % 2, 'N');
        insert('allergy', i, i, 'DRUG', day(i), 'active', ...kept);
      }
      for (let i = 1; i <= 5; i++) insert('visit_type', i, `kind ${i}`);
      insert('users', 1, 1, 'quxu');
    },
  );
  const patients = text('patients.yaml');
  expect(patients).toMatch(
    /^# {3}deleted: \{ voided: "1" \} {2}## voided, TINYINT\(1\), reads as "deleted": make sure of it$/m,
  );
  expect(text('vitals.yaml')).toContain('#   deleted: { present: [deleted_at] }');
  expect(text('medications.yaml')).toContain('##   deleted: { is_deleted: … } with the value that means so');
  expect(columns('encounters')).toMatchObject({ 'period.start': 'date_started', 'period.end': 'date_stopped' });
  expect(columns('encounters')).not.toHaveProperty('class');
  expect(columns('vitals')).toMatchObject({
    effectiveDateTime: 'obs_datetime',
    'valueQuantity.value': 'value_numeric',
  });
  expect(columns('medications')).not.toHaveProperty('authoredOn');
  expect(first('allergies').elements.map(({ column }) => column)).not.toContain('allergen_type');
  for (const { table, elements } of proposals)
    if (table === 'diagnosis_note') expect(elements.map(({ path }) => path)).not.toContain('subject');
  expect((await errors()).filter(message => /deleted|voided/.test(message))).toEqual([]);
});

test('names without separators between words are read, and the marital status is no status of a stay', async () => {
  const { columns, proposals } = await begun(
    `CREATE TABLE patients (subject_id INTEGER PRIMARY KEY, gender CHAR(1), dod DATE);
    CREATE TABLE admissions (hadm_id INTEGER PRIMARY KEY, subject_id INTEGER REFERENCES patients(subject_id), admittime DATETIME,
      dischtime DATETIME, admission_type VARCHAR(40), marital_status VARCHAR(30));
    CREATE TABLE procedures_icd (hadm_id INTEGER REFERENCES admissions(hadm_id), subject_id INTEGER REFERENCES patients(subject_id),
      seq_num INTEGER, chartdate DATE, icd_code CHAR(7), PRIMARY KEY (hadm_id, seq_num));
    CREATE TABLE labevents (labevent_id INTEGER PRIMARY KEY, subject_id INTEGER REFERENCES patients(subject_id), charttime DATETIME,
      value VARCHAR(200), valuenum REAL, valueuom VARCHAR(20));`,
    insert => {
      for (let i = 1; i <= 30; i++) {
        insert('patients', i, i % 2 ? 'F' : 'M', null);
        insert('admissions', 100 + i, i, instant(i), instant(i), 'URGENT', i % 2 ? 'MARRIED' : 'SINGLE');
        insert('procedures_icd', 100 + i, i, 1, day(i), '3893');
        insert('labevents', i, i, instant(i), '5.1', 5.1, 'mmol/L');
      }
    },
  );
  expect(columns('encounters')).toMatchObject({
    ...{ 'period.start': 'admittime', 'period.end': 'dischtime', class: 'admission_type' },
  });
  expect(columns('encounters')).not.toHaveProperty('status');
  expect(columns('procedures')).toMatchObject({ 'code.coding.code': 'icd_code', performedDateTime: 'chartdate' });
  expect(columns('results')).toMatchObject({ 'valueQuantity.value': 'valuenum', 'valueQuantity.unit': 'valueuom' });
  expect(columns('results')).toMatchObject({ effectiveDateTime: 'charttime' });
  expect(proposals.map(({ table }) => table)).toContain('labevents');
});

test('names of one word that say nothing without their table count as a whole: FIRST, LAST, CODE, START', async () => {
  const { columns } = await begun(
    `CREATE TABLE patients (Id TEXT PRIMARY KEY, BIRTHDATE DATE, FIRST TEXT, LAST TEXT, GENDER TEXT, FIRST_SEEN DATE);
    CREATE TABLE providers (Id TEXT PRIMARY KEY, NAME TEXT, GENDER TEXT);
    CREATE TABLE encounters (Id TEXT PRIMARY KEY, START DATETIME, STOP DATETIME, PATIENT TEXT REFERENCES patients(Id), PROVIDER TEXT,
      ENCOUNTERCLASS TEXT, CODE TEXT, DESCRIPTION TEXT);
    CREATE TABLE conditions (N INTEGER PRIMARY KEY, START DATE, STOP DATE, PATIENT TEXT REFERENCES patients(Id), CODE TEXT, DESCRIPTION TEXT);
    CREATE TABLE procedures (N INTEGER PRIMARY KEY, START DATETIME, STOP DATETIME, PATIENT TEXT REFERENCES patients(Id), CODE TEXT, DESCRIPTION TEXT);
    CREATE TABLE medications (N INTEGER PRIMARY KEY, START DATETIME, PATIENT TEXT REFERENCES patients(Id), CODE TEXT, DESCRIPTION TEXT);
    CREATE TABLE immunizations (N INTEGER PRIMARY KEY, DATE DATETIME, PATIENT TEXT REFERENCES patients(Id), CODE TEXT, DESCRIPTION TEXT);`,
    insert => {
      for (let i = 1; i <= 12; i++) {
        insert('patients', `p${i}`, day(i), 'Quxf', 'Quxl', i % 2 ? 'M' : 'F', day(i));
        insert(
          'encounters',
          `e${i}`,
          instant(i),
          instant(i),
          `p${i}`,
          'd1',
          i % 2 ? 'inpatient' : 'ambulatory',
          '1',
          'Visit',
        );
        insert('conditions', i, day(i), null, `p${i}`, '59621000', 'Hypertension');
        insert('procedures', i, instant(i), instant(i), `p${i}`, '710824005', 'Assessment of needs');
        insert('medications', i, instant(i), `p${i}`, '314529', 'Hydrocortisone cream');
        insert('immunizations', i, instant(i), `p${i}`, '140', 'Influenza vaccine');
      }
      insert('providers', 'd1', 'Quxf Quxl', 'F');
    },
  );
  expect(columns('patients')).toMatchObject({ 'name.family': 'LAST', 'name.given': 'FIRST' });
  expect(columns('practitioners')).toMatchObject({ 'name.text': 'NAME' });
  expect(columns('encounters')).toMatchObject({
    'period.start': 'START',
    'period.end': 'STOP',
    class: 'ENCOUNTERCLASS',
  });
  expect(columns('conditions')).toMatchObject({
    ...{ onsetDateTime: 'START', 'code.coding.code': 'CODE', 'code.text': 'DESCRIPTION' },
  });
  expect(columns('procedures')).toMatchObject({ performedDateTime: 'START', 'code.coding.code': 'CODE' });
  expect(columns('medications')).toMatchObject({
    authoredOn: 'START',
    'medicationCodeableConcept.text': 'DESCRIPTION',
  });
  expect(columns('immunizations')).toMatchObject({
    ...{ occurrenceDateTime: 'DATE', 'vaccineCode.coding.code': 'CODE', 'vaccineCode.text': 'DESCRIPTION' },
  });
});
