import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { type ImportLine, readerOf } from '@lapel/schemas/imports/import-lines';
import { inPieces } from '../mutate.ts';
import type { FuzzedParser } from '../parser.ts';

const NO_NAMES = Object.getOwnPropertyNames(Object.prototype).length;

async function linesOf(type: string, pieces: readonly Buffer[]): Promise<ImportLine[]> {
  const lines: ImportLine[] = [];
  for await (const line of readerOf(type)!(Readable.from(pieces))) lines.push(line);
  return lines;
}

/** Reads a file as a whole and in pieces; no fault of the file throws. */
async function read(type: string, input: Buffer, pieces: readonly Buffer[]): Promise<ImportLine[]> {
  const lines = await linesOf(type, [input]);
  assert.deepEqual(await linesOf(type, pieces), lines, 'a file in pieces has the same lines');
  let before = 0;
  for (const { line } of lines) {
    assert.ok(line >= before, `line ${line} comes after line ${before}`);
    before = line;
  }
  assert.equal(Object.getOwnPropertyNames(Object.prototype).length, NO_NAMES, 'no name of a file changes all objects');
  return lines;
}

const isRead = (lines: readonly ImportLine[]): boolean => lines.length > 0 && lines.every((line) => 'value' in line);

const DEVICE = '353547070000099';
const CREDENTIAL = 'c'.repeat(32);

export const csv: FuzzedParser = {
  documents: [
    `deviceId\n${DEVICE}\n`,
    `\ufeffdeviceId,credential\r\n${DEVICE},${CREDENTIAL}\r\n\r\n${DEVICE},""\r\n`,
    `deviceId,hardwareProperties.model.name,hardwareProperties.model.sku\n${DEVICE},"a, ""b""\nü",1\n`,
    `deviceId,hardwareProperties\n${DEVICE},"{""model"":{""name"":""日本""}}"\n${DEVICE},\n`,
  ].map((text) => Buffer.from(text)),
  words: ['"', '""', ',', '\r', '\r\n', '\n', '\ufeff', '.', '__proto__', '.constructor.prototype.', '\0', '{"', '[['],
  read: async (input, random) => isRead(await read('text/csv', input, inPieces(input, random))),
};

export const ndjson: FuzzedParser = {
  documents: [
    `{"deviceId":"${DEVICE}"}\n{"deviceId":"${DEVICE}","credential":"${CREDENTIAL}"}\n`,
    `{"deviceId":"${DEVICE}","hardwareProperties":{"model":{"name":"日本 \\ud83d\\ude00"},"n":[1.5e3,null,true]}}\r\n\r\n{}`,
  ].map((text) => Buffer.from(text)),
  words: ['"', '\\', '\\ud800', '{', '[', '}', ']', '\n', '\ufeff', '"__proto__":', '1e999', '\0'],
  async read(input, random) {
    const lines = await read('application/x-ndjson', input, inPieces(input, random));
    const texts = input.toString('latin1').split('\n');
    for (const line of lines) {
      if (!('value' in line)) continue;
      const text = Buffer.from(texts[line.line - 1] ?? '', 'latin1').toString();
      assert.deepEqual(line.value, JSON.parse(text.replace(/^\ufeff/, '').trim()), 'a line is the JSON that it has');
    }
    return isRead(lines);
  },
};
