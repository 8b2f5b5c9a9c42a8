/**
 * Completes text at the cursor in a guide of a pack (`NAME.guide.json`). In: the cursor. Out: keys, resource types,
 * profiles of the type, search parameters; within `mustSupport` and the like also elements, slices and extensions.
 */
import { profileAddress } from '../../coverage/guide.ts';
import { type Cursor, textAt } from '../../mapping/load/read/cursor.ts';
import { guideSchema } from '../../mapping/load/read/other-schemas.ts';
import { childOf, isResourceType, requiredValueSet, resourceTypes } from '../../r4/definitions.ts';
import { profileNames, profileOf } from '../../r4/profiles.ts';
import { searchParametersOf } from '../../r4/search-parameters.ts';
import { type Facts, profileFacts } from '../../validation/facts.ts';
import type { WireOption } from '../wire/mapping.ts';
import { elementOptions } from './elements.ts';
import { type OptionsFrom, schemaKeys } from './keys.ts';

/** Keys whose texts name elements. */
const PATHS: ReadonlySet<unknown> = new Set(['mustSupport', 'slices', 'extensions']);
const FLAGS: ReadonlySet<unknown> = new Set(['revinclude', 'certified', 'optional']);
const US_CORE = 'us-core-';
/** The release whose profiles are used for slices. */
const RELEASE = '7.0.0';

/** Returns the options at the cursor. */
export function guideOptions({ path, role, from, word, before, document }: Cursor): OptionsFrom {
  const [group, key] = path;
  const found = (options: readonly WireOption[], start = from): OptionsFrom => ({ from: start, options });
  if (role !== 'value' && path.length === 1) return found(schemaKeys(guideSchema, path));
  if (role === 'key' || group === undefined) return found([]);
  const type = textAt(document, [group, 'type']) ?? '';
  if (key === 'type') return found(values(resourceTypes(), 'resource type'));
  // A URL contains characters that end a word.
  if (key === 'profile') return found(profileOptions(type), from - before.length);
  if (FLAGS.has(key)) return found(values(['true', 'false'], 'flag'));
  if (!isResourceType(type)) return found([]);
  if (key === 'shall' || key === 'should') return found(/[=[][^+]*$/.test(before) ? [] : parameterOptions(type));
  const profile = textAt(document, [group, 'profile']) ?? '';
  return found(
    PATHS.has(key) ? pathOptions({ type, profile, before, word, isOfExtensions: key === 'extensions' }) : [],
  );
}

function values(labels: Iterable<string>, detail: string): readonly WireOption[] {
  return [...labels].map(label => ({ label, kind: 'value' as const, detail }));
}

/** Offers profiles: those of US Core by name, as guides write them, all others by URL. */
function profileOptions(type: string): readonly WireOption[] {
  return profileNames().flatMap(name => {
    const { url = '', type: of, usCore = [] } = profileOf(name) ?? {};
    if (of === 'Extension' || (isResourceType(type) && of !== type)) return [];
    const isNamed = usCore.length > 0 && url === profileAddress(name);
    return [
      { label: isNamed ? name : url, kind: 'value' as const, detail: of ?? '', info: url, boost: isNamed ? 1 : 0 },
    ];
  });
}

function parameterOptions(type: string): readonly WireOption[] {
  const own = searchParametersOf(type).map(({ code, type: kind }) => ({
    label: code,
    kind: 'value' as const,
    detail: kind,
  }));
  return [
    ...own,
    ...values(
      ['_id', '_lastUpdated'].filter(code => own.every(({ label }) => label !== code)),
      'all types',
    ),
  ];
}

interface InPath {
  readonly type: string;
  readonly profile: string;
  readonly before: string;
  readonly word: string;
  readonly isOfExtensions: boolean;
}

/** Completes within `name(family, given), extension:race, subject→patient`. */
function pathOptions({ type, profile, before, word, isOfExtensions }: InPath): readonly WireOption[] {
  const around: string[] = [];
  let last = '';
  for (const sign of before) {
    if (sign === '(') around.push(last);
    if (sign === ')') around.pop();
    last = '(),'.includes(sign) ? '' : last + sign.trim();
  }
  if (last.includes('→')) return targetOptions(word);
  const [, names = '', mark] = /^([^:=]*)([:=])?/.exec(last) ?? [];
  const inner = mark === undefined ? word.split('.').slice(0, -1) : names.split('.');
  const steps = [...around.flatMap(text => text.split('.')), ...inner].map(step => step.replace(/[:=→[].*$/, ''));
  const facts = factsBelow(profile, steps);
  if (mark === ':') return sliceOptions(facts);
  if (mark === '=') return codeOptions(type, steps);
  const prefix = inner.map(step => `${step}.`).join('');
  const extensions = isOfExtensions && steps.length === 0 ? sliceOptions(factsBelow(profile, ['extension'])) : [];
  return [
    ...extensions.map(option => ({ ...option, label: `extension:${option.label}`, boost: 3 })),
    ...elementOptions(typeOf(type, steps) ?? '').map(({ key: _, ...option }) => ({
      ...option,
      label: prefix + option.label,
    })),
  ];
}

function typeOf(type: string, steps: readonly string[]): string | undefined {
  return steps.reduce<string | undefined>((of, step) => {
    const child = of === undefined ? undefined : childOf(of, step);
    return child?.type ?? child?.element.types[0];
  }, type);
}

/** Returns the facts of a profile about the element at the end of the steps. */
function factsBelow(profile: string, steps: readonly string[]): Facts | undefined {
  const known = profileFacts(RELEASE, profile.includes(':') ? profile : profileAddress(profile));
  return steps.reduce<Facts | undefined>((facts, step) => facts?.children?.[step], known?.facts);
}

function sliceOptions(facts: Facts | undefined): readonly WireOption[] {
  return Object.entries(facts?.slices ?? {}).map(([label, { extension }]) => ({
    ...{ label, kind: 'value' as const, detail: extension === undefined ? 'slice' : 'extension' },
    ...(extension === undefined ? {} : { info: extension }),
  }));
}

function codeOptions(type: string, steps: readonly string[]): readonly WireOption[] {
  const owner = typeOf(type, steps.slice(0, -1));
  const element = owner === undefined ? undefined : childOf(owner, steps.at(-1) ?? '')?.element;
  return values(
    element ? (requiredValueSet(element)?.systems.flatMap(({ codes = [] }) => [...codes]) ?? []) : [],
    'code',
  );
}

/** Offers the US Core profiles of a reference's targets, without `us-core-`; several are separated by `/`. */
function targetOptions(word: string): readonly WireOption[] {
  const prefix = word.slice(0, word.lastIndexOf('/') + 1);
  return profileNames().flatMap(name => {
    const { url = '', type = '' } = profileOf(name) ?? {};
    if (!name.startsWith(US_CORE) || type === 'Extension') return [];
    return [{ label: prefix + name.slice(US_CORE.length), kind: 'value' as const, detail: type, info: url }];
  });
}
