/**
 * Defines the codes of errors and notices about requests. In: the internal kind. Out: the stable code in
 * `OperationOutcome.issue.details`, FHIR's issue type, cause and cure; docs/errors.md is generated from them. A
 * published code never changes its meaning.
 */

/** The HTTP status of each issue type; https://hl7.org/fhir/R4/valueset-issue-type.html */
export const STATUS = {
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

export type IssueType = keyof typeof STATUS | 'informational' | 'incomplete';

/** Code, issue type, cause, cure. */
export type RequestError = readonly [code: string, type: IssueType, cause: string, cure: string];

const LATER = 'Send the request again after the time that `Retry-After` gives.';

export const REQUEST_ERRORS = {
  'unknown-address': [
    'LNT-101',
    'not-found',
    'The server has no such URL.',
    'Take URLs from `[base]/metadata`; the FHIR interface is under `FHIR_PATH`.',
  ],
  'unknown-type': [
    'LNT-102',
    'not-found',
    'No mapping makes resources of this type.',
    'Look at `[base]/metadata` for the types; a mapping with `resource:` adds one.',
  ],
  'unsupported-type': [
    'LNT-103',
    'not-supported',
    'The operation, compartment or search over several types does not take this resource type.',
    'Name types that the CapabilityStatement lists for it, or leave the parameter out.',
  ],
  'no-such-resource': [
    'LNT-104',
    'not-found',
    'No resource has this id, or the caller may not see it.',
    'Search for the resource; ids come from the `id:` of the mapping.',
  ],
  'no-history': [
    'LNT-105',
    'not-found',
    'Versions of resources are not kept.',
    'Read the resource without `_history`: it shows what the database has now.',
  ],
  'unknown-operation': [
    'LNT-106',
    'not-found',
    'The operation is not offered here.',
    'Look at `operation` in `[base]/metadata`.',
  ],
  'wrong-method': [
    'LNT-107',
    'not-allowed',
    'The URL does not support this HTTP method. The server is read-only.',
    'Use a method that the header `Allow` lists.',
  ],
  'malformed-request': [
    'LNT-108',
    'invalid',
    'The request is not valid HTTP, its parameters are not percent-encoded UTF-8, or it came too slowly.',
    'Correct the client: one `Host` header, a path without dot segments, parameters encoded as UTF-8.',
  ],
  'malformed-body': [
    'LNT-109',
    'invalid',
    'The body is not the resource that is expected here: not UTF-8, JSON or FHIR XML, too deep, or of another type.',
    'Send the resource that the message names.',
  ],
  'body-type': [
    'LNT-110',
    'not-supported',
    'The header `Content-Type` names a format that this URL does not accept.',
    'Send a search as `application/x-www-form-urlencoded`, a resource as `application/fhir+json` or `application/fhir+xml`.',
  ],
  'too-long': [
    'LNT-111',
    'too-long',
    'The URL, the headers or the body are longer than the server reads.',
    'Send the parameters of a long search as the body of `POST [type]/_search`, in several searches if need be.',
  ],
  'not-acceptable': [
    'LNT-112',
    'not-acceptable',
    '`Accept` or `_format` asks for a format that the server does not have.',
    'Ask for `application/fhir+json`, `application/fhir+xml`, or `text/html`.',
  ],
  'wrong-value': [
    'LNT-113',
    'value',
    'The value of a parameter does not have the expected form.',
    'Write the value as the message says; under `Prefer: handling=lenient` an empty value is ignored with a warning.',
  ],
  'wrong-parameters': [
    'LNT-114',
    'invalid',
    'A parameter or header is missing, is repeated too often, or has the wrong form.',
    'Send what the message expects.',
  ],
  'unknown-parameter': [
    'LNT-115',
    'not-supported',
    'The parameter is not offered for this type or operation.',
    'Look at `searchParam` in `[base]/metadata`. Under `Prefer: handling=lenient` the parameter is ignored with a warning.',
  ],
  'unknown-modifier': [
    'LNT-116',
    'not-supported',
    'The search parameter does not take this modifier here.',
    'Use a modifier that the message lists.',
  ],
  'unsupported-search': [
    'LNT-117',
    'not-supported',
    'The chain, include, sort, code list or combination of parameters cannot be answered from these mappings.',
    'Ask in several searches, or add to the mappings what the search needs.',
  ],
  'too-costly': [
    'LNT-118',
    'too-costly',
    'The request is larger than a bound of the server allows: values, parameters, chains, includes, patients or entries.',
    'Split the request; docs/limits.md and docs/configuration.md name the bounds.',
  ],
  'stale-link': [
    'LNT-119',
    'value',
    'The page link belongs to another search, another caller, or another version of the mappings.',
    'Start again from the first page.',
  ],
  'expired-link': [
    'LNT-120',
    'deleted',
    'The page link belongs to a long search that the server no longer keeps.',
    'Send the search again.',
  ],
  'wrong-host': [
    'LNT-121',
    'forbidden',
    'The header `Host` names another server.',
    'Address the server by the name in `BASE_URL`, or set `BASE_URL` to the name that clients use.',
  ],
  'no-such-export': [
    'LNT-122',
    'not-found',
    'The export or the file does not exist, has expired, or belongs to another caller.',
    'Begin the export again.',
  ],
  'export-conflict': [
    'LNT-123',
    'conflict',
    'The export is not in a state that allows this, or another server exports into the same `DATA_DIR`.',
    'Ask for the state of the export; give each server a `DATA_DIR` of its own.',
  ],
  'too-many-requests': [
    'LNT-124',
    'throttled',
    'The caller sends more requests than REQUESTS_PER_MINUTE, polls too often, or has too many unfinished exports.',
    'Wait as `Retry-After` says, or delete an export.',
  ],
  'wrong-range': [
    'LNT-125',
    'value',
    'The header `Range` names bytes that the file does not have.',
    'Continue within the length that the message gives.',
  ],
  'unsupported-bundle': [
    'LNT-126',
    'not-supported',
    'The Bundle is a transaction, and the server only reads, one request at a time.',
    'Send a Bundle of type `batch`.',
  ],
  'too-large': [
    'LNT-127',
    'too-costly',
    'A resource, or a document, is larger than ANSWER_SIZE.',
    'Ask for less: fewer elements of the resource, a document of fewer days. Or raise ANSWER_SIZE.',
  ],
  'no-token': [
    'LNT-201',
    'login',
    'The request has no access token, which this server requires.',
    'Send `Authorization: Bearer <token>`; docs/access.md says where tokens come from.',
  ],
  'bad-token': [
    'LNT-202',
    'login',
    'The access token is forged, expired, revoked, or made for another server.',
    'Get a new token. If all are refused, compare issuer and audience with the configuration.',
  ],
  'no-permission': [
    'LNT-203',
    'forbidden',
    'The scopes of the token or the rules of `access.yaml` do not include this.',
    'Ask for the scope, or change the rule.',
  ],
  'glass-refused': [
    'LNT-204',
    'forbidden',
    'Break-the-glass is not available here, or not for this caller.',
    'Ask without the header; docs/access-rules.md says who may break the glass.',
  ],
  'unexpected-error': [
    'LNT-301',
    'exception',
    'An unexpected error. The log has it under the id of the request.',
    'Report it with the line of the log.',
  ],
  'database-failed': [
    'LNT-302',
    'exception',
    'The database refused a statement or could not compute it. The log names the engine’s code and the mapping.',
    'Run `npx lintel check`, which asks the database the same questions.',
  ],
  'database-lacks': [
    'LNT-303',
    'exception',
    'A table or column that a mapping needs is missing, or the login cannot read it.',
    'Run `npx lintel check`; grant SELECT, or correct the mapping.',
  ],
  'database-away': [
    'LNT-304',
    'transient',
    'The database cannot be reached, refuses the login, or has stopped answering.',
    'Send the request again after the time that `Retry-After` gives. The log and `/ready` say what the database answered.',
  ],
  overload: ['LNT-305', 'transient', 'More requests run or wait than the server admits.', LATER],
  'timed-out': [
    'LNT-306',
    'transient',
    'The request took longer than `REQUEST_TIMEOUT`.',
    'Ask for less at a time; `npx lintel indexes` names indexes that are missing.',
  ],
  cancelled: ['LNT-307', 'transient', 'The client disconnected, or the server stops.', 'Send the request again.'],
  'issuer-away': [
    'LNT-308',
    'transient',
    'The issuer of the access token does not answer, so that the token cannot be verified.',
    LATER,
  ],
  'audit-away': [
    'LNT-309',
    'transient',
    'The audit cannot be written, and the server sends no data without it.',
    'Look at the log and at `DATA_DIR`; docs/audit.md says what stops the audit.',
  ],
  'export-failed': [
    'LNT-310',
    'exception',
    'The export failed, or its state on disk was damaged.',
    'Begin it again; the log says why it failed.',
  ],
  'export-folder': [
    'LNT-311',
    'transient',
    'The folder of the exports is full or cannot be written.',
    'Free space in `DATA_DIR`, or raise `EXPORT_DISK`.',
  ],
  'database-busy': [
    'LNT-312',
    'transient',
    'The database answers, but is locked, out of resources, has too many waiting statements, or is too slow.',
    'Send the request again after the time that `Retry-After` gives, or ask for less at a time.',
  ],
} as const satisfies Readonly<Record<string, RequestError>>;

/** Remarks that a successful answer may contain. */
export const NOTICES = {
  'left-out': [
    'LNT-191',
    'informational',
    'The answer lacks types, deletions or changes that the mappings do not provide.',
    'Nothing, or the search by the types that the message names.',
  ],
  incomplete: [
    'LNT-192',
    'incomplete',
    'Resources are omitted: more includes than a page holds, or resources without a time of change.',
    'Ask for less at a time, or map `changed`.',
  ],
  'export-state': ['LNT-193', 'informational', 'The state of an export.', 'Poll as `Retry-After` says.'],
  'glass-broken': [
    'LNT-205',
    'informational',
    'The answer contains data that is normally hidden from the caller, and the audit has the reason.',
    'Nothing.',
  ],
} as const satisfies Readonly<Record<string, RequestError>>;

export type RequestErrorKind = keyof typeof REQUEST_ERRORS;
export type NoticeKind = keyof typeof NOTICES;
