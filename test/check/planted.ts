/**
 * Faults planted into the third database and its pack, as typical mistakes. Out: for each fault the edit, the line that
 * `lintel check` must report, and its message. Faults of a group are planted together.
 */

export interface Planted {
  readonly name: string;
  /** A statement that changes rows or indexes. */
  readonly sql?: string;
  /** A text that occurs once in a file of the pack, and its replacement. */
  readonly edit?: readonly [file: string, from: string, to: string];
  /** The file, and a part of the line after the change. */
  readonly at: readonly [file: string, text: string];
  readonly says: RegExp;
  readonly severity: 'error' | 'warning';
}

/** The loader refuses the pack, and no rows are read. */
const REFUSED: readonly Planted[] = [
  {
    name: 'the zone is missing',
    edit: ['pack.yaml', 'zone: America/Chicago\n', ''],
    at: ['pack.yaml', 'name: wardbook'],
    says: /zone/,
    severity: 'error',
  },
  {
    name: 'a sentinel that no date is',
    edit: ['pack.yaml', '"9999-12-31"', '"9999-12-31", never'],
    at: ['pack.yaml', 'never'],
    says: /never/,
    severity: 'error',
  },
  {
    name: 'ids of two mappings that clash',
    edit: ['organization.yaml', 'id: "payer-{payer_code|escaped}"', 'id: "{payer_code|escaped}"'],
    at: ['organization.yaml', 'id: "{payer_code|escaped}"'],
    says: /ids of mappings facilities and payers can be equal/,
    severity: 'error',
  },
  {
    name: 'a column that must never leave the database',
    edit: ['people.yaml', 'family: { from: last_name }', 'family: { from: soc_sec }'],
    at: ['people.yaml', 'soc_sec'],
    says: /deny|denied/,
    severity: 'error',
  },
  {
    name: 'a key of the language that is misspelt',
    edit: ['people.yaml', 'city: { from: d.city }', 'city: { form: d.city }'],
    at: ['people.yaml', 'form: d.city'],
    says: /did you mean from\?/,
    severity: 'error',
  },
  {
    name: 'a code outside of a required value set',
    edit: ['codes.yaml', '2: unable-to-assess', '2: moderate'],
    at: ['clinical.yaml', 'via: criticality'],
    says: /required binding.*moderate/,
    severity: 'error',
  },
  {
    name: 'a reference to a type that the element does not take',
    edit: [
      'people.yaml',
      'ref: payers, on: { payer_code: y.payer_code }',
      'ref: departments, on: { dept_code: y.payer_code }',
    ],
    at: ['people.yaml', 'ref: departments'],
    says: /Location|type/,
    severity: 'error',
  },
  {
    name: 'a required element that some rows lack',
    edit: ['clinical.yaml', 'needs: [subject, class, type]', 'needs: [subject, type]'],
    at: ['clinical.yaml', 'class: { from: class_code'],
    says: /required element Encounter\.class may be absent/,
    severity: 'error',
  },
  {
    name: 'a LOINC code with a wrong check digit',
    edit: ['vitals.yaml', 'loinc#8867-4', 'loinc#8867-5'],
    at: ['vitals.yaml', 'loinc#8867-5'],
    says: /check digit/,
    severity: 'warning',
  },
  {
    name: 'a well-known code system that is misspelt',
    edit: ['pack.yaml', 'snomed: http://snomed.info/sct', 'snomed: http://snomed.info/sct/'],
    at: ['pack.yaml', 'http://snomed.info/sct/'],
    says: /did you mean http:\/\/snomed\.info\/sct\?/,
    severity: 'warning',
  },
];

/** Faults that counts of rows reveal. */
const COUNTED: readonly Planted[] = [
  {
    name: 'a lookup that finds several rows',
    edit: [
      'clinical.yaml',
      'on: { val: portal_id }, where: { kind: PORTAL }, required: true',
      'on: { val: portal_id }, required: true',
    ],
    sql: "INSERT INTO person_xref SELECT pid, 'OLD', val FROM person_xref WHERE kind = 'PORTAL' AND pid < 9",
    at: ['clinical.yaml', 'on: { val: portal_id }'],
    says: /several rows|not unique/,
    severity: 'error',
  },
  {
    name: 'two readings of one role in a set',
    edit: ['vitals.yaml', 'where: { item: SYS }, pick: [vit_id] }', 'where: { item: SYS } }'],
    sql: "INSERT INTO vital SELECT 90000 + vit_id, set_id, pid, enc_id, taken, item, val + 1, taken_by, state FROM vital WHERE item = 'SYS' AND set_id < 6",
    at: ['vitals.yaml', 'where: { item: SYS } }'],
    says: /several rows|not unique/,
    severity: 'error',
  },
  {
    name: 'rows that disagree on a code',
    edit: ['codes.yaml', '  where: { list_name: PANEL }\n', ''],
    sql: "INSERT INTO code_list VALUES ('OLD', 'CHEM', 'http://loinc.org', '24323-8', 'Comprehensive metabolic panel')",
    at: ['codes.yaml', 'panel-code:'],
    says: /several rows|disagree|not unique/,
    severity: 'error',
  },
  {
    name: 'an sql that the engine cannot read',
    edit: ['people.yaml', "printf('%05d', {d.zip})", "printf('%05d', {d.zip}"],
    at: ['people.yaml', 'printf'],
    says: /sql/i,
    severity: 'error',
  },
  {
    name: 'a key that several rows share',
    edit: ['people.yaml', 'as: k, key: [pid, line_no]', 'as: k, key: [pid]'],
    sql: "INSERT INTO next_of_kin SELECT pid, 2, 'Second, Sam', 'SIB', NULL FROM next_of_kin WHERE pid < 20",
    at: ['people.yaml', 'mapping: kin'],
    says: /key of kin is not unique/,
    severity: 'error',
  },
  {
    name: 'an organization that keeps the record and is not there',
    edit: ['ccds.yaml', 'Organization?_id=fac-1', 'Organization?_id=fac-9'],
    at: ['ccds.yaml', 'fac-9'],
    says: /custodian/,
    severity: 'warning',
  },
];

/** Faults that only the values of rows reveal. */
const READ: readonly Planted[] = [
  {
    name: 'a number of the registry with a wrong check digit',
    sql: "UPDATE provider SET npi = 1234567890 WHERE prov_code = 'AKO'",
    at: ['organization.yaml', 'system: npi'],
    says: /us-core-17/,
    severity: 'error',
  },
  {
    name: 'a date written in another form',
    sql: "UPDATE person SET mod_ts = '12/31/2025 10:00' WHERE pid = 4",
    at: ['people.yaml', 'changed: mod_ts'],
    says: /person\.mod_ts.* 1 row/,
    severity: 'warning',
  },
  {
    name: 'a bare number in a column of moments',
    sql: 'UPDATE encounter SET start_ts = 1750000000 WHERE enc_id = 3',
    at: ['clinical.yaml', 'start: { from: start_ts }, end: { from: end_ts }'],
    says: /start_ts.*epoch/,
    severity: 'warning',
  },
  {
    name: 'a word in a column of amounts',
    sql: "UPDATE dispense SET qty = 'thirty' WHERE order_no = (SELECT min(order_no) FROM dispense)",
    at: ['orders.yaml', 'from: qty }'],
    says: /column dispense\.qty holds no number in 1 row/,
    severity: 'warning',
  },
  {
    name: 'a common code that the map lacks',
    sql: "UPDATE lab_result SET flag = 'CRIT' WHERE line_no = 1",
    at: ['laboratory.yaml', 'via: flag'],
    says: /flag has no row for 1 value of flag in \d+ rows/,
    severity: 'warning',
  },
  {
    name: 'references that lead nowhere',
    sql: 'UPDATE med_order SET enc_id = 900000 + pid WHERE pid % 2 = 0',
    at: ['orders.yaml', 'ref: encounters'],
    says: /references of \d+ from enc_id find no Encounter/,
    severity: 'warning',
  },
  {
    name: 'a join to the wrong column that finds rows by chance',
    edit: [
      'clinical.yaml',
      '  encounter: { ref: encounters, on: { enc_id: enc_id } }\n  performedPeriod',
      '  encounter: { ref: encounters, on: { enc_id: proc_id } }\n  performedPeriod',
    ],
    at: ['clinical.yaml', 'on: { enc_id: proc_id }'],
    says: /another patient/,
    severity: 'error',
  },
  {
    name: 'a condition that takes all rows away',
    edit: [
      'people.yaml',
      'source: { table: next_of_kin, as: k, key: [pid, line_no] }',
      'source: { table: next_of_kin, as: k, key: [pid, line_no], where: { relation: SPOUSE } }',
    ],
    at: ['people.yaml', 'mapping: kin'],
    says: /kin serves nothing: none of \d+ rows of next_of_kin is a resource/,
    severity: 'warning',
  },
  {
    name: 'a literal of `deleted` in other letters than the rows have',
    edit: ['orders.yaml', 'deleted: { is_active: N }', 'deleted: { is_active: n }'],
    at: ['orders.yaml', 'is_active: n'],
    says: /N\b.*letters|letters|did you mean N|case/,
    severity: 'warning',
  },
  {
    name: 'a table of voided rows that is asked for the wrong name',
    edit: ['clinical.yaml', 'where: { tab: allergy }', 'where: { tab: allergies }'],
    at: ['clinical.yaml', 'tab: allergies'],
    says: /no row of void_log has allergies as tab/,
    severity: 'warning',
  },
  {
    name: 'a status that is swapped in the code map',
    edit: ['codes.yaml', 'ACTIVE: active, STOPPED: stopped', 'ACTIVE: stopped, STOPPED: active'],
    at: ['codes.yaml', 'ACTIVE: stopped'],
    says: /row ACTIVE of a code map gives another code of the map than its name/,
    severity: 'warning',
  },
  {
    name: 'an element that the claimed profile requires',
    edit: ['clinical.yaml', '  clinicalStatus: { from: state, via: allergy-state }\n', ''],
    at: ['clinical.yaml', 'allergyintolerance-verification#confirmed'],
    says: /clinicalStatus|ait-1/,
    severity: 'error',
  },
  {
    name: 'a unit that the profile does not take',
    edit: ['vitals.yaml', '"[degF]"', 'degF'],
    at: ['vitals.yaml', 'degF'],
    says: /degF|ucum-vitals|body-temp|binding/,
    severity: 'error',
  },
  {
    name: 'a slice that the profile requires',
    edit: ['vitals.yaml', 'loinc#8462-4 Diastolic', 'loinc#8480-6 Diastolic'],
    at: ['vitals.yaml', 'loinc#8480-6'],
    says: /component|slice|diastolic/i,
    severity: 'error',
  },
  {
    name: 'a period whose ends are swapped',
    edit: [
      'people.yaml',
      'period: { start: { from: start_on }, end: { from: stop_on } }',
      'period: { start: { from: stop_on }, end: { from: start_on } }',
    ],
    at: ['people.yaml', 'start: { from: stop_on }'],
    says: /per-1/,
    severity: 'error',
  },
  {
    name: 'an sql that never gives a value',
    edit: ['organization.yaml', "printf('%05d', {f.zip})", 'nullif({f.zip}, {f.zip})'],
    at: ['organization.yaml', 'nullif'],
    says: /sql.*(no|never|none).*value/,
    severity: 'warning',
  },
  {
    name: 'a whole number made of amounts with a fraction',
    edit: [
      'orders.yaml',
      'frequency: { const: 1, if: { present: [every_hours] } }',
      'frequency: { from: every_hours }',
    ],
    sql: 'UPDATE med_order SET every_hours = every_hours + 0.25',
    at: ['orders.yaml', 'frequency: { from: every_hours }'],
    says: /frequency is never emitted though every_hours has a value/,
    severity: 'warning',
  },
  {
    name: 'a column whose values its codec never takes',
    sql: "UPDATE implant SET made_on = replace(made_on, '-', '/')",
    at: ['clinical.yaml', 'manufactureDate'],
    says: /made_on/,
    severity: 'warning',
  },
  {
    name: 'rows that a required lookup takes away',
    sql: 'UPDATE goal SET portal_id = upper(portal_id)',
    at: ['clinical.yaml', 'on: { val: portal_id }'],
    says: /goals serves nothing: none of 30 rows of goal is a resource/,
    severity: 'warning',
  },
  {
    name: 'ids that cannot be written',
    sql: "INSERT INTO department VALUES ('E/R', 1, 'Emergency, old', 'er', NULL)",
    at: ['organization.yaml', 'mapping: departments'],
    says: /1 row of departments left out/,
    severity: 'warning',
  },
];

/** Faults that only statistics over many rows reveal: each row by itself is possible. */
const NUMBERED: readonly Planted[] = [
  {
    name: 'a date of the far future that no rule of `absent` has',
    sql: "UPDATE coverage SET stop_on = '2999-12-31' WHERE rowid % 7 = 0",
    at: ['people.yaml', 'end: { from: stop_on }'],
    says: /Coverage\.period\.end is a date after 20\d\d in \d+ rows of stop_on; a rule of `absent`/,
    severity: 'warning',
  },
  {
    name: 'a date before anybody was born',
    sql: "UPDATE person SET dob = '1753-01-01' WHERE pid = 5",
    at: ['people.yaml', 'birthDate: { from: dob'],
    says: /Patient\.birthDate is a date before 1850 in 1 row of dob/,
    severity: 'warning',
  },
  {
    name: 'a date of the far future that an `sql` gives',
    sql: "UPDATE lab_order SET placed_at = '2999-12-31 00:00:00' WHERE rowid = 3",
    at: ['laboratory.yaml', 'authoredOn: { sql:'],
    says: /ServiceRequest\.authoredOn is a date after 20\d\d in 1 row of `sql`/,
    severity: 'warning',
  },
  {
    name: 'names with another separator than a step cuts at',
    edit: [
      'people.yaml',
      'kin_name, via: { piece: { by: ",", at: 2 } }',
      'kin_name, via: { piece: { by: ";", at: 2 } }',
    ],
    at: ['people.yaml', 'given: [{ from: kin_name'],
    says: /name\.given is never emitted though kin_name has a value/,
    severity: 'warning',
  },
  {
    name: 'texts of dates of which some are in the order that a step reads',
    edit: [
      'clinical.yaml',
      'manufactureDate: { from: made_on }',
      'manufactureDate: { from: made_text, via: [{ written: YYYY-DD-MM }, ymd8] }',
    ],
    sql: 'ALTER TABLE implant ADD COLUMN made_text TEXT; UPDATE implant SET made_text = made_on',
    at: ['clinical.yaml', 'manufactureDate'],
    says: /Device\.manufactureDate is absent in \d+ rows though made_text has a value; values that written YYYY-DD-MM, ymd8 reads/,
    severity: 'warning',
  },
  {
    name: 'a sign that means neither yes nor no',
    sql: "UPDATE payer SET in_use = '?' WHERE rowid < 3",
    at: ['organization.yaml', 'active: { from: in_use'],
    says: /Organization\.active is absent in \d rows? though in_use has a value; values that .* reads/,
    severity: 'warning',
  },
  {
    name: 'a stamp of the far future',
    sql: "UPDATE note SET mod_ts = '9998-12-31 00:00:00' WHERE rowid < 4",
    at: ['notes.yaml', 'changed: mod_ts'],
    says: /DocumentReference\.meta\.lastUpdated is a date after 20\d\d in \d rows? of mod_ts/,
    severity: 'warning',
  },
  {
    name: 'an alternative behind one that is always there',
    edit: [
      'clinical.yaml',
      '      - { const: http://terminology.hl7.org/CodeSystem/condition-clinical#resolved Resolved, if: { present: [resolved] } }\n',
      '      - { const: http://terminology.hl7.org/CodeSystem/condition-clinical#remission Remission, if: { present: [label] } }\n      - { const: http://terminology.hl7.org/CodeSystem/condition-clinical#resolved Resolved, if: { present: [resolved] } }\n',
    ],
    at: ['clinical.yaml', 'condition-clinical#resolved'],
    says: /no row of \d+ takes this alternative of `first`; it is there in \d+ rows, behind an earlier one/,
    severity: 'warning',
  },
  {
    name: 'rows that `needs` takes away without a word',
    sql: 'UPDATE procedure_log SET pid = pid + 900000 WHERE rowid % 4 = 0',
    at: ['clinical.yaml', 'subject: { ref: patients'],
    says: /`needs` takes away \d+ rows of \d+ of procedure_log \(2\d %\); less than 10 %/,
    severity: 'warning',
  },
  {
    name: 'some rows that a required lookup takes away',
    sql: "UPDATE dispense SET order_no = 'X' || order_no WHERE rowid % 4 = 0",
    at: ['orders.yaml', 'on: { order_no: order_no }, required: true'],
    says: /`required` takes away \d+ rows of \d+ of dispense \(2\d %\)/,
    severity: 'warning',
  },
];

export const GROUPS: readonly (readonly [string, readonly Planted[]])[] = [
  ['refused by the loader', REFUSED],
  ['counted in the rows', COUNTED],
  ['read in the rows', READ],
  ['shown by numbers of rows', NUMBERED],
];
