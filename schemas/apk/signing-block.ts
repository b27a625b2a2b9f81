import { createHash } from 'node:crypto';
import { ApkError } from './apk-error.ts';
import type { BoundedSource } from './bounded-source.ts';

const MAGIC = Buffer.from('APK Sig Block 42', 'latin1');
/** The size of the block (8 bytes) and the magic, at its end. */
const FOOTER = 24;
/** The identifiers of the APK Signature Schemes v3 and v2, the newer one first. */
const SCHEMES = [0xf05368c0, 0x7109871a];
/** As many signers as Android accepts. */
const MOST_SIGNERS = 10;
// Blocks are padded to 4 KiB, and a store may add some hundred kilobytes of its own.
const LARGEST_BLOCK = 1024 ** 2;
/** The number of bytes before the directory that are read at first. They nearly always hold the whole block. */
const USUAL_BLOCK = 64 * 1024;

const damaged = (what: string): ApkError => new ApkError('archive_damaged', `the signing block is damaged: ${what}`);

/** Splits bytes into parts, each of them behind its length. */
class Parts {
  #rest: Buffer;

  constructor(bytes: Buffer) {
    this.#rest = bytes;
  }

  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  take(length: number): Buffer {
    if (length > this.#rest.length) throw damaged('a part is longer than the whole');
    const part = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return part;
  }

  /** The next part behind a length of 4 bytes. */
  next(): Parts {
    return new Parts(this.bytes());
  }

  bytes(): Buffer {
    return this.take(this.take(4).readUInt32LE(0));
  }

  rest(): Buffer {
    return this.take(this.#rest.length);
  }

  /** A length of 8 bytes, of which only the lower half may be used. */
  longLength(): number {
    const field = this.take(8);
    if (field.readUInt32LE(4) !== 0) throw damaged('a part is longer than the whole');
    return field.readUInt32LE(0);
  }
}

/** Reads the block before the directory; undefined when there is none, as in an APK that is signed with v1 only. */
async function readBlock(directory: number, source: BoundedSource): Promise<Buffer | undefined> {
  const usual = Math.min(directory, USUAL_BLOCK);
  if (usual < FOOTER) return undefined;
  const end = await source.part(directory - usual, usual);
  if (!end.subarray(-MAGIC.length).equals(MAGIC)) return undefined;
  const footer = end.subarray(-FOOTER);
  const size = footer.readUInt32LE(0); // without the first of the two fields that hold it
  if (footer.readUInt32LE(4) !== 0 || size > LARGEST_BLOCK)
    throw new ApkError('too_large', 'the signing block is too large');
  if (size < FOOTER || size + 8 > directory) throw damaged('its size is wrong');
  const block = size + 8 <= usual ? end.subarray(-size - 8) : await source.part(directory - size - 8, size + 8);
  if (block.readUInt32LE(0) !== size || block.readUInt32LE(4) !== 0) throw damaged('it has two sizes');
  return block.subarray(8, -FOOTER);
}

/** Finds the value of the newest scheme. */
function newestScheme(block: Buffer): Buffer | undefined {
  const found = new Map<number, Buffer>();
  for (const pairs = new Parts(block); !pairs.isEmpty; ) {
    const pair = new Parts(pairs.take(pairs.longLength()));
    const id = pair.take(4).readUInt32LE(0);
    if (!SCHEMES.includes(id)) continue;
    if (found.has(id)) throw damaged('a scheme comes twice');
    found.set(id, pair.rest());
  }
  return SCHEMES.map((id) => found.get(id)).find((value) => value !== undefined);
}

/** The certificate of each signer: the first one in its list. v2 and v3 are alike up to here. */
function certificatesOf(scheme: Buffer): string[] {
  const fingerprints: string[] = [];
  for (const signers = new Parts(scheme).next(); !signers.isEmpty; ) {
    if (fingerprints.length >= MOST_SIGNERS) throw damaged('it has too many signers');
    const signed = signers.next().next();
    signed.bytes(); // digests
    const certificate = signed.next().bytes();
    if (certificate.length === 0) throw damaged('a certificate is empty');
    fingerprints.push(createHash('sha256').update(certificate).digest('hex'));
  }
  return fingerprints.sort();
}

/**
 * Reads the SHA-256 of the certificates with which an APK is signed, as `apksigner verify --print-certs` prints them, in
 * their order as text; empty when the file has none of the schemes v2 and v3. It does not check the signature, which the
 * device does. The file may be hostile: the block is bounded and read once. Throws an ApkError for a block that contradicts
 * itself.
 */
export async function readCertificates(directory: number, source: BoundedSource): Promise<string[]> {
  const block = await readBlock(directory, source);
  const scheme = block && newestScheme(block);
  return scheme ? certificatesOf(scheme) : [];
}
