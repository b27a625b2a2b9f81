import type { Random } from '@lapel/device-sim/random';

/** The most bytes of an input: more than the 64 KiB above which several parsers take another way. */
const LONGEST = 96 * 1024;
const MOST_CHANGES = 4;
/** Numbers at which lengths and offsets of formats end, wrap or become negative. */
const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const SIZES = [1, 2, 4];

export const below = (random: Random, bound: number): number => Math.floor(random() * bound);
export const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;

/** A short slice is usual, but any length occurs. */
const lengthOf = (random: Random, most: number): number =>
  below(random, random() < 0.7 ? Math.min(most, 16) + 1 : most + 1);

type Change = (bytes: Buffer, random: Random, parts: Parts) => Buffer;

interface Parts {
  /** Valid documents, of which pieces are taken. */
  documents: readonly Buffer[];
  /** Short texts that mean something in the format. */
  words: readonly string[];
}

const replaced = (bytes: Buffer, at: number, length: number, by: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + length)]);

const flipBit: Change = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const at = below(random, changed.length);
  if (at < changed.length) changed[at] = (changed[at] as number) ^ (1 << below(random, 8));
  return changed;
};

const setNumber: Change = (bytes, random) => {
  const size = oneOf(random, SIZES);
  if (bytes.length < size) return bytes;
  const changed = Buffer.from(bytes);
  const value = (random() < 0.8 ? oneOf(random, EXTREMES) : below(random, 2 ** 32)) % 2 ** (8 * size);
  const at = below(random, changed.length - size + 1);
  if (random() < 0.5) changed.writeUIntLE(value, at, size);
  else changed.writeUIntBE(value, at, size);
  return changed;
};

const cut: Change = (bytes, random) => {
  const at = below(random, bytes.length + 1);
  return random() < 0.5
    ? bytes.subarray(0, at)
    : replaced(bytes, at, lengthOf(random, bytes.length - at), Buffer.alloc(0));
};

const repeat: Change = (bytes, random) => {
  const at = below(random, bytes.length + 1);
  const slice = bytes.subarray(at, at + lengthOf(random, bytes.length - at));
  const most = slice.length === 0 ? 0 : LONGEST / slice.length;
  const times = random() < 0.9 ? below(random, 8) : below(random, most);
  return replaced(bytes, at, 0, Buffer.concat(Array.from({ length: Math.min(times, most) }, () => slice)));
};

const splice: Change = (bytes, random, { documents }) => {
  const other = oneOf(random, documents);
  const from = below(random, other.length + 1);
  const piece = other.subarray(from, from + lengthOf(random, other.length - from));
  const at = below(random, bytes.length + 1);
  return replaced(bytes, at, random() < 0.5 ? piece.length : 0, piece);
};

const insertWord: Change = (bytes, random, { words }) => {
  if (words.length === 0) return setNumber(bytes, random, { documents: [], words });
  const word = oneOf(random, words);
  const times = random() < 0.95 ? 1 : below(random, LONGEST / word.length);
  const at = below(random, bytes.length + 1);
  return replaced(bytes, at, random() < 0.3 ? word.length : 0, Buffer.from(word.repeat(times)));
};

const CHANGES = [flipBit, flipBit, setNumber, setNumber, cut, repeat, splice, insertWord, insertWord];

/** One of the documents with one to four changes, at most LONGEST bytes. */
export function mutated(random: Random, parts: Parts): Buffer {
  let bytes = oneOf(random, parts.documents);
  for (let left = 1 + below(random, MOST_CHANGES); left > 0; left -= 1)
    bytes = oneOf(random, CHANGES)(bytes, random, parts).subarray(0, LONGEST);
  return bytes;
}

/** The bytes in pieces, as a network may deliver them; the pieces together are the bytes. */
export function inPieces(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  const longest = random() < 0.2 ? 3 : 1 + below(random, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    // Many pieces of a few bytes each would only take time.
    const length = 1 + below(random, Math.max(longest, bytes.length / 500));
    pieces.push(Buffer.from(bytes.subarray(at, at + length)));
    at += length;
  }
  return pieces;
}
