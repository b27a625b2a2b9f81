import { ApkError } from './apk-error.ts';

// Chunk and value types of Android's ResourceTypes.h.
const STRING_POOL = 0x0001;
const XML = 0x0003;
const START_NAMESPACE = 0x0100;
const START_ELEMENT = 0x0102;
const LAST_NODE = 0x017f;
const RESOURCE_MAP = 0x0180;
const UTF8 = 1 << 8;
const NONE = 0xffffffff;
const ATTRIBUTE_SIZE = 20;

// A root element has a dozen attributes. One may claim 65,535 of them, and have each look at another long string.
const MOST_ATTRIBUTES = 1000;

export interface Attribute {
  /** Without its namespace: the place of the name in the document's pool. Names of foreign attributes may be anything. */
  name: number;
  /** Whether it is in any namespace. */
  qualified: boolean;
  /** The identifier of an attribute that Android knows; 0 for others. This, not the name, is what Android goes by. */
  resource: number;
  /** Res_value: its type, and its data. */
  type: number;
  data: number;
}

/** The strings of a document. What is longer than wanted is not even decoded: a document may point to one a thousand times. */
interface StringPool {
  /** A string of `longest` units at most. Throws an ApkError when there is none, or a longer one. */
  text(index: number, longest: number): string;
  /** Whether the string is this one. Throws an ApkError when there is none. */
  is(index: number, text: string): boolean;
}

interface RootElement {
  /** The place of its name in the pool. */
  name: number;
  attributes: Attribute[];
  strings: StringPool;
}

const damaged = (what: string): ApkError => new ApkError('manifest_damaged', `the manifest is damaged: ${what}`);

/** Reads of little-endian numbers that never leave `bytes`. */
function reader(bytes: Buffer) {
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

interface Chunk {
  type: number;
  headerSize: number;
  bytes: Buffer;
}

/** The chunks from `start` to the end of `bytes`, each of them whole. */
function* chunksOf(bytes: Buffer, start: number): Generator<Chunk> {
  const { u16, u32, slice } = reader(bytes);
  for (let at = start; at < bytes.length; ) {
    const headerSize = u16(at + 2);
    const size = u32(at + 4);
    // A chunk is at least its header, so every turn moves forward.
    if (headerSize < 8 || size < headerSize) throw damaged('a chunk is smaller than its header');
    yield { type: u16(at), headerSize, bytes: slice(at, size) };
    at += size;
  }
}

/** Strings are read when they are asked for: a pool may claim any number of them. */
function readPool({ bytes, headerSize }: Chunk): StringPool {
  const { u8, u16, u32, slice } = reader(bytes);
  if (headerSize < 28) throw damaged('the head of the string pool is too small');
  const count = u32(8);
  const utf8 = (u32(16) & UTF8) !== 0;
  const start = u32(20);

  /** Where the string's bytes are, and how many units of UTF-16 they make. */
  function locate(index: number): { at: number; size: number; units: number } {
    if (index >= count) throw damaged('a string does not exist');
    let at = start + u32(headerSize + index * 4);
    /** A length of one unit, or of two when the first has its highest bit set. */
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
    // UTF-8 strings tell their length twice: in units of UTF-16, and in bytes.
    const size = utf8 ? length() : units * 2;
    if (utf8 && size > units * 3) throw damaged('a string has another length');
    return { at, size, units };
  }

  function text(index: number, longest: number): string {
    const { at, size, units } = locate(index);
    if (units > longest) throw new ApkError('too_large', `a string of the manifest is longer than ${longest}`);
    const decoded = decode(slice(at, size), utf8);
    if ((utf8 ? u8(at + size) : u16(at + size)) !== 0) throw damaged('a string has no end');
    if (decoded.length !== units) throw damaged('a string has another length');
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

/** Reads the root element of a document in Android's binary XML. Throws an ApkError for anything that is not one. */
export function readRootElement(document: Buffer): RootElement {
  const { u16, u32, slice } = reader(document);
  if (u16(0) !== XML || u16(2) < 8) throw damaged('it is no binary XML');
  const body = slice(0, u32(4));
  let pool: StringPool | undefined;
  let resources: number[] = [];
  for (const chunk of chunksOf(body, u16(2))) {
    if (chunk.type === STRING_POOL) {
      if (pool) throw damaged('it has two string pools');
      pool = readPool(chunk);
    } else if (chunk.type === RESOURCE_MAP) {
      const map = reader(chunk.bytes);
      const count = Math.floor((chunk.bytes.length - chunk.headerSize) / 4);
      resources = Array.from({ length: count }, (_, at) => map.u32(chunk.headerSize + at * 4));
    } else if (chunk.type === START_ELEMENT) {
      if (!pool) throw damaged('it has no string pool');
      return readElement(chunk, pool, resources);
    } else if (chunk.type > START_NAMESPACE && chunk.type <= LAST_NODE) {
      throw damaged('it does not begin with an element');
    }
  }
  throw damaged('it has no element');
}

function readElement(chunk: Chunk, strings: StringPool, resources: number[]): RootElement {
  const { u8, u16, u32 } = reader(chunk.bytes);
  const head = chunk.headerSize;
  const start = head + u16(head + 8);
  const size = u16(head + 10);
  const count = u16(head + 12);
  if (size < ATTRIBUTE_SIZE) throw damaged('its attributes are too small');
  if (count > MOST_ATTRIBUTES) throw new ApkError('too_large', 'the manifest has too many attributes');
  const attributes = Array.from({ length: count }, (_, index): Attribute => {
    const at = start + index * size;
    const name = u32(at + 4);
    return {
      name,
      qualified: u32(at) !== NONE,
      resource: resources[name] ?? 0,
      type: u8(at + 15),
      data: u32(at + 16),
    };
  });
  return { name: u32(head + 4), attributes, strings };
}
