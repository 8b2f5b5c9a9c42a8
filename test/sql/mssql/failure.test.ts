/** What is made of errors as the driver nests them, where no scripted server can bring them about. */
import { expect, it } from 'vitest';
import { readFailure } from '../../../src/sql/mssql/failure.ts';

/** As the driver has it: its own error around one of Node's. */
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
])('a certificate that is refused with %s is told as one, and is not tried again at once', code => {
  const { error, again, outage } = readFailure(nested('ESOCKET', 'ESOCKET', code));
  expect(error.message).toBe(`the certificate of the server is not trusted (${code})`);
  expect([error.reason, again, outage]).toEqual(['unavailable', false, true]);
  expect(error.engine).toEqual({ code: 'ESOCKET' });
});

it('a server that wants encryption is told as one', () => {
  expect(readFailure(nested('EENCRYPT')).error.message).toBe('the server takes encrypted connections only (EENCRYPT)');
});
