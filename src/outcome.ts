/**
 * Defines errors in FHIR's form. In: a FhirError of any layer below http. Out: HTTP status and OperationOutcome.
 * Messages name the parameter, type or limit at fault and never repeat a value, which could be a patient's.
 * https://hl7.org/fhir/R4/operationoutcome.html
 */
import {
  type IssueType,
  NOTICES,
  type NoticeKind,
  REQUEST_ERRORS,
  type RequestError,
  type RequestErrorKind,
  STATUS,
} from './errors/request-errors.ts';

/** The code system of the codes in `issue.details`. */
export const ERROR_SYSTEM = 'urn:lintel:error';

const KINDS: Readonly<Record<RequestErrorKind | NoticeKind, RequestError>> = { ...REQUEST_ERRORS, ...NOTICES };

/** Only `issueOf` makes issues, so that each has its code. */
export interface Issue {
  readonly severity: 'error' | 'warning' | 'information';
  /** FHIR's issue type. */
  readonly code: string;
  /** `LNT-…`; absent in exports that an earlier version began. */
  readonly detail?: string;
  readonly diagnostics: string;
  /** FHIRPath or `http.<parameter>` of the element or parameter at fault. */
  readonly expression?: string;
}

interface IssueOptions {
  readonly severity?: Issue['severity'];
  /** The parameter at fault. */
  readonly parameter?: string;
}

/** Returns an issue of a kind; an error, unless another severity is given. */
export function issueOf(kind: RequestErrorKind | NoticeKind, diagnostics: string, options: IssueOptions = {}): Issue {
  const [detail, type] = KINDS[kind];
  const { severity = 'error', parameter } = options;
  return {
    severity,
    code: issueTypeOf(type),
    detail,
    diagnostics,
    ...(parameter === undefined ? {} : { expression: `http.${parameter}` }),
  };
}

export class FhirError extends Error {
  readonly kind: RequestErrorKind;
  readonly issues: readonly Issue[];
  /** Seconds for Retry-After. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: RequestErrorKind,
    diagnostics: string,
    options?: { readonly parameter?: string; readonly retryAfter?: number },
  ) {
    super(diagnostics);
    this.name = 'FhirError';
    this.kind = kind;
    this.retryAfter = options?.retryAfter;
    this.issues = [issueOf(kind, diagnostics, options)];
  }

  /** The issue type of the kind, which decides the status. */
  get code(): keyof typeof STATUS {
    return REQUEST_ERRORS[this.kind][1];
  }

  get status(): number {
    return STATUS[this.code];
  }
}

function issueTypeOf(type: IssueType): string {
  return type === 'not-allowed' || type === 'not-acceptable' ? 'not-supported' : type;
}

/** Returns the OperationOutcome for some issues. */
export function operationOutcome(issues: readonly Issue[]): object {
  return {
    resourceType: 'OperationOutcome',
    issue: issues.map(({ severity, code, detail, diagnostics, expression }) => ({
      severity,
      code,
      ...(detail === undefined ? {} : { details: { coding: [{ system: ERROR_SYSTEM, code: detail }] } }),
      diagnostics,
      ...(expression === undefined ? {} : { expression: [expression] }),
    })),
  };
}
