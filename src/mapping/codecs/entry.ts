/**
 * Defines entries in the table of codecs: how facet and options are read, and which columns and FHIR types a codec is
 * for. In: facet and options as written, the columns' types, the FHIR type of the element. Out: a codec, or a message.
 * docs/mapping-language.md, codecs
 */
import type { z } from 'zod';
import { type ColumnType, nameOfType } from '../../sql/column-type.ts';
import type { Codec } from './codec.ts';
import type { TextStep } from './text-step.ts';

export interface CodecContext {
  /** IANA name of the pack's zone; the loader has checked it. */
  readonly zone: string;
  /** The FHIR primitive type of the element. */
  readonly fhirType: string;
  readonly columnTypes: readonly ColumnType[];
}

/** A message why there is no codec, with what would be right. */
export interface Refusal {
  readonly problem: string;
  readonly expected?: string;
  readonly path?: readonly PropertyKey[];
}

export type MadeCodec = { readonly codec: Codec } | Refusal;

export interface CodecEntry {
  /** Facets for `name.facet`; empty if there are none. */
  readonly facets: readonly string[];
  /** Schema of the options, all of whose scalars are texts. Also printed as the editor's JSON Schema. */
  readonly options: z.ZodType;
  make(options: unknown, facet: string | undefined, context: CodecContext): MadeCodec;
}

export interface StepEntry {
  readonly options: z.ZodType;
  make(options: unknown): { readonly step: TextStep } | Refusal;
}

type Make<T> = (
  options: T,
  types: readonly ColumnType[],
  context: CodecContext,
  facet: string,
) => Codec | string | Refusal;

/** Makes an entry of `make`, which returns a message if there is no codec. */
export function entry<T>(options: z.ZodType<T>, make: Make<T>, facets: readonly string[] = []): CodecEntry {
  return {
    facets,
    options,
    make: (given, facet, context) => {
      if (facets.length === 0 ? facet !== undefined : facet === undefined || !facets.includes(facet)) {
        const expected = facets.length === 0 ? 'no facet' : facets.map(name => `.${name}`).join(' or ');
        return { problem: facet === undefined ? 'facet missing' : 'no such facet', expected };
      }
      const parsed = options.safeParse(given);
      if (!parsed.success) return misread(parsed.error);
      const made = make(parsed.data, context.columnTypes, context, facet ?? '');
      if (typeof made === 'string') return { problem: made };
      return 'problem' in made ? made : fitting(made, context);
    },
  };
}

export function step<T>(options: z.ZodType<T>, make: (options: T) => TextStep): StepEntry {
  return {
    options,
    make: given => {
      const parsed = options.safeParse(given);
      return parsed.success ? { step: make(parsed.data) } : misread(parsed.error);
    },
  };
}

function misread(error: z.ZodError): Refusal {
  const [issue] = error.issues;
  return { problem: issue?.message ?? 'options that cannot be read', path: issue?.path ?? [] };
}

/** Checks the number of columns and the element's type against those that the codec states. */
export function fitting(codec: Codec, { columnTypes, fhirType }: CodecContext): MadeCodec {
  if (columnTypes.length !== codec.columns)
    return { problem: `takes ${codec.columns} columns`, expected: `a list of ${codec.columns} in \`from:\`` };
  if (!codec.yields.includes(fhirType))
    return { problem: `gives no ${fhirType}`, expected: `an element of type ${codec.yields.join(', ')}` };
  return { codec };
}

/** Returns the message for a column type that a codec does not read. */
export function refuse(name: string, type: ColumnType | undefined): string {
  return type ? `${name} does not read ${nameOfType(type)}` : `${name} takes a column`;
}
