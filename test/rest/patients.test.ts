import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, openDemo } from '../law/demo.ts';
import { type Client, type RestUnderTest, restUnderTest } from './rest-under-test.ts';

let demo: Demo;
let rest: RestUnderTest;
let client: Client;
beforeAll(async () => {
  demo = await openDemo({ patients: 60 });
  rest = await restUnderTest(demo.facade);
  client = await rest.client();
});
afterAll(() => demo.close());

const number = (query: Readonly<Record<string, string>>) =>
  client.json(`/api/patientinfo/patient/id?${new URLSearchParams(query)}`);

describe('the number of a patient', () => {
  test.each<[title: string, query: Readonly<Record<string, string>>, expected: number]>([
    ['by both names', { firstName: 'Amelia', lastName: 'Okonkwo-Reyes' }, 1],
    ['without regard to case', { firstName: 'AMELIA', lastName: 'okonkwo-reyes' }, 1],
    ['without regard to accents', { firstName: 'Zoe', lastName: "O'Brien-Nunez 𠮷" }, 14],
    ['by all that there is', { firstName: 'Amelia', lastName: 'Okonkwo-Reyes', dob: '1968-06-02', sex: 'F' }, 1],
    ['by the last name alone', { lastName: 'Okonkwo-Reyes' }, 1],
    ['by the date of birth alone', { dob: '1968-06-02' }, 1],
    ['by a name of before', { firstName: 'Amelia', lastName: 'Okonkwo' }, 1],
    ['with a middle name', { firstName: 'Amelia Josephine', lastName: 'Okonkwo-Reyes' }, 1],
    ['with the apostrophe of another keyboard', { firstName: 'Zoë', lastName: 'O’Brien-Nuñez 𠮷' }, 14],
    ['without the apostrophe, with a blank for the hyphen', { firstName: 'zoe', lastName: 'obrien nunez 𠮷' }, 14],
    ['with padding around it', { firstName: ' Elmer ', lastName: ' Empty ' }, 2],
    ['with what SQL takes for wildcards', { lastName: 'Percent%_[x]' }, 22],
  ])('%s', async (_title, query, expected) => {
    expect(await number(query)).toEqual({ status: 200, body: expected });
  });

  test.each<[title: string, query: Readonly<Record<string, string>>]>([
    ['no patient has the name', { lastName: 'Nobody' }],
    ['the first name is only begun', { firstName: 'Amel', lastName: 'Okonkwo-Reyes' }],
    ['the last name is only begun', { firstName: 'Elmer', lastName: 'Emp' }],
    ['the last name is one of two', { firstName: 'Zoë', lastName: 'Nuñez' }],
    ['the sex is another', { firstName: 'Amelia', lastName: 'Okonkwo-Reyes', sex: 'M' }],
    ['the date of birth is another', { lastName: 'Okonkwo-Reyes', dob: '1968-06-03' }],
    ['first and last name are of different names', { firstName: 'Millie', lastName: 'Okonkwo-Reyes' }],
    ['the patient is deleted', { firstName: 'Fergus', lastName: 'Bakshi' }],
    ['the chart was merged into another', { firstName: 'Jasmine', lastName: 'Kaminski', dob: '1968-04-17' }],
    ['a wildcard is searched literally', { lastName: '%' }],
  ])('404 if %s', async (_title, query) => {
    expect(await number(query)).toMatchObject({
      status: 404,
      body: { error: 'not-found', message: 'Patient not found' },
    });
  });

  test.each<[query: Readonly<Record<string, string>>, message: RegExp]>([
    [
      { firstName: 'Caleb', lastName: 'Merriweather', dob: '1998-04-17', sex: 'M' },
      /^2 patients match; none of the parameters distinguishes them/,
    ],
    [{ lastName: 'Merriweather' }, /^\d+ patients match; add firstName, dob/],
    [{ sex: 'F' }, /^\d+ patients match; add firstName, lastName, dob$/],
  ])('409 if several patients match: %j', async (query, message) => {
    const { status, body } = await number(query);
    expect(status).toBe(409);
    expect(body).toMatchObject({ error: 'conflict', message: expect.stringMatching(message) });
  });

  test.each<[query: Readonly<Record<string, string>>]>([
    [{}],
    [{ firstName: '' }],
    [{ dob: '1968-02-30' }],
    [{ dob: '06/02/1968' }],
    [{ sex: 'female' }],
  ])('400 for %j', async query => {
    expect((await number(query)).status).toBe(400);
  });

  test('400 for an unknown parameter, as ignoring it would widen the search', async () => {
    for (const [query, message] of [
      ['lastName=Okonkwo-Reyes&firstname=Nobody', 'firstname: expected firstName'],
      ['lastName=Okonkwo-Reyes&birthdate=1990-01-01', 'Unknown parameter; expected firstName, lastName, dob, sex'],
    ]) {
      const { status, body } = await client.json(`/api/patientinfo/patient/id?${query}`);
      expect({ status, body }).toMatchObject({ status: 400, body: { message } });
    }
  });

  test('400 for a repeated parameter', async () => {
    const { status, body } = await client.json('/api/patientinfo/patient/id?lastName=Nobody&lastName=Okonkwo-Reyes');
    expect({ status, body }).toMatchObject({ status: 400, body: { message: 'lastName is given more than once' } });
    expect((await client.json('/api/patientinfo/patient/id?dob=1968-06-02&dob=1968-06-02')).status).toBe(200);
  });

  test('it is the key in the FHIR id', async () => {
    const { body } = await number({ dob: '1968-06-02' });
    const response = await rest.app.request(`http://localhost/fhir/Patient/${body}`);
    expect(await response.json()).toMatchObject({ id: String(body), birthDate: '1968-06-02' });
  });
});

describe('the data of a patient', () => {
  test('is plain JSON', async () => {
    const { status, body } = await client.json('/api/patientinfo/1');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      patientId: 1,
      mrn: '1000003',
      name: 'Amelia Josephine Okonkwo-Reyes, Jr',
      firstName: 'Amelia',
      middleName: 'Josephine',
      lastName: 'Okonkwo-Reyes',
      dob: '1968-06-02',
      sex: 'F',
      race: 'White, Japanese',
      preferredLanguage: 'Spanish',
      maritalStatus: 'Married',
      primaryCareProvider: expect.stringMatching(/HARTWELL/),
    });
    expect(JSON.stringify(body)).not.toMatch(/null|undefined|\d{3}-\d{2}-\d{4}/);
  });

  test('omits unknown data', async () => {
    const { body } = await client.json('/api/patientinfo/17');
    expect(body).not.toHaveProperty('mrn');
  });

  test('of a patient without a name has everything else', async () => {
    const { status, body } = await client.json('/api/patientinfo/29');
    expect(status).toBe(200);
    expect(body).toMatchObject({ patientId: 29, mrn: '1000087', name: '', sex: 'M' });
    for (const unknown of ['firstName', 'lastName', 'dob', 'telecom', 'addresses', 'primaryCareProvider'])
      expect(body).not.toHaveProperty(unknown);
    expect(JSON.stringify(body)).not.toMatch(/UNK|null|undefined/);
  });

  test.each([
    ['/api/patientinfo/11', 404],
    ['/api/patientinfo/999999', 404],
    ['/api/patientinfo/0', 404],
    ['/api/patientinfo/abc', 400],
    ['/api/patientinfo/-1', 400],
    ['/api/patientinfo/1.5', 400],
    ['/api/patientinfo/99999999999999999999', 400],
  ])('%s is %i', async (path, status) => {
    expect((await client.get(path)).status).toBe(status);
  });
});

describe('the search for patients', () => {
  const found = async (search: string): Promise<readonly number[]> => {
    const { status, body } = await client.json(`/api/patientsummary?${new URLSearchParams({ search })}`);
    expect(status).toBe(200);
    return (body as { patients: { patientId: number }[] }).patients.map(({ patientId }) => patientId);
  };

  test.each([
    ['first and last name', 'Amelia Okonkwo-Reyes'],
    ['last name first, with a comma', 'Okonkwo-Reyes, Amelia'],
    ['parts of names', 'mel onkwo'],
    ['a maiden name', 'okonkwo amelia'],
    ['a date of birth', '1968-06-02'],
    ['a date of birth as Americans write it', '6/2/1968'],
    ['a date of birth in words', 'June 2, 1968'],
    ['a record number', '1000003'],
    ['a telephone number as it is kept', '(207) 555-0112'],
    ['a telephone number by its digits', '2075550112'],
    ['a telephone number with the country', '+1 207 555 0112'],
  ])('finds by %s', async (_title, search) => {
    expect(await found(search)).toContain(1);
  });

  test('finds every telephone number by its digits, in any stored and requested form', async () => {
    const kept = new Set<string>();
    for (let patient = 1; patient <= 28; patient++) {
      const { status, body } = await client.json(`/api/patientinfo/${patient}`);
      // Chart 20 was merged into another.
      if (status !== 200 || patient === 20) continue;
      const { telecom = [] } = body as { telecom?: { system: string; value: string }[] };
      for (const { value } of telecom.filter(({ system }) => system === 'phone')) {
        const digits = value.replace(/\D/g, '');
        if (digits.length !== 10) continue;
        kept.add(value.replace(/\d/g, '9'));
        for (const asked of [
          digits,
          digits.replace(/(...)(...)/, '$1.$2.'),
          digits.replace(/(...)(...)/, '($1) $2-'),
        ]) {
          expect({ value, asked, found: await found(asked) }).toMatchObject({
            found: expect.arrayContaining([patient]),
          });
        }
      }
    }
    // The demo stores telephone numbers in more than two forms.
    expect(kept.size).toBeGreaterThan(2);
  });

  test('ignores accents', async () => {
    expect(await found('nuñez')).toEqual([14]);
    expect(await found('NUNEZ zoe')).toEqual([14]);
  });

  test('accepts either apostrophe, whichever is stored', async () => {
    for (const search of ["O'Brien", 'O’Brien', 'O‘Brien', "D'Arcy", 'D’Arcy'])
      expect(await found(search)).toContain(14);
  });

  test('finds by words as FHIR’s search does', async () => {
    for (const search of ['obrien', 'zoe obrien-nunez', 'nunez obrien zoe', 'OBRIEN NUN'])
      expect(await found(search)).toContain(14);
    expect(await found('Brien')).toContain(14);
  });

  test('finds a record number without its leading zeros', async () => {
    expect(await found('16')).toEqual(await found('00000016'));
    expect(await found('00000016')).toEqual([5]);
  });

  test('finds a patient without a name by record number, not by a placeholder', async () => {
    expect(await found('1000087')).toEqual([29]);
    expect(await found('UNK')).not.toContain(29);
  });

  test('distinguishes twins by record number', async () => {
    expect(await found('1000021')).toEqual([7]);
    expect(await found('1000024')).toEqual([8]);
    expect(await found('Caleb Merriweather')).toEqual(expect.arrayContaining([7, 8]));
  });

  test.each(['Nobody Here', '%', '_', '???', '1900-01-01', '0000000000'])('%s finds nobody', async search => {
    expect(await found(search)).toEqual([]);
  });

  test('deleted and merged charts are not found', async () => {
    expect(await found('Bakshi Fergus')).not.toContain(11);
    expect(await found('Kaminski Jasmine')).not.toContain(20);
  });

  test('lists at most a hundred and reports that there are more', async () => {
    const { body } = await client.json('/api/patientsummary?search=a');
    const { count, more, patients } = body as { count: number; more: boolean; patients: unknown[] };
    expect(count).toBe(patients.length);
    expect(typeof more).toBe('boolean');
  });

  test('400 without the parameter', async () => {
    expect((await client.json('/api/patientsummary')).status).toBe(400);
    expect((await client.json('/api/patientsummary?search=%20')).status).toBe(400);
  });
});

test('no search value is logged', () => {
  expect(rest.lines.length).toBeGreaterThan(20);
  expect(rest.lines.join('\n')).not.toMatch(/okonkwo|amelia|1968-06|merriweather|1000003/i);
  expect(rest.lines.join('\n')).toContain('"route":"/api/patientinfo/:patientId"');
  expect(rest.lines.join('\n')).toContain('"route":"/api/users/login"');
});
