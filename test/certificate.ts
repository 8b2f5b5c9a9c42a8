/**
 * Makes certificates for tests of TLS on loopback: self-signed, for `localhost` and 127.0.0.1. Out: PEM. RFC 5280
 * section 4.1
 */
import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const GENERALIZED_TIME = 0x18;
const BOOLEAN = 0x01;

function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const { length } = bytes;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), bytes]);
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const ECDSA_WITH_SHA256 = der(SEQUENCE, der(OBJECT_ID, hex('2a8648ce3d040302')));

function named(name: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, der(OBJECT_ID, hex('550403')), der(UTF8_STRING, Buffer.from(name)))));
}

function time(date: Date): Buffer {
  return der(GENERALIZED_TIME, Buffer.from(`${date.toISOString().replace(/[-:T]|\..*$/g, '')}Z`));
}

/** `name`: the subject; `days`: validity from now on, negative for an expired certificate. */
export function selfSigned(name = 'localhost', days = 30): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const validity = [now - 90 * 86_400_000, now + days * 86_400_000].map(at => time(new Date(at)));
  const names = der(SEQUENCE, der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, der(OBJECT_ID, hex('551d11')), der(OCTET_STRING, names)),
    der(
      SEQUENCE,
      der(OBJECT_ID, hex('551d13')),
      der(BOOLEAN, hex('ff')),
      der(OCTET_STRING, der(SEQUENCE, der(BOOLEAN, hex('ff')))),
    ),
  );
  const unsigned = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, hex('02'))),
    // Positive, and of minimum length.
    der(INTEGER, hex(`01${now.toString(16).padStart(12, '0')}`)),
    ECDSA_WITH_SHA256,
    named(name),
    der(SEQUENCE, ...validity),
    named(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(BIT_STRING, hex('00'), sign('sha256', unsigned, privateKey));
  const whole = der(SEQUENCE, unsigned, ECDSA_WITH_SHA256, signature).toString('base64');
  const lines = whole.match(/.{1,64}/g)?.join('\n') ?? '';
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
