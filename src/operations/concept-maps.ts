/**
 * Shows the code maps of a pack as ConceptMaps, so that a reviewer who knows FHIR sees what each legacy value becomes.
 * In: a registry. Out: one resource per map whose rows are in the pack.
 * https://hl7.org/fhir/R4/conceptmap.html
 */
import { codeOf } from '../mapping/codecs/code.ts';
import type { Coded, CodeMap } from '../mapping/codecs/code-map.ts';
import type { Json, Pack, Registry } from '../mapping/model.ts';
import { canonicalHead, namedMaps } from './code-map-names.ts';
import type { OwnResource } from './constant-mapping.ts';

type Members = { readonly [element: string]: Json };

const TYPE = 'ConceptMap';

/** None where the pack maps ConceptMaps of its own: a type has one source. */
export function conceptMapsOf(registry: Registry): readonly OwnResource[] {
  if (registry.types.includes(TYPE)) return [];
  return namedMaps(registry).flatMap(({ id, map }) => {
    const group = groupsOf(map);
    if (group.length === 0) return [];
    return [{ type: TYPE, id, content: { ...headOf(map, id, registry.pack), group } }];
  });
}

function headOf({ name, fold, else: unmapped }: CodeMap, id: string, pack: Pack): Members {
  const others = {
    absent: 'give nothing',
    text: 'are kept as text',
    code: 'give one code',
    local: 'are kept as codes',
  };
  return {
    ...canonicalHead(TYPE, id, name, pack),
    description: `Values of the legacy database and the codes they are served as. Other values ${others[unmapped.kind]}.${
      fold ? ' Upper and lower case are the same.' : ''
    }`,
  };
}

/** One group per target system; rows that mean no code stand with those of the first. */
function groupsOf(map: CodeMap): readonly Members[] {
  const rows: (readonly [raw: string | undefined, coded: Coded | undefined])[] = [...map.rows];
  if (map.blank) rows.push([undefined, map.blank]);
  const first = rows.find(([, coded]) => coded)?.[1]?.system;
  const bySystem = Map.groupBy(rows, ([, coded]) => (coded ? coded.system : first));
  return [...bySystem].map(([system, members]) => ({
    ...(system === undefined ? {} : { target: system }),
    element: members.map(([raw, coded]) => ({ ...sourceOf(raw), target: [targetOf(coded)] })),
    ...unmappedOf(map, system),
  }));
}

/** A raw value that FHIR's `code` forbids, and the blank one, have only a display. */
function sourceOf(raw: string | undefined): Members {
  if (raw === undefined) return { display: 'NULL or blank' };
  return codeOf(raw) === raw ? { code: raw } : { display: raw };
}

function targetOf(coded: Coded | undefined): Members {
  if (!coded) return { equivalence: 'unmatched' };
  const { code, display } = coded;
  return { code, ...(display === undefined ? {} : { display }), equivalence: 'equivalent' };
}

function unmappedOf({ else: unmapped }: CodeMap, system: string | undefined): Members {
  if (unmapped.kind === 'local' && unmapped.system === system) return { unmapped: { mode: 'provided' } };
  if (unmapped.kind !== 'code' || unmapped.coded.system !== system) return {};
  const { code, display } = unmapped.coded;
  return { unmapped: { mode: 'fixed', code, ...(display === undefined ? {} : { display }) } };
}
