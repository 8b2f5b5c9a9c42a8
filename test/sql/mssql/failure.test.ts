/** Classification of errors as the driver nests them, for those that no scripted server can cause. */
import { expect, it } from 'vitest';
import { readFailure } from '../../../src/sql/mssql/failure.ts';

/** The driver's form: its own error around one of Node's. */
function nested(...codes: readonly string[]): unknown {
  return codes.reduceRight<unknown>(
    (cause, code) => Object.assign(new Error('canary-4711', { cause }), { code }),
    undefined,
  );
}

it.each([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['SELF_SIGNED_CERT_IN_CHAIN'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['CERT_HAS_EXPIRED'],
  ['ERR_TLS_CERT_ALTNAME_INVALID'],
])('a refused certificate (%s) is reported as such, and not retried at once', code => {
  const { error, again, outage } = readFailure(nested('ESOCKET', 'ESOCKET', code));
  expect(error.message).toBe(`the certificate of the server is not trusted (${code})`);
  expect([error.reason, again, outage]).toEqual(['unavailable', false, true]);
  expect(error.engine).toEqual({ code: 'ESOCKET' });
});

it('a server that requires encryption is reported as such', () => {
  expect(readFailure(nested('EENCRYPT')).error.message).toBe('the server takes encrypted connections only (EENCRYPT)');
});

it('messages of the compiler are kept, messages during rows are not', () => {
  const thrown = (number: number, message: string): unknown =>
    Object.assign(new Error(message, { cause: Object.assign(new Error(message), { number, state: 1 }) }), {
      code: 'EREQUEST',
      number,
    });
  const syntax = readFailure(thrown(102, "Incorrect syntax near ')'.")).error;
  expect(syntax.words).toBe("Incorrect syntax near ')'.");
  expect(JSON.stringify(syntax.describe())).not.toContain('syntax near');
  expect(readFailure(thrown(195, "'NOPE' is not a recognized function name.")).error.words).toContain('NOPE');
  for (const number of [245, 8114, 2627])
    expect(readFailure(thrown(number, 'canary-4711')).error.words).toBeUndefined();
});
