/**
 * Encodes and decodes the few TDS 7.4 messages that a scripted server needs. In: bytes of the driver, or rows to send.
 * Out: the request, or bytes.
 * https://learn.microsoft.com/openspecs/windows_protocols/ms-tds/
 */

export const MESSAGE = {
  batch: 0x01,
  rpc: 0x03,
  reply: 0x04,
  attention: 0x06,
  bulk: 0x07,
  transaction: 0x0e,
  login: 0x10,
  prelogin: 0x12,
} as const;

const HEADER = 8;
const COLLATION = Buffer.from([0x09, 0x04, 0xd0, 0x00, 0x34]);

export interface Message {
  readonly type: number;
  readonly data: Buffer;
}

/** Assembles packets into messages; called with each chunk of bytes. */
export function createAssembler(): (piece: Buffer) => readonly Message[] {
  let rest: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  return piece => {
    rest = Buffer.concat([rest, piece]);
    const complete: Message[] = [];
    while (rest.length >= HEADER && rest.length >= rest.readUInt16BE(2)) {
      const length = rest.readUInt16BE(2);
      parts.push(rest.subarray(HEADER, length));
      if (((rest[1] ?? 0) & 1) === 1) {
        complete.push({ type: rest[0] ?? 0, data: Buffer.concat(parts) });
        parts = [];
      }
      rest = rest.subarray(length);
    }
    return complete;
  };
}

/** Splits one reply into packets. */
export function reply(data: Buffer, last = true): Buffer {
  const packets: Buffer[] = [];
  const size = 4096 - HEADER;
  for (let at = 0; at < Math.max(data.length, 1); at += size) {
    const body = data.subarray(at, at + size);
    const header = Buffer.alloc(HEADER);
    header[0] = MESSAGE.reply;
    header[1] = last && at + size >= data.length ? 1 : 0;
    header.writeUInt16BE(HEADER + body.length, 2);
    header[6] = packets.length % 256;
    packets.push(header, body);
  }
  return Buffer.concat(packets);
}

/** Answers PRELOGIN: no encryption. */
export function preloginReply(): Buffer {
  const options = [
    { token: 0, data: Buffer.from([16, 0, 0, 0, 0, 0]) },
    { token: 1, data: Buffer.from([2]) },
  ];
  let offset = options.length * 5 + 1;
  const heads = options.map(({ token, data }) => {
    const head = Buffer.alloc(5);
    head[0] = token;
    head.writeUInt16BE(offset, 1);
    head.writeUInt16BE(data.length, 3);
    offset += data.length;
    return head;
  });
  return Buffer.concat([...heads, Buffer.from([0xff]), ...options.map(({ data }) => data)]);
}

export interface LoginSays {
  readonly user: string;
  readonly applicationName: string;
  readonly database: string;
  readonly readOnly: boolean;
  /** That it asks for. */
  readonly packetSize: number;
}

/** Reads LOGIN7: from byte 36 on, four bytes each give offset and length of a text. */
export function readLogin(data: Buffer): LoginSays {
  const at = (field: number): string => {
    const head = 36 + 4 * field;
    const begin = data.readUInt16LE(head);
    return data.toString('utf16le', begin, begin + 2 * data.readUInt16LE(head + 2));
  };
  const typeFlags = data[26] ?? 0;
  const readOnly = (typeFlags & 0x20) !== 0;
  return { user: at(1), applicationName: at(3), database: at(8), readOnly, packetSize: data.readUInt32LE(8) };
}

/** Accepts a login. */
export function loginReply(): Buffer {
  const collation = Buffer.concat([Buffer.from([0xe3, 8, 0, 7, 5]), COLLATION, Buffer.from([0])]);
  const body = Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4]), shortText('scripted'), Buffer.from([16, 0, 0, 0])]);
  const acknowledged = Buffer.concat([Buffer.from([0xad]), uint16(body.length), body]);
  return Buffer.concat([collation, acknowledged, done(0xfd, 0)]);
}

export interface Column {
  readonly name: string;
  readonly type: 'int' | 'nvarchar' | 'real';
}

export type Cell = number | string | null;

const KINDS: Readonly<Record<Column['type'], Buffer>> = {
  int: Buffer.from([0x26, 4]),
  nvarchar: Buffer.concat([Buffer.from([0xe7]), uint16(8000), COLLATION]),
  real: Buffer.from([0x6d, 4]),
};

export function metadata(columns: readonly Column[]): Buffer {
  const each = columns.map(({ name, type }) => {
    return Buffer.concat([Buffer.from([0, 0, 0, 0, 1, 0]), KINDS[type], shortText(name)]);
  });
  return Buffer.concat([Buffer.from([0x81]), uint16(columns.length), ...each]);
}

export function rowOf(columns: readonly Column[], cells: readonly Cell[]): Buffer {
  const each = columns.map(({ type }, i) => {
    const cell = cells[i] ?? null;
    if (type !== 'nvarchar') {
      if (cell === null) return Buffer.from([0]);
      const bytes = Buffer.alloc(5);
      bytes[0] = 4;
      if (type === 'int') bytes.writeInt32LE(Number(cell), 1);
      else bytes.writeFloatLE(Number(cell), 1);
      return bytes;
    }
    if (cell === null) return uint16(0xffff);
    const bytes = Buffer.from(String(cell), 'utf16le');
    return Buffer.concat([uint16(bytes.length), bytes]);
  });
  return Buffer.concat([Buffer.from([0xd1]), ...each]);
}

/** The end of a result, of a batch or of a procedure such as sp_executesql. */
export function endOf(kind: 'batch' | 'rpc', rows: number): Buffer {
  if (kind === 'batch') return done(0xfd, 0x10, rows);
  return Buffer.concat([done(0xff, 0x11, rows), Buffer.from([0x79, 0, 0, 0, 0]), done(0xfe, 0)]);
}

const TRANSACTIONS: Readonly<Record<number, { readonly name: string; readonly changed: number }>> = {
  5: { name: 'begin', changed: 8 },
  7: { name: 'commit', changed: 9 },
  8: { name: 'rollback', changed: 10 },
};

/** Reads a transaction request, and makes its reply: the descriptor that the connection has from now on. */
export function readTransaction(data: Buffer): { readonly text: string; readonly reply: Buffer } {
  const { name = 'other', changed = 0 } = TRANSACTIONS[data.readUInt16LE(data.readUInt32LE(0))] ?? {};
  const descriptor = Buffer.from([8, 1, 0, 0, 0, 0, 0, 0, 0]);
  const none = Buffer.from([0]);
  const change = Buffer.concat([
    Buffer.from([changed]),
    ...(name === 'begin' ? [descriptor, none] : [none, descriptor]),
  ]);
  return { text: name, reply: Buffer.concat([Buffer.from([0xe3]), uint16(change.length), change, done(0xfd, 0)]) };
}

export function attentionReply(): Buffer {
  return done(0xfd, 0x20);
}

/** An error of the server, whose text contains a value like real ones. */
export function errorOf(number: number, text: string): Buffer {
  const head = Buffer.alloc(6);
  head.writeInt32LE(number, 0);
  head[4] = 1;
  head[5] = 14;
  const message = Buffer.from(text, 'utf16le');
  const body = Buffer.concat([head, uint16(text.length), message, shortText('scripted'), shortText(''), uint32(1)]);
  return Buffer.concat([Buffer.from([0xaa]), uint16(body.length), body]);
}

export function failedEnd(kind: 'batch' | 'rpc'): Buffer {
  return done(kind === 'batch' ? 0xfd : 0xfe, 0x02);
}

/** The text of a batch. */
export function batchText(data: Buffer): string {
  return data.subarray(data.readUInt32LE(0)).toString('utf16le');
}

/** Reads sp_executesql as the driver calls it: the statement, and `@p0 int, @p1 varchar(8)`. */
export function readRpc(data: Buffer): { readonly text: string; readonly declared: string; readonly bytes: Buffer } {
  let at = data.readUInt32LE(0);
  if (data.readUInt16LE(at) === 0xffff) at += 4;
  else at += 2 + data.readUInt16LE(at) * 2;
  at += 2;
  const nextText = (): string => {
    if (at >= data.length) return '';
    at += 1 + (data[at] ?? 0) * 2 + 1;
    const type = data[at];
    if (type !== 0xe7) throw new Error('the scripted server expects nvarchar here');
    const most = data.readUInt16LE(at + 1);
    at += 3 + COLLATION.length;
    if (most !== 0xffff) {
      const length = data.readUInt16LE(at);
      at += 2;
      const text = data.toString('utf16le', at, at + length);
      at += length;
      return text;
    }
    at += 8;
    const chunks: Buffer[] = [];
    for (let length = data.readUInt32LE(at); length > 0; length = data.readUInt32LE(at)) {
      chunks.push(data.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    at += 4;
    return Buffer.concat(chunks).toString('utf16le');
  };
  const text = nextText();
  const declared = nextText();
  return { text, declared, bytes: data.subarray(at) };
}

function done(token: number, status: number, rows = 0): Buffer {
  const bytes = Buffer.alloc(13);
  bytes[0] = token;
  bytes.writeUInt16LE(status, 1);
  bytes.writeUInt16LE(0xc1, 3);
  bytes.writeBigUInt64LE(BigInt(rows), 5);
  return bytes;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'utf16le')]);
}
