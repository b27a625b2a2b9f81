/** The identity of a package, which a device needs before it installs it. */
export interface ApkIdentity {
  readonly package: string;
  /** `versionName`. */
  readonly version: string;
  /** Android's long version code: `versionCodeMajor` is in its upper 32 bits. */
  readonly versionCode: number;
}

/** The types of chunks in Android's binary XML, as its ResourceTypes.h defines them. */
const STRING_POOL = 0x0001;
const XML = 0x0003;
const START_ELEMENT = 0x0102;
const RESOURCE_MAP = 0x0180;
const UTF8 = 0x100;
const NOTHING = 0xffffffff;
const TYPE_STRING = 0x03;
const TYPE_DECIMAL = 0x10;
const TYPE_HEXADECIMAL = 0x11;

/** Attributes are identified by their resource ids, because their names may have been removed. `package` has no id. */
const VERSION_CODE = 0x0101021b;
const VERSION_NAME = 0x0101021c;
const VERSION_CODE_MAJOR = 0x01010576;

/** A length of one or two units; the highest bit of the first unit says whether there is a second one. */
function readLength(pool: Buffer, at: number, unit: 1 | 2): { length: number; next: number } {
  const read = (position: number): number => (unit === 1 ? pool.readUInt8(position) : pool.readUInt16LE(position));
  const bits = unit * 8;
  const first = read(at);
  const long = first >>> (bits - 1) === 1;
  const length = long ? (first & (2 ** (bits - 1) - 1)) * 2 ** bits + read(at + unit) : first;
  return { length, next: at + unit * (long ? 2 : 1) };
}

function createStrings(pool: Buffer): (index: number) => string | undefined {
  const count = pool.readUInt32LE(8);
  const utf8 = (pool.readUInt32LE(16) & UTF8) !== 0;
  const start = pool.readUInt32LE(20);
  const offsets = pool.readUInt16LE(2);
  return (index) => {
    if (index >= count) return undefined;
    const at = start + pool.readUInt32LE(offsets + index * 4);
    if (!utf8) {
      const { length, next } = readLength(pool, at, 2);
      return pool.toString('utf16le', next, next + length * 2);
    }
    // Two lengths: in characters, then in bytes.
    const { length, next } = readLength(pool, readLength(pool, at, 1).next, 1);
    return pool.toString('utf8', next, next + length);
  };
}

/** The chunks of a compiled XML document. */
function* chunks(document: Buffer) {
  if (document.length < 8 || document.readUInt16LE(0) !== XML) throw new Error('its manifest is not compiled XML');
  for (let at = document.readUInt16LE(2); at + 8 <= document.length; ) {
    const size = document.readUInt32LE(at + 4);
    if (size < 8 || at + size > document.length) throw new Error('its manifest is broken');
    yield { type: document.readUInt16LE(at), chunk: document.subarray(at, at + size) };
    at += size;
  }
}

/** The attributes of a start element: by resource id, or by name if there is no id. */
function readAttributes(
  element: Buffer,
  text: (index: number) => string | undefined,
  ids: readonly number[],
): Map<string | number, string | number> {
  const found = new Map<string | number, string | number>();
  const head = element.readUInt16LE(2);
  const start = head + element.readUInt16LE(head + 8);
  const size = element.readUInt16LE(head + 10);
  const count = element.readUInt16LE(head + 12);
  for (let index = 0; index < count; index += 1) {
    const at = start + index * size;
    const name = element.readUInt32LE(at + 4);
    const raw = element.readUInt32LE(at + 8);
    const type = element.readUInt8(at + 15);
    const data = element.readUInt32LE(at + 16);
    const key = ids[name] || text(name);
    const value =
      type === TYPE_STRING
        ? text(data)
        : type === TYPE_DECIMAL || type === TYPE_HEXADECIMAL
          ? data
          : raw === NOTHING
            ? undefined
            : text(raw);
    if (key !== undefined && value !== undefined) found.set(key, value);
  }
  return found;
}

/**
 * Reads package, versionName and versionCode from a compiled AndroidManifest.xml: they are attributes of its first
 * element. Throws an Error that names the fault; a versionName that refers to a resource is a fault, too.
 */
export function readManifest(document: Buffer): ApkIdentity {
  let text: ((index: number) => string | undefined) | undefined;
  let ids: number[] = [];
  for (const { type, chunk } of chunks(document)) {
    if (type === STRING_POOL) text = createStrings(chunk);
    if (type === RESOURCE_MAP) {
      ids = Array.from({ length: (chunk.length - 8) >>> 2 }, (_, index) => chunk.readUInt32LE(8 + index * 4));
    }
    if (type !== START_ELEMENT || !text) continue;
    const attributes = readAttributes(chunk, text, ids);
    const name = attributes.get('package');
    const version = attributes.get(VERSION_NAME);
    const minor = attributes.get(VERSION_CODE);
    const major = attributes.get(VERSION_CODE_MAJOR) ?? 0;
    if (typeof name !== 'string' || version === undefined || typeof minor !== 'number' || typeof major !== 'number') {
      throw new Error('its manifest lacks package, versionName or versionCode');
    }
    return { package: name, version: String(version), versionCode: major * 2 ** 32 + minor };
  }
  throw new Error('its manifest has no element');
}
