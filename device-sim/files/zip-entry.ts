import type { FileHandle } from 'node:fs/promises';
import { crc32, inflateRawSync } from 'node:zlib';

const END_SIGNATURE = 0x06054b50;
const CENTRAL_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const CENTRAL_BYTES = 46;
const LOCAL_BYTES = 30;
const LONGEST_COMMENT = 0xffff;
/** A directory of a hundred thousand entries has about this size. */
const LARGEST_DIRECTORY = 16 * 1024 * 1024;

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new Error('it ends too early');
    filled += bytesRead;
  }
  return buffer;
}

/**
 * Finds and reads the central directory. A record near the end of the file says where it is; a comment may follow that
 * record.
 */
async function readDirectory(handle: FileHandle, size: number): Promise<Buffer> {
  const start = Math.max(0, size - END_BYTES - LONGEST_COMMENT);
  const tail = await readExactly(handle, start, size - start);
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END_SIGNATURE) continue;
    // The comment must end where the file ends, or the signature is part of a comment.
    if (at + END_BYTES + tail.readUInt16LE(at + 20) !== tail.length) continue;
    const length = tail.readUInt32LE(at + 12);
    const offset = tail.readUInt32LE(at + 16);
    // This also refuses the markers of ZIP64: Android does not read such packages either.
    if (length > LARGEST_DIRECTORY || offset + length > start + at) throw new Error('its directory is out of bounds');
    return readExactly(handle, offset, length);
  }
  throw new Error('it is not a zip archive');
}

function* entries(directory: Buffer) {
  for (let at = 0; at + CENTRAL_BYTES <= directory.length; ) {
    if (directory.readUInt32LE(at) !== CENTRAL_SIGNATURE) throw new Error('its directory is broken');
    const nameEnd = at + CENTRAL_BYTES + directory.readUInt16LE(at + 28);
    yield {
      name: directory.toString('utf8', at + CENTRAL_BYTES, nameEnd),
      method: directory.readUInt16LE(at + 10),
      checksum: directory.readUInt32LE(at + 16),
      compressed: directory.readUInt32LE(at + 20),
      uncompressed: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    };
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
}

/**
 * Reads one file of a zip archive (APPNOTE 4.3), stored or deflated, at most `limit` bytes of it. Reads only the
 * directory and that file. Throws an Error that names the fault of the archive.
 */
export async function readZipEntry(handle: FileHandle, name: string, limit: number): Promise<Buffer> {
  const { size } = await handle.stat();
  if (size < END_BYTES) throw new Error('it is not a zip archive');
  for (const entry of entries(await readDirectory(handle, size))) {
    if (entry.name !== name) continue;
    if (entry.compressed > limit || entry.uncompressed > limit) throw new Error(`its ${name} is too large`);
    const local = await readExactly(handle, entry.offset, LOCAL_BYTES);
    if (local.readUInt32LE(0) !== LOCAL_SIGNATURE) throw new Error(`its ${name} is not where the directory says`);
    const data = entry.offset + LOCAL_BYTES + local.readUInt16LE(26) + local.readUInt16LE(28);
    const packed = await readExactly(handle, data, entry.compressed);
    if (entry.method !== 0 && entry.method !== 8) throw new Error(`its ${name} is packed in an unknown way`);
    const content = entry.method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: limit });
    if (content.length !== entry.uncompressed || crc32(content) !== entry.checksum) {
      throw new Error(`its ${name} is damaged`);
    }
    return content;
  }
  throw new Error(`it has no ${name}`);
}
