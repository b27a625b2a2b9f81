import { type Chunk, chunksOf, damaged, reader, readPool, STRING_POOL, type StringPool } from './chunks.ts';
import { REFERENCES, type Value } from './values.ts';

// Chunk types, flags and values of Android's ResourceTypes.h.
const TABLE = 0x0002;
const PACKAGE = 0x0200;
const TYPE = 0x0201;
const SPARSE = 1;
const OFFSETS_OF_16_BITS = 2;
const COMPLEX = 1;
const COMPACT = 8;
const NO_ENTRY = 0xffffffff;
const NO_ENTRY_OF_16_BITS = 0xffff;

/** The most references that are followed from one resource to the next. */
const DEEPEST = 8;

/** The place of the configuration in a chunk of a type. */
const CONFIGURATION = 20;

/** Whether the values of a type are those of every device: all of its configuration is zero. */
function isDefault({ bytes, headerSize }: Chunk): boolean {
  const { u32, slice } = reader(bytes);
  const size = Math.min(u32(CONFIGURATION), headerSize - CONFIGURATION);
  return slice(CONFIGURATION + 4, Math.max(0, size - 4)).every((byte) => byte === 0);
}

/** Finds where an entry lies in a chunk of its type; undefined without the entry. */
function placeOf({ bytes, headerSize }: Chunk, entry: number): number | undefined {
  const { u8, u16, u32 } = reader(bytes);
  const flags = u8(9);
  const count = u32(12);
  const start = u32(16);
  if ((flags & SPARSE) !== 0) {
    for (let index = 0; index < count; index += 1) {
      const at = headerSize + index * 4;
      if (u16(at) === entry) return start + u16(at + 2) * 4;
    }
    return undefined;
  }
  if (entry >= count) return undefined;
  if ((flags & OFFSETS_OF_16_BITS) !== 0) {
    const offset = u16(headerSize + entry * 2);
    return offset === NO_ENTRY_OF_16_BITS ? undefined : start + offset * 4;
  }
  const offset = u32(headerSize + entry * 4);
  return offset === NO_ENTRY ? undefined : start + offset;
}

function readValue({ bytes }: Chunk, at: number): Value {
  const { u8, u16, u32 } = reader(bytes);
  const flags = u16(at + 2);
  if ((flags & COMPACT) !== 0) return { type: flags >> 8, data: u32(at + 4) };
  if ((flags & COMPLEX) !== 0) throw damaged('a resource has no simple value');
  const value = at + u16(at);
  return { type: u8(value + 3), data: u32(value + 4) };
}

/**
 * Reads a resource table (`resources.arsc`). The returned function finds the value of a resource, as Android does for the
 * manifest: in the default configuration only, and through references to other resources. Each of its steps reads the table
 * once. Throws an ApkError when the table is damaged or does not have the value.
 */
export function readResourceTable(table: Buffer) {
  const { u16, u32, slice } = reader(table);
  if (u16(0) !== TABLE) throw damaged('its resources are no resource table');
  // A hostile table claims so many chunks that a list of them would fill the memory.
  const chunks = (): Generator<Chunk> => chunksOf(slice(0, u32(4)), u16(2));
  const pool = chunks().find(({ type }) => type === STRING_POOL);
  if (!pool) throw damaged('its resources have no texts');
  const strings: StringPool = readPool(pool);

  function find(resource: number): Value {
    const [packageId, typeId, entry] = [resource >>> 24, (resource >>> 16) & 0xff, resource & 0xffff];
    for (const one of chunks()) {
      if (one.type !== PACKAGE || reader(one.bytes).u32(8) !== packageId) continue;
      for (const chunk of chunksOf(one.bytes, one.headerSize)) {
        if (chunk.type !== TYPE || reader(chunk.bytes).u8(8) !== typeId || !isDefault(chunk)) continue;
        const at = placeOf(chunk, entry);
        if (at !== undefined) return readValue(chunk, at);
      }
    }
    throw damaged('a resource does not exist in the default configuration');
  }

  return (resource: number): { value: Value; strings: StringPool } => {
    let value = find(resource);
    for (let depth = 0; REFERENCES.includes(value.type); depth += 1) {
      if (depth === DEEPEST) throw damaged('a resource refers to too many others');
      value = find(value.data);
    }
    return { value, strings };
  };
}
