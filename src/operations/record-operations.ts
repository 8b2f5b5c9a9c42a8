/**
 * Lists the operations that answer with pages of resources, as searches do. A new one needs a row here; its route, its
 * OperationDefinition and its place in the CapabilityStatement follow.
 * https://hl7.org/fhir/R4/operationslist.html
 */

import type { Parameters, SystemQuery } from '../search/query.ts';
import type { ParseContext } from '../search/values.ts';
import { DOCREF } from './docref.ts';
import { EVERYTHING } from './everything.ts';
import type { Operation } from './operations.ts';
import type { MadeResource } from './summary-operation.ts';

export interface RecordOperation extends Operation {
  /** Throws FhirError naming the parameter. */
  understand(asked: AskedOperation): UnderstoodOperation;
}

/** A call of an operation. */
export interface AskedOperation {
  /** Of the resource that it is called on; undefined where it is called on the type. */
  readonly id: string | undefined;
  readonly parameters: Parameters;
  /** Those that are mapped, in the order in which they are answered. */
  readonly types: readonly string[];
  readonly context: ParseContext;
  /** The server makes documents. */
  readonly documents: boolean;
}

export interface UnderstoodOperation {
  readonly query: SystemQuery;
  /** Types that may be included; undefined: any. */
  readonly includable?: (type: string) => boolean;
  /** A resource that is made for the first page, if that patient is there for the caller. */
  readonly made?: { readonly patient: string; readonly resource: MadeResource } | undefined;
}

export const RECORD_OPERATIONS: readonly RecordOperation[] = [EVERYTHING, DOCREF];
