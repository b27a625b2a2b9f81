import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { decodePayload } from '../../../src/edge/mqtt/payload.ts';
import { oneOf } from '../mutate.ts';
import type { FuzzedParser } from '../parser.ts';

function decoded(payload: Buffer): ReturnType<typeof decodePayload> | undefined {
  try {
    return decodePayload(payload);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'REQUEST_INVALID') return undefined;
    throw error;
  }
}

/** Whether the bytes are JSON as they are, without an escape that the service replaces. */
function isJson(payload: Buffer): boolean {
  if (!isUtf8(payload) || payload.includes('\\u')) return false;
  try {
    JSON.parse(payload.toString());
    return true;
  } catch {
    return false;
  }
}

const without = (input: Buffer, chars: string): Buffer =>
  Buffer.from(input.filter((byte) => !chars.includes(String.fromCharCode(byte))));

/** Values made of foreign bytes, which may be wrong in every way that a repair mends. */
const VALUES: readonly ((input: Buffer) => Buffer)[] = [
  // The last character is no backslash, which would be the escape of the quotation mark.
  (input) => Buffer.concat([Buffer.from('"'), without(input, '"'), Buffer.from(' "')]),
  (input) => Buffer.from(input.toString().replace(/["{}[\],:]/g, '')),
  () => Buffer.alloc(0),
  () => Buffer.from('[1,,'.slice(0, 3).concat(']')),
];

/** Checks that one wrong member costs no other. */
function checkNeighbours(input: Buffer, value: Buffer): void {
  const text = Buffer.concat([Buffer.from('{"a":{"b":[1,"2"]},"wrong":'), value, Buffer.from(',"c":"d","e":-1.5e3}')]);
  const found = decoded(text)?.message as Record<string, unknown> | undefined;
  assert.ok(found, `a message with a wrong member cannot be read: ${input.length} bytes`);
  const { wrong: _, ...others } = found;
  assert.deepEqual(others, { a: { b: [1, '2'] }, c: 'd', e: -1500 }, 'the other members are as they were sent');
}

/** Messages of devices, whose JSON is repaired where it can be. */
export const message: FuzzedParser = {
  documents: [
    '{"transactionId":7,"status":"succeeded","result":{"a":[1,-2.5e3,null,true],"ü":"\\u00fc\\n"}}',
    '{"eventId":"e","type":"custom.sos","occurredAt":"2026-11-20T09:30:00Z","data":{"n":12345678901234567890}}',
    '{"lang":"ja","battery":{"level":7,"charging":false}}\0',
    `{"text":"${'x'.repeat(20_000)}","list":[[[[[]]]]],"none":{}}`,
  ].map((text) => Buffer.from(text)),
  words: [
    'NaN',
    '-Infinity',
    ',',
    ':',
    '"',
    '\\',
    '\\u12',
    '{',
    '}',
    '[',
    ']',
    '\0',
    '\u0001',
    '\ufeff',
    '\u00a0',
    '\ufffd',
  ],
  read(input, random) {
    const first = decoded(input);
    checkNeighbours(input, oneOf(random, VALUES)(input));
    if (isJson(input)) assert.deepEqual(first?.mended, undefined, 'JSON is not repaired');
    if (!first) return false;
    assert.deepEqual(JSON.parse(first.text), first.message, 'the repaired text is the message');
    const again = decodePayload(first.text);
    assert.deepEqual([again.text, again.mended], [first.text, undefined], 'a repaired text needs no other repair');
    return true;
  },
};
