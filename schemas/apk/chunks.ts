import { ApkError } from './apk-error.ts';

// Of Android's ResourceTypes.h.
export const STRING_POOL = 0x0001;
const UTF8 = 1 << 8;

/**
 * The strings of a document. A string that is too long is not decoded, because a document may point to it a thousand times.
 */
export interface StringPool {
  /** Decodes the string at `index`. Throws an ApkError when it does not exist, or is longer than `longest` UTF-16 units. */
  text(index: number, longest: number): string;
  /** Whether the string at `index` equals `text`. Throws an ApkError when it does not exist. */
  is(index: number, text: string): boolean;
}

export const damaged = (what: string): ApkError => new ApkError('manifest_damaged', `the manifest is damaged: ${what}`);

/** Reads little-endian numbers from `bytes`; a read beyond their end throws an ApkError. */
export function reader(bytes: Buffer) {
  const within = (at: number, length: number): number => {
    if (at < 0 || at + length > bytes.length) throw damaged('it ends too early');
    return at;
  };
  return {
    u8: (at: number): number => bytes.readUInt8(within(at, 1)),
    u16: (at: number): number => bytes.readUInt16LE(within(at, 2)),
    u32: (at: number): number => bytes.readUInt32LE(within(at, 4)),
    slice: (at: number, length: number): Buffer => bytes.subarray(within(at, length), at + length),
  };
}

export interface Chunk {
  type: number;
  headerSize: number;
  bytes: Buffer;
}

/** Yields the chunks from `start` to the end of `bytes`. Throws an ApkError for a chunk that is cut off. */
export function* chunksOf(bytes: Buffer, start: number): Generator<Chunk> {
  const { u16, u32, slice } = reader(bytes);
  for (let at = start; at < bytes.length; ) {
    const headerSize = u16(at + 2);
    const size = u32(at + 4);
    // A chunk contains at least its header, so each pass of the loop moves forward.
    if (headerSize < 8 || size < headerSize) throw damaged('a chunk is smaller than its header');
    yield { type: u16(at), headerSize, bytes: slice(at, size) };
    at += size;
  }
}

/** Strings are decoded on demand, because a pool may claim any number of them. */
export function readPool({ bytes, headerSize }: Chunk): StringPool {
  const { u8, u16, u32, slice } = reader(bytes);
  if (headerSize < 28) throw damaged('the head of the string pool is too small');
  const count = u32(8);
  const utf8 = (u32(16) & UTF8) !== 0;
  const start = u32(20);

  /** Finds the position, the size (bytes) and the length (UTF-16 units) of the string at `index`. */
  function locate(index: number): { at: number; size: number; units: number } {
    if (index >= count) throw damaged('a string does not exist');
    let at = start + u32(headerSize + index * 4);
    /** Reads a length: one unit, or two when the highest bit of the first is set. */
    const length = (): number => {
      const [unit, size] = utf8 ? ([u8, 1] as const) : ([u16, 2] as const);
      const high = utf8 ? 0x80 : 0x8000;
      const first = unit(at);
      at += size;
      if ((first & high) === 0) return first;
      const second = unit(at);
      at += size;
      return (first & (high - 1)) * high * 2 + second;
    };
    const units = length();
    // UTF-8 strings state their length twice: in UTF-16 units, then in bytes.
    const size = utf8 ? length() : units * 2;
    if (utf8 && size > units * 3) throw damaged('a string does not have the length that it states');
    return { at, size, units };
  }

  function text(index: number, longest: number): string {
    const { at, size, units } = locate(index);
    if (units > longest)
      throw new ApkError('too_large', `a string of the manifest is longer than ${longest} UTF-16 units`);
    const decoded = decode(slice(at, size), utf8);
    if ((utf8 ? u8(at + size) : u16(at + size)) !== 0) throw damaged('a string has no end');
    if (decoded.length !== units) throw damaged('a string does not have the length that it states');
    return decoded;
  }

  return {
    text,
    is: (index, wanted) => locate(index).units === wanted.length && text(index, wanted.length) === wanted,
  };
}

function decode(bytes: Buffer, utf8: boolean): string {
  try {
    return new TextDecoder(utf8 ? 'utf-8' : 'utf-16le', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ApkError('manifest_damaged', 'a string of the manifest is not valid text', cause);
  }
}
