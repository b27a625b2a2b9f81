import { crc32, deflateRawSync } from 'node:zlib';

export const RESOURCES: Record<string, number> = {
  versionCode: 0x0101021b,
  versionName: 0x0101021c,
  versionCodeMajor: 0x01010576,
};
export function u16(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value & 0xffff, 2 * index);
  return bytes;
}

export function u32(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, 4 * index);
  return bytes;
}

const chunk = (type: number, head: Buffer, body: Buffer): Buffer =>
  Buffer.concat([u16(type, 8 + head.length), u32(8 + head.length + body.length), head, body]);

interface MadeAttribute {
  name: string;
  /** A text, a number, or a raw Res_value. */
  value: string | number | { type: number; data: number };
}

interface MadeDocument {
  root?: string;
  utf8?: boolean;
  attributes: MadeAttribute[];
  /** Chunks before the element. */
  before?: Buffer[];
  /** Replaces the resource map. */
  resources?: number[];
}

export function pool(strings: string[], utf8: boolean): Buffer {
  const length = (value: number): Buffer => {
    if (utf8) return value < 0x80 ? Buffer.from([value]) : Buffer.from([0x80 | (value >> 8), value & 0xff]);
    return value < 0x8000 ? u16(value) : u16(0x8000 | (value >> 16), value & 0xffff);
  };
  const parts = strings.map((text) => {
    const bytes = Buffer.from(text, utf8 ? 'utf8' : 'utf16le');
    const head = utf8 ? [length(text.length), length(bytes.length)] : [length(text.length)];
    return Buffer.concat([...head, bytes, Buffer.alloc(utf8 ? 1 : 2)]);
  });
  let at = 0;
  const offsets = parts.map((part) => {
    at += part.length;
    return at - part.length;
  });
  const padding = Buffer.alloc((4 - (at % 4)) % 4);
  const start = 28 + offsets.length * 4;
  return chunk(
    1,
    u32(strings.length, 0, utf8 ? 256 : 0, start, 0),
    Buffer.concat([u32(...offsets), ...parts, padding]),
  );
}

/** Android's binary XML with one element, made after ResourceTypes.h. */
export function makeDocument(made: MadeDocument): Buffer {
  const { root = 'manifest', utf8 = false, attributes, before = [] } = made;
  const known = attributes.filter(({ name }) => RESOURCES[name] !== undefined).map(({ name }) => name);
  const texts = attributes.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  // The strings of the resource map come first.
  const strings = [...new Set([...known, ...attributes.map(({ name }) => name), root, 'android', ...texts])];
  const at = (text: string): number => strings.indexOf(text);
  const resources = made.resources ?? strings.filter((text) => known.includes(text)).map((text) => RESOURCES[text]!);
  const rows = attributes.map(({ name, value }) => {
    const { type, data } =
      typeof value === 'string'
        ? { type: 3, data: at(value) }
        : typeof value === 'number'
          ? { type: 0x10, data: value }
          : value;
    const namespace = RESOURCES[name] === undefined ? 0xffffffff : at('android');
    return Buffer.concat([u32(namespace, at(name), 0xffffffff), u16(8), Buffer.from([0, type]), u32(data)]);
  });
  const element = Buffer.concat([u32(0xffffffff, at(root)), u16(20, 20, attributes.length, 0, 0, 0), ...rows]);
  const body = Buffer.concat([
    pool(strings, utf8),
    chunk(0x0180, Buffer.alloc(0), u32(...resources)),
    ...before,
    chunk(0x0102, u32(1, 0xffffffff), element),
    chunk(0x0103, u32(1, 0xffffffff), u32(0xffffffff, at(root))),
  ]);
  return chunk(3, Buffer.alloc(0), body);
}

export const makeChunk = chunk;

interface MadeFile {
  name: string;
  bytes: Buffer;
  stored?: boolean;
  /** Wrong values for the directory, to make a broken archive. */
  directory?: { packed?: number; unpacked?: number; crc?: number; offset?: number; flags?: number; method?: number };
  /** The name in the file's own header. */
  localName?: string;
}

/** A zip archive; with wrong values in it, if the caller gives some. */
export function makeZip(files: MadeFile[], end: { entries?: number; offset?: number; comment?: string } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, bytes, stored = false, directory: lies = {}, localName = name } of files) {
    const packed = stored ? bytes : deflateRawSync(bytes);
    const method = stored ? 0 : 8;
    const sums = u32(crc32(bytes), packed.length, bytes.length);
    const local = Buffer.concat([
      u32(0x04034b50),
      u16(20, 0, method, 0, 0),
      sums,
      u16(Buffer.byteLength(localName), 0),
      Buffer.from(localName),
      packed,
    ]);
    directory.push(
      u32(0x02014b50),
      u16(20, 20, lies.flags ?? 0, lies.method ?? method, 0, 0),
      u32(lies.crc ?? crc32(bytes), lies.packed ?? packed.length, lies.unpacked ?? bytes.length),
      u16(Buffer.byteLength(name), 0, 0, 0, 0),
      u32(0, lies.offset ?? at),
      Buffer.from(name),
    );
    parts.push(local);
    at += local.length;
  }
  const list = Buffer.concat(directory);
  const comment = Buffer.from(end.comment ?? '');
  const tail = [u32(0x06054b50), u16(0, 0, files.length & 0xffff, (end.entries ?? files.length) & 0xffff)];
  return Buffer.concat([...parts, list, ...tail, u32(list.length, end.offset ?? at), u16(comment.length), comment]);
}

const prefixed = (...parts: Buffer[]): Buffer => {
  const bytes = Buffer.concat(parts);
  return Buffer.concat([u32(bytes.length), bytes]);
};
const long = (value: number): Buffer => u32(value, 0);

/** The identifiers of the APK Signature Schemes. */
export const SCHEMES = { v2: 0x7109871a, v3: 0xf05368c0 } as const;

/**
 * The value of an APK Signature Scheme with signers that have these certificates. There are no signatures in it, so no
 * device accepts it; readers of the certificates do not mind.
 */
export const makeScheme = (signers: readonly (readonly Buffer[])[]): Buffer =>
  prefixed(
    ...signers.map((certificates) =>
      prefixed(prefixed(prefixed(), prefixed(...certificates.map((each) => prefixed(each)))), prefixed(), prefixed()),
    ),
  );

/** Puts an APK Signing Block with these pairs before the directory of a zip archive that has no comment. */
export function withSigningBlock(zip: Buffer, pairs: readonly { id: number; value: Buffer }[]): Buffer {
  const end = Buffer.from(zip.subarray(-22));
  const directory = end.readUInt32LE(16);
  const body = Buffer.concat(pairs.map(({ id, value }) => Buffer.concat([long(value.length + 4), u32(id), value])));
  const size = long(body.length + 24);
  const block = Buffer.concat([size, body, size, Buffer.from('APK Sig Block 42')]);
  end.writeUInt32LE(directory + block.length, 16);
  return Buffer.concat([zip.subarray(0, directory), block, zip.subarray(directory, -22), end]);
}

/** An APK that is signed with one certificate. */
export const signedApk = (apk: Buffer, certificate: string): Buffer =>
  withSigningBlock(apk, [{ id: SCHEMES.v2, value: makeScheme([[Buffer.from(certificate)]]) }]);

export const MANIFEST = 'AndroidManifest.xml';

/** An APK that has only a manifest, with these attributes. */
export const makeApk = (made: MadeDocument, file: Partial<MadeFile> = {}): Buffer =>
  makeZip([{ name: MANIFEST, bytes: makeDocument(made), ...file }]);
