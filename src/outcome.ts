/**
 * Errors as FHIR tells them. In: a FhirError anywhere below http. Out: HTTP status and OperationOutcome.
 * Messages name the parameter, the type or the limit at fault and never repeat a value, which could be a patient's.
 * https://hl7.org/fhir/R4/operationoutcome.html, https://hl7.org/fhir/R4/valueset-issue-type.html
 */

/** Issue type codes of R4 that this server uses, each with its HTTP status. */
const STATUS = {
  invalid: 400,
  value: 400,
  'not-supported': 400,
  'too-costly': 400,
  login: 401,
  forbidden: 403,
  'not-found': 404,
  'not-allowed': 405,
  'not-acceptable': 406,
  conflict: 409,
  deleted: 410,
  'too-long': 414,
  throttled: 429,
  exception: 500,
  transient: 503,
} as const;

export type OutcomeCode = keyof typeof STATUS;

export interface Issue {
  readonly severity: 'error' | 'warning' | 'information';
  readonly code: string;
  readonly diagnostics: string;
  /** FHIRPath or `http.<parameter>` of what is at fault. */
  readonly expression?: string;
}

export class FhirError extends Error {
  readonly code: OutcomeCode;
  readonly issues: readonly Issue[];
  /** Seconds for Retry-After. */
  readonly retryAfter: number | undefined;

  constructor(
    code: OutcomeCode,
    diagnostics: string,
    options?: { parameter?: string; retryAfter?: number; more?: readonly Issue[] },
  ) {
    super(diagnostics);
    this.name = 'FhirError';
    this.code = code;
    this.retryAfter = options?.retryAfter;
    const expression = options?.parameter === undefined ? {} : { expression: `http.${options.parameter}` };
    this.issues = [
      { severity: 'error', code: issueTypeOf(code), diagnostics, ...expression },
      ...(options?.more ?? []),
    ];
  }

  get status(): number {
    return STATUS[this.code];
  }
}

function issueTypeOf(code: OutcomeCode): string {
  return code === 'not-allowed' || code === 'not-acceptable' ? 'not-supported' : code;
}

/** The OperationOutcome resource for some issues. */
export function operationOutcome(issues: readonly Issue[]): object {
  return {
    resourceType: 'OperationOutcome',
    issue: issues.map(({ severity, code, diagnostics, expression }) => ({
      severity,
      code,
      diagnostics,
      ...(expression === undefined ? {} : { expression: [expression] }),
    })),
  };
}
