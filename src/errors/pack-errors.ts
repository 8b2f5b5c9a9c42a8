/**
 * Defines the codes of problems of a pack and of errors that end a start. In: the internal kind. Out: the stable code
 * that `lintel check` prints, cause and cure; docs/errors.md is generated from them. A published code never changes its
 * meaning.
 */

/** Code, cause, cure. */
export type PackError = readonly [code: string, cause: string, cure: string];

const AS_SAID = 'Write what the message expects.';
const NEAREST = 'Correct the spelling; the message names the nearest word that exists.';

/** Files, keys and names. */
const TEXT = {
  'unreadable-file': [
    'LNT-401',
    'A file is not UTF-8, not YAML, JSON or CSV, too large, or nested too deep.',
    'Correct the file at the position in the message.',
  ],
  'wrong-form': ['LNT-402', 'A value does not have the form that its key takes.', AS_SAID],
  'unknown-key': ['LNT-403', 'A key is not part of the mapping language, or not allowed at this place.', NEAREST],
  'missing-key': ['LNT-404', 'A key, a file or a reason that the mapping language requires is missing.', 'Add it.'],
  'unknown-name': [
    'LNT-405',
    'The pack has no system, list, fragment, macro, code map, mapping, alias or file of this name.',
    NEAREST,
  ],
  'written-twice': ['LNT-406', 'A key, name, alias, row or document is repeated.', 'Remove or rename one.'],
  unused: [
    'LNT-407',
    'A fragment, list, code map, lookup or macro variable is never used, or an alternative is never reached.',
    'Use it or remove it; move an alternative before the one that always has a value.',
  ],
  'outside-pack': [
    'LNT-408',
    '`extends` names no pack, or `extends` or a symbolic link leaves the folder of the pack.',
    'Keep the file in the folder of the pack; name a pack beside or below this one in `extends`.',
  ],
  circle: ['LNT-409', 'Mappings, fragments or packs depend on each other in a cycle.', 'Remove one step of the cycle.'],
  'schema-version': [
    'LNT-410',
    'A mapping is for a version of the database schema that `schemas` does not list, or that is not served.',
    'List the version, or choose it by `SCHEMA`.',
  ],
  'wrong-macro': ['LNT-411', 'A macro, fragment or patch cannot be expanded as it is written.', AS_SAID],
  'unlikely-code': [
    'LNT-412',
    'A system is not known, or a code does not have the form or the check digit of its system.',
    'Compare with the code system; a wrong check digit is usually a typing error.',
  ],
  'wrong-code-map': [
    'LNT-413',
    'A row of a code map, list of codes or hierarchy cannot be used, or there are no rows.',
    'Correct the row at the position in the message.',
  ],
  'wrong-access': [
    'LNT-414',
    'A rule in access.yaml or an issuer in the file of `ACCESS_FILE` cannot be used, or never applies. It permits nothing.',
    AS_SAID,
  ],
  'wrong-search': [
    'LNT-415',
    'A search in access.yaml or ccds.yaml cannot be answered by the mappings, or finds nothing.',
    'Use parameters and values that `[base]/metadata` and the code maps have.',
  ],
  'limited-interface': [
    'LNT-416',
    'Documents or the REST interface omit something: a record number, a custodian, patients or visits without a number.',
    'Add what the message names to ccds.yaml, pack.yaml or the mapping (`number:`).',
  ],
} as const satisfies Readonly<Record<string, PackError>>;

/** Elements, columns and the path between them. */
const MEANING = {
  'unknown-element': ['LNT-501', 'FHIR has no resource type or element of this name.', NEAREST],
  'wrong-element': [
    'LNT-502',
    'The element cannot have this value: one or many, text or object, code or reference, or a constant of another type.',
    'Write the element as the message says.',
  ],
  'required-element': [
    'LNT-503',
    'An element that FHIR or the mapping requires is missing, may be absent, or is repeated.',
    'Map it, give it a value by `else`, or omit the resource by `needs`.',
  ],
  'required-binding': [
    'LNT-504',
    'A code is not in the value set that FHIR requires for the element, or may not be.',
    'Map the code to one of the value set.',
  ],
  'unknown-profile': [
    'LNT-505',
    'A profile or extension is not known, or is for another type.',
    'Use a short name of US Core or R4, or the absolute URL. Validate unknown profiles with another tool.',
  ],
  'wrong-reference': [
    'LNT-506',
    'A reference has a target type or mapping that is not allowed, or that no search can follow.',
    'Name a mapping of a type that the element may refer to.',
  ],
  'unknown-column': ['LNT-507', 'The database has no table or column of this name, or several tables.', NEAREST],
  'denied-column': [
    'LNT-508',
    'A rule of `deny` or the rights of the database login forbid the column.',
    'Use another column, change the rule, or grant SELECT on the column.',
  ],
  'wrong-codec': [
    'LNT-509',
    'The type of the column does not fit its use, or no codec or code map of this name can make the element from it.',
    'Use another column, or name a codec of docs/mapping-language.md in `via`.',
  ],
  'wrong-condition': [
    'LNT-510',
    'A condition compares a column with a value that it can never have.',
    'Compare with a value that the column can hold.',
  ],
  'wrong-rows': [
    'LNT-511',
    '`on`, `order`, `one-per`, `changed`, `deleted-at` or `each` of pieces does not fit the rows of the mapping.',
    AS_SAID,
  ],
  'wrong-id': [
    'LNT-512',
    'An id has no column, is too long, is ambiguous, or has characters that ids must not have.',
    'Change it as the message says. A key that does not fit into the 64 characters of FHIR, such as two UUIDs, needs a view with a short key of its own.',
  ],
  'unknown-owner': [
    'LNT-513',
    'The mapping does not say which patient its resources belong to.',
    'Map the reference to the patient so that it can be searched, or declare `compartment: { none: … }` with the reason.',
  ],
  'withheld-search': [
    'LNT-514',
    'A value that can be emitted but not searched prevents search parameters of its type.',
    'Emit the columns themselves, or use `sql` instead of `join` and `template`.',
  ],
  'disguised-column': [
    'LNT-515',
    'The login reads something else than the values of the column: a mask (dynamic data masking) or ciphertext (Always Encrypted).',
    'Grant the login what the message names, or omit the column.',
  ],
} as const satisfies Readonly<Record<string, PackError>>;

/** The schema of the database. */
const SCHEMA = {
  'unknown-schema': [
    'LNT-601',
    'Neither a database nor a lock has the columns, or it is the wrong database.',
    'Name the database by `DATABASE_URL`, or run `npx lintel lock`.',
  ],
  'schema-changed': [
    'LNT-602',
    'A table, column or index is missing, or a column differs from the lock.',
    'Correct the mapping or the database, then run `npx lintel lock`.',
  ],
  'word-table': [
    'LNT-603',
    'A table of words lacks words of its rows, or an index.',
    'Run what `npx lintel words` prints.',
  ],
  'statement-refused': [
    'LNT-604',
    'The database refuses a statement of the check.',
    'Correct the expression, or grant the permissions in the message.',
  ],
  'disguised-table': [
    'LNT-605',
    'The login may read other rows than those of the table: a security policy hides some, or they are former versions of rows.',
    'Compare the rows with those that a login without limits sees; docs/sql-server.md describes what is known.',
  ],
} as const satisfies Readonly<Record<string, PackError>>;

/** Findings about rows. */
const ROWS = {
  'shared-id': [
    'LNT-701',
    'Several rows or mappings give the same id or number, or may do so.',
    'Add a column or a literal to the id, or a `where` to the mapping.',
  ],
  'several-rows': [
    'LNT-702',
    'A key, lookup or reference finds several rows instead of one, or NULL, or cannot be counted.',
    'Use columns that are unique there, or add a `where`.',
  ],
  'dangling-reference': [
    'LNT-703',
    'References lead to no resource.',
    'Compare the columns on both sides; `exists: false` declares that this is intended.',
  ],
  'wrong-patient': [
    'LNT-704',
    'References lead to resources of another patient.',
    'Join by columns with the same content on both sides.',
  ],
  'unmapped-code': [
    'LNT-705',
    'Raw values have no row in their code map.',
    'Add rows; `npx lintel codes unmapped` prints the values.',
  ],
  'rows-left-out': [
    'LNT-706',
    'Rows make no resource: their id is empty or not valid, they have no number, or a rule excludes them.',
    'Look at the rows; a `where` that leaves them out on purpose ends the warning.',
  ],
  'unstable-order': [
    'LNT-707',
    'The order of several rows is ambiguous, so that the database chooses.',
    'Add a column to `order:` that makes it unique.',
  ],
  'wrong-values': [
    'LNT-708',
    'Values of a column do not have the form that its codec reads, are unlikely dates, or are texts of another encoding.',
    'Choose a codec that reads them, or add a rule of `absent`, or copy the texts as UTF-8; `npx lintel profile` shows the forms.',
  ],
  'never-used': [
    'LNT-709',
    'No row uses a part of a mapping: an element, an alternative, an expression, a value of a condition, or the whole.',
    'Compare the condition with the rows, or remove the part.',
  ],
  'invalid-resource': [
    'LNT-710',
    'Sampled resources break FHIR R4 or a profile that they claim.',
    'Map what is missing, or claim the profile under a condition.',
  ],
  'wrong-answer': [
    'LNT-711',
    'The served or found resources differ from the rows and the mapping.',
    'Correct the form or the codec that the message names; if both are right, report the bug.',
  ],
  'no-index': [
    'LNT-712',
    'A large table has no index by which its rows, those of a patient or child rows are found, or one in another collation.',
    'Create the index that `npx lintel indexes` prints.',
  ],
  'deleted-rows': [
    'LNT-713',
    'Rows are served that a column, by its name, marks as deleted.',
    'Name the column in `deleted`, `where` or an `if`, as the rows mean it.',
  ],
  'no-time-of-change': [
    'LNT-714',
    'Many resources have no time of change: `_lastUpdated` and exports with `_since` do not find them.',
    'Name a second column of times in `changed`, such as that of creation.',
  ],
} as const satisfies Readonly<Record<string, PackError>>;

/** Failed tests of a pack. */
const TESTS = {
  'failed-test': [
    'LNT-801',
    'A test of the pack fails or cannot run.',
    'Compare the mapping with what the test expects, and the rows of the test with the tables.',
  ],
} as const satisfies Readonly<Record<string, PackError>>;

export const PACK_ERRORS = { ...TEXT, ...MEANING, ...SCHEMA, ...ROWS, ...TESTS };

/** Errors that end a start or a command. */
export const START_ERRORS = {
  'wrong-setting': [
    'LNT-901',
    'A variable or an option has an invalid value.',
    'Write what the message expects; docs/configuration.md lists the variables.',
  ],
  'unusable-database': [
    'LNT-902',
    'The database cannot be opened or read: URL, login, permissions or file.',
    'Do what the message says; `DATABASE_URL` names the database.',
  ],
  'unusable-audit': [
    'LNT-903',
    'The file of the audit cannot be written, is full, is damaged or is of another version.',
    'Do what the message says; docs/audit.md has the rules.',
  ],
  'unusable-address': [
    'LNT-904',
    'The server cannot listen at `HOST` and `PORT`.',
    'Choose another port or an address of this machine.',
  ],
  'unusable-file': [
    'LNT-905',
    'A file or folder does not exist, or cannot be used.',
    'Correct the path, or the permissions of the user of the process.',
  ],
  'unexpected-failure': ['LNT-906', 'An unexpected error.', 'Report it with the printed line, which has no values.'],
} as const satisfies Readonly<Record<string, PackError>>;

export type PackErrorKind = keyof typeof PACK_ERRORS;
export type StartErrorKind = keyof typeof START_ERRORS;
