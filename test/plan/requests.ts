/**
 * Lists searches over the demo pack whose SQL a person should review once, by title. cases.json has their SQL for both
 * engines (rewritten only by `node test/plan/update-cases.ts`). `page` 2: the statements behind the next link.
 */
export interface Asked {
  readonly title: string;
  readonly request: string;
  readonly page?: 2;
  /** True: every statement that the search sent, instead of those that `explain` shows. */
  readonly ran?: true;
}

export const REQUESTS: readonly Asked[] = [
  { title: 'all of a type: a page by key', request: 'Endpoint?_elements=id' },
  { title: 'a resource by its id, one mapping of two has such ids', request: 'AllergyIntolerance?_id=1&_elements=id' },
  { title: 'several ids', request: 'Location?_id=1,2,3&_elements=id' },
  { title: 'an id that holds a text escaped', request: 'Condition?_id=hx-c-1-818.2E0-1000003&_elements=id' },
  { title: 'an id that no row can have asks nothing', request: 'AllergyIntolerance?_id=no-such-id&_elements=id' },
  { title: 'how many, as it ran', request: 'AllergyIntolerance?patient=1&_count=0', ran: true },

  {
    title: 'a token through a code map, one mapping has a flag instead',
    request: 'CareTeam?status=active&_elements=id',
  },
  {
    title: 'a token with its system',
    request: 'CareTeam?status=http://hl7.org/fhir/care-team-status|active&_elements=id',
  },
  { title: 'a token of another system asks nothing', request: 'CareTeam?status=urn:none|active&_elements=id' },
  { title: 'a token through a code map that is a table', request: 'Encounter?patient=1&type=99213&_elements=id' },
  {
    title: 'a token through a dictionary that is joined',
    request: 'Procedure?patient=1&code=http://www.ama-assn.org/go/cpt|93000&_elements=id',
  },
  {
    title: 'a token that is the constant of a variant: the other variants are not read',
    request: 'Observation?patient=1&category=vital-signs&code=http://loinc.org|8867-4&_elements=id',
  },
  { title: 'any of several tokens', request: 'Immunization?status=completed,not-done&_elements=id' },
  { title: 'both of two tokens', request: 'Immunization?status=completed&status=not-done&_elements=id' },
  { title: 'not a token: rows without one as well', request: 'Goal?lifecycle-status:not=active&_elements=id' },
  { title: 'what is missing', request: 'Patient?death-date:missing=true&_elements=id' },
  { title: 'what is not missing', request: 'Device?type:missing=false&_elements=id' },
  { title: 'an identifier that stands in two columns', request: 'Patient?identifier=1000003&_elements=id' },
  {
    title: 'an identifier with the system of one of them',
    request:
      'Patient?identifier=urn:oid:2.16.840.1.113883.3.9999.4.3|8927965d-6369-307d-bf78-7f91b7912bbd&_elements=id',
  },
  {
    title: 'codes packed into one column are split',
    request:
      'Condition?patient=1&category=encounter-diagnosis&code=http://hl7.org/fhir/sid/icd-10-cm|E11.9&_elements=id',
  },

  { title: 'a packed day: a month', request: 'Patient?birthdate=1968-06&_elements=id' },
  { title: 'a packed day: before a year', request: 'Patient?birthdate=lt1950&_elements=id' },
  {
    title: 'year, month and day in columns of their own',
    request: 'Condition?patient=1&category=problem-list-item&onset-date=ge2020-05-15&_elements=id',
  },
  {
    title: 'day and time in two columns, a period that may be open',
    request: 'Encounter?patient=1&date=ge2024-03-10T02:30:00-05:00&_elements=id',
  },
  {
    title: 'a period of several forms within a month: bounds of single columns come first',
    request: 'Encounter?date=2024-03&_elements=id',
  },
  {
    title: 'a time of midnight is a day',
    request: 'Observation?patient=1&category=vital-signs&code=8867-4&date=2024-03-10&_elements=id',
  },
  {
    title: 'after a midnight: the day itself reaches beyond it',
    request: 'Observation?patient=1&category=vital-signs&code=8867-4&date=gt2024-03-10T00:00:00-05:00&_elements=id',
  },
  {
    title: 'a time that summer time repeats',
    request: 'Immunization?_lastUpdated=le2023-11-05T01:30:00-04:00&_elements=id',
  },
  { title: 'about a day', request: 'Goal?target-date=ap2026-06-01&_elements=id' },

  { title: 'a reference by the number of the patient', request: 'Coverage?patient=Patient/1&_elements=id' },
  {
    title: 'a reference by an address of this server',
    request: 'Coverage?patient=http://localhost/fhir/Patient/1&_elements=id',
  },
  {
    title: 'a reference by medical record number, UUID and number, as each table has it',
    request: 'Observation?patient=1&category=laboratory&_elements=id',
  },
  { title: 'a reference to another type asks nothing', request: 'Coverage?patient=Group/1&_elements=id' },
  { title: 'a chain', request: 'Coverage?patient.identifier=1000003&_elements=id' },
  { title: 'a chain of two steps', request: 'Goal?patient.general-practitioner.family=lind&_elements=id' },
  { title: 'who has a record of that kind', request: 'Patient?_has:Goal:patient:lifecycle-status=active&_elements=id' },

  {
    title: 'two tables of two releases, the older without what was taken over',
    request: 'AllergyIntolerance?patient=1&_elements=id',
  },
  { title: 'one resource of several rows', request: 'Observation?category=vital-signs&code=96607-7&_elements=id' },
  {
    title: 'one row, many resources: the page reads wide rows',
    request: 'Observation?patient=1&category=vital-signs&_elements=id,code',
  },
  {
    title: 'a quantity: a value that may have a comparator',
    request: 'Observation?patient=1&category=laboratory&value-quantity=gt5&_elements=id',
  },
  { title: 'text, without case and accents', request: 'Practitioner?family=ström&_elements=id' },
  { title: 'text, somewhere within', request: 'Location?name:contains=x-ray&_elements=id' },
  {
    title: 'text, exactly, with what LIKE would take for wildcards',
    request: 'Location?name:exact=100%25_[a]&_elements=id',
  },
  { title: 'a part of an address', request: 'Location?address-city=Port&address-state=ME&_elements=id' },

  {
    title: 'sorted by what is one of two columns, and may be missing',
    request: 'Encounter?patient=1&_sort=-date&_elements=id',
  },
  { title: 'sorted by the first of several names', request: 'Patient?_sort=-family&_count=2&_elements=id' },
  { title: 'sorted by the codes of a map', request: 'CarePlan?patient=1&_sort=status&_count=2&_elements=id' },
  { title: 'sorted by texts, numbers and UUIDs', request: 'Patient?_sort=identifier&_count=2&_elements=id' },
  { title: 'sorted by the pieces of a text', request: 'Patient?_sort=-race&_count=2&_elements=id' },
  { title: 'sorted by child rows', request: 'Encounter?patient=1&_sort=diagnosis&_count=2&_elements=id' },
  { title: 'sorted by codes', request: 'Encounter?_sort=status&_count=2&_elements=id' },
  { title: 'sorted', request: 'DocumentReference?patient=1&_sort=-date,_lastUpdated&_count=2&_elements=id' },
  {
    title: 'sorted, from the last row of page 1 on',
    request: 'DocumentReference?patient=1&_sort=-date,_lastUpdated&_count=2&_elements=id',
    page: 2,
  },
  { title: 'by key, from the last row of page 1 on', request: 'Coverage?_count=2&_elements=id', page: 2 },
];
