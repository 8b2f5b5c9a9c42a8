/** A resource has a Last-Modified time only if it depends on a single row. */
import { expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { smallClinic } from '../cache/small-clinic.ts';

test('Last-Modified is the time of change of the row if the resource is made of it alone', async () => {
  const clinic = await smallClinic();
  try {
    clinic.write(`INSERT INTO PERSON VALUES (1, 'Ada', 'N', '2024-01-01 08:00:00.000');
      INSERT INTO ALLERGY VALUES (1, 1, 'Latex', '2024-01-01 08:00:00.000');
      INSERT INTO STAY VALUES (1, '2024-01-01 08:00:00.000', '2024-01-01 08:00:00.000');
      INSERT INTO WARD VALUES (1, 'East', '2024-01-01 08:00:00.000');`);
    const stampOf = async (type: string): Promise<string | undefined> => {
      const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
      const found = await clinic.facade.read(type, '1', [], context);
      expect(JSON.parse(found?.json ?? '').meta.lastUpdated).toMatch(/^2024-01-01/);
      return found?.lastUpdated;
    };
    // Telephones have no stamp; an allergy loses its patient if the patient's row is deleted; a stay ends as time
    // passes.
    expect(await stampOf('Patient')).toBeUndefined();
    expect(await stampOf('AllergyIntolerance')).toBeUndefined();
    expect(await stampOf('Encounter')).toBeUndefined();
    expect(await stampOf('Location')).toMatch(/^2024-01-01/);
    // A view may read any table; this one reads the names of persons.
    expect(await stampOf('Organization')).toBeUndefined();
    expect(await stampOf('HealthcareService')).toBeUndefined();
  } finally {
    await clinic.close();
  }
});
