import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { createServer, type IncomingMessage } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { createBodyBytes } from '../../../src/edge/http/body-bytes.ts';
import { JsonSlices } from '../../../src/edge/http/json-slices.ts';
import { BODY_LIMIT, FORM_LIMIT, readForm, readJson } from '../../../src/edge/http/read-body.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { inPieces, oneOf } from '../mutate.ts';
import type { FuzzedParser } from '../parser.ts';

/** Milliseconds after which a body counts as never read. */
const LONGEST_MS = 60_000;
const bytes = createBodyBytes({ metrics: createMetrics() });

type Reader = (request: IncomingMessage) => Promise<unknown>;
interface Outcome {
  value?: unknown;
  error?: unknown;
}

let reading: { reader: Reader; ended(outcome: Outcome): void } | undefined;
/** Node's own HTTP server, which gets its connections from memory: no port, and no wait. */
const server = createServer((request, response) => {
  const { reader, ended } = reading!;
  const end = (outcome: Outcome): void => {
    response.setHeader('connection', 'close').end();
    ended(outcome);
  };
  reader(request).then(
    (value) => end({ value }),
    (error: unknown) => end({ error }),
  );
});

const HEADS: readonly ((body: Buffer) => string)[] = [
  ({ length }) => `content-length: ${length}\r\n\r\n`,
  () => 'transfer-encoding: chunked\r\n\r\n',
];

/** Sends a body to a reader, at once or in pieces, with its length or without. */
async function send(body: Buffer, type: string, random: () => number, reader: Reader): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => reject(new Error('the body is not read to its end')), LONGEST_MS);
  reading = { reader, ended: resolve };
  const [ours, theirs] = duplexPair() as [Duplex, Duplex];
  server.emit('connection', theirs);
  const head = oneOf(random, HEADS)(body);
  const isChunked = head.startsWith('transfer');
  const pieces = random() < 0.5 ? [body] : inPieces(body, random);
  const framed = isChunked
    ? [
        ...pieces
          .filter(({ length }) => length > 0)
          .map((piece) => Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])),
        Buffer.from('0\r\n\r\n'),
      ]
    : pieces;
  const start = Buffer.from(`POST / HTTP/1.1\r\nhost: a\r\n${type}${head}`);
  const [first = Buffer.alloc(0), ...rest] = framed;
  ours.resume();
  ours.write(Buffer.concat([start, first]));
  for (const piece of rest) ours.write(piece);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    ours.destroy();
    theirs.destroy();
  }
}

const parsedText = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
};

const bounds = { source: 'fuzz', bytes };

/** An answer that is written in slices is the JSON of its object. */
function checkSlices(value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const parts: string[] = [];
  const slices = new JsonSlices(value as Record<string, unknown>).slices();
  for (let next = slices.next(); ; next = slices.next()) {
    parts.push(next.value);
    if (next.done) break;
  }
  assert.equal(parts.join(''), JSON.stringify(value), 'the slices are the whole');
}

const JSON_TYPES = ['', 'content-type: application/json\r\n', 'content-type: application/a+json; charset=x\r\n'];

/** Bodies of requests in JSON. */
export const json: FuzzedParser = {
  documents: [
    '{"deviceIds":["353547070000099"],"labels":{"ü":"日本"},"n":[0,-1.5e3,true,false,null]}',
    '[{"a":[[[[{}]]]]},"\\ud83d\\ude00\\n\\u0000"]',
    ` {"text":"${'x'.repeat(70_000)}"}\r\n`,
    '0',
  ].map((text) => Buffer.from(text)),
  words: [
    '"',
    '\\',
    '\\ud800',
    '{',
    '[',
    '}',
    ']',
    ',',
    '\ufeff',
    '"__proto__":',
    '"constructor":',
    '1e999',
    '-',
    '\0',
  ],
  async read(input, random) {
    const outcome = await send(input, oneOf(random, JSON_TYPES), random, (request) =>
      readJson(request, { ...bounds, limit: BODY_LIMIT }),
    );
    const expected = isUtf8(input) ? parsedText(input.toString()) : undefined;
    if (input.length === 0) {
      assert.deepEqual(outcome, { value: undefined }, 'no body is no value');
      return false;
    }
    if (expected === undefined) {
      const { error } = outcome;
      if (error === undefined) throw new Error('a body is accepted that JSON.parse refuses');
      if (!(error instanceof DomainError) || error.code !== 'REQUEST_INVALID') throw error;
      return false;
    }
    if (outcome.error !== undefined) throw outcome.error;
    assert.deepEqual(outcome.value, expected.value, 'a body has the value of its JSON');
    checkSlices(expected.value);
    return true;
  },
};

const FORM = 'content-type: application/x-www-form-urlencoded\r\n';

/** Forms, of which the token endpoint has one. */
export const form: FuzzedParser = {
  documents: ['grant_type=client_credentials&scope=svc%3Adevice%3Aread+a', 'a=b&a=%ff&%00=&=&&', 'ü=日本'].map((text) =>
    Buffer.from(text),
  ),
  words: ['&', '=', '%', '%00', '%ff', '+', '[', ']', '__proto__', '\ufeff', ';'],
  async read(input, random) {
    const { value, error } = await send(input, FORM, random, (request) =>
      readForm(request, { ...bounds, limit: FORM_LIMIT }),
    );
    if (input.length > FORM_LIMIT) {
      if (!(error instanceof DomainError) || error.code !== 'BODY_TOO_LARGE') throw error ?? new Error('no limit');
      return false;
    }
    if (error !== undefined) throw error;
    if (!isUtf8(input)) {
      assert.equal(value, undefined, 'a form is UTF-8');
      return false;
    }
    assert.deepEqual([...(value as URLSearchParams)], [...new URLSearchParams(input.toString())]);
    return true;
  },
};
