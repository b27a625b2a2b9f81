import { ApkError } from './apk-error.ts';
import { type Chunk, chunksOf, damaged, reader, readPool, STRING_POOL, type StringPool } from './chunks.ts';

// Chunk and value types of Android's ResourceTypes.h.
const XML = 0x0003;
const START_NAMESPACE = 0x0100;
const START_ELEMENT = 0x0102;
const LAST_NODE = 0x017f;
const RESOURCE_MAP = 0x0180;
const NONE = 0xffffffff;
const ATTRIBUTE_SIZE = 20;

// A real root element has a dozen attributes. A hostile one may claim 65,535 of them, each with another long string.
const MOST_ATTRIBUTES = 1000;

export interface Attribute {
  /** Index of the attribute's local name in the document's string pool. Names of foreign attributes may be any text. */
  name: number;
  /** Whether the attribute is in a namespace. */
  qualified: boolean;
  /**
   * Android's resource identifier of the attribute; 0 for foreign attributes. Android identifies attributes by it, not by
   * the name.
   */
  resource: number;
  /** The type and the data of the attribute's Res_value. */
  type: number;
  data: number;
}

interface RootElement {
  /** Index of the element's name in the string pool. */
  name: number;
  attributes: Attribute[];
  strings: StringPool;
}

/** Reads the root element of a document in Android's binary XML. Throws an ApkError when the document is anything else. */
export function readRootElement(document: Buffer): RootElement {
  const { u16, u32, slice } = reader(document);
  if (u16(0) !== XML || u16(2) < 8) throw damaged('it is not binary XML');
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
