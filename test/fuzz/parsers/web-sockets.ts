import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { createWebSockets } from '../../../src/edge/mqtt/web-sockets.ts';
import { inPieces } from '../mutate.ts';
import type { FuzzedParser } from '../parser.ts';
import { mqtt } from './mqtt.ts';

/** The most bytes before the login, and of one message. */
const BEFORE_LOGIN = 64 * 1024;
const LARGEST_MESSAGE = 4 * 1024 * 1024 + 64 * 1024;
/** Milliseconds after which a connection counts as one that never ends. */
const LONGEST_MS = 60_000;

const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const MASK = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

/** A frame as a client sends it (RFC 6455 5.2). */
function frame(payload: Buffer, { opcode = BINARY, isLast = true } = {}): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.alloc(2) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (head.length === 2 ? length : head.length === 4 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, MASK, payload.map((byte, at) => byte ^ MASK[at % 4]!)]);
}

/**
 * The bytes of MQTT in frames, read as RFC 6455 says, up to the first fault. `isWhole`: nothing is wrong, and nothing is
 * missing at the end.
 */
function unframed(bytes: Buffer): { payload: Buffer; isWhole: boolean } {
  const messages: Buffer[] = [];
  let parts: Buffer[] | undefined;
  let at = 0;
  const end = (isWhole: boolean) => ({ payload: Buffer.concat(messages), isWhole });
  while (at < bytes.length) {
    if (bytes.length - at < 2) return end(false);
    const [first, second] = [bytes[at]!, bytes[at + 1]!];
    const [isLast, opcode] = [first >= 0x80, first & 0x0f];
    const short = second & 0x7f;
    const isControl = opcode >= CLOSE;
    if ((first & 0x70) !== 0 || second < 0x80 || ![CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG].includes(opcode))
      return end(false);
    if (isControl && (!isLast || short > 125)) return end(false);
    if (!isControl && (opcode === CONTINUATION) === (parts === undefined)) return end(false);
    if (opcode === TEXT) return end(false); // MQTT needs binary messages [MQTT-6.0.0-1]
    const more = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (bytes.length - at < 2 + more + 4) return end(false);
    const length = more === 0 ? short : more === 2 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const from = at + 2 + more + 4;
    if (length > bytes.length - from) return end(false);
    const mask = bytes.subarray(from - 4, from);
    const payload = Buffer.from(bytes.subarray(from, from + length).map((byte, index) => byte ^ mask[index % 4]!));
    at = from + length;
    if (opcode === CLOSE) return end(at === bytes.length);
    if (isControl) continue;
    parts = [...(parts ?? []), payload];
    if (!isLast) continue;
    messages.push(Buffer.concat(parts));
    parts = undefined;
  }
  return end(parts === undefined);
}

interface Opened {
  stream: Duplex;
  whenLoggedIn(owner: string): void;
}
const webSockets = createWebSockets({ onCut: () => undefined });
const opening = new WeakMap<object, (opened: Opened) => void>();
/** Node's own HTTP server, which gets its connections from memory: no port, and no wait. */
const server = createServer();
server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
  socket.on('error', () => undefined);
  webSockets.open(request, socket, head, (stream, whenLoggedIn) => opening.get(socket)?.({ stream, whenLoggedIn }));
});
const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: a',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: mqtt',
  '',
  '',
].join('\r\n');

/** The bytes of MQTT that the broker gets from a connection with these bytes. */
async function received(pieces: readonly Buffer[], isLoggedIn: boolean): Promise<Buffer> {
  const [ours, theirs] = duplexPair() as [Duplex, Duplex];
  const { promise, resolve } = Promise.withResolvers<Opened>();
  opening.set(theirs, resolve);
  server.emit('connection', theirs);
  ours.on('error', () => undefined).resume();
  ours.write(UPGRADE);
  const { stream, whenLoggedIn } = await promise;
  if (isLoggedIn) whenLoggedIn('dev');
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = Promise.withResolvers<void>();
  const timer = setTimeout(() => closed.reject(new Error('the connection does not end')), LONGEST_MS);
  stream.once('end', closed.resolve).once('close', closed.resolve);
  for (const piece of pieces) if (!ours.destroyed) ours.write(piece);
  if (!ours.destroyed) ours.end();
  try {
    await closed.promise;
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
    ours.destroy();
    theirs.destroy();
  }
}

const [connect, ...others] = mqtt.documents;
const small = others.filter(({ length }) => length < 1000);

/** MQTT in frames of WebSocket: packets together in a message, and packets that are divided among messages and frames. */
export const websocket: FuzzedParser = {
  documents: [
    frame(connect!),
    Buffer.concat([frame(connect!), ...small.map((packet) => frame(packet))]),
    frame(Buffer.concat([connect!, ...small])),
    Buffer.concat([
      frame(connect!.subarray(0, 3), { isLast: false }),
      frame(Buffer.from('ping'), { opcode: PING }),
      frame(connect!.subarray(3), { opcode: CONTINUATION }),
      frame(Buffer.alloc(0), { opcode: PONG }),
      frame(small[0]!.subarray(0, 5)),
      frame(small[0]!.subarray(5)),
      frame(Buffer.from([3, 232]), { opcode: CLOSE }),
    ]),
    frame(Buffer.alloc(300, 0xc0)),
  ],
  words: ['\u0002', '\u0000', '\u0008', '\u007f'],
  async read(input, random) {
    assert.ok(input.length < LARGEST_MESSAGE);
    const { payload, isWhole } = unframed(input);
    const isLoggedIn = random() < 0.5;
    const pieces = random() < 0.3 ? [input] : inPieces(input, random);
    const got = await received(pieces, isLoggedIn);
    assert.deepEqual(got, payload.subarray(0, got.length), 'the broker gets the bytes of the messages, in their order');
    const isBounded = !isLoggedIn && input.length > BEFORE_LOGIN;
    if (isWhole && !isBounded) assert.equal(got.length, payload.length, 'the broker gets all of it');
    return isWhole && got.length > 0;
  },
};
