import { createRandom } from '../random.ts';

const CHUNK = 64 * 1024;
/** 64 KiB of noise. The first movie makes it and all movies share it; stamps distinguish two movies. */
let noise: Buffer | undefined;

function makeNoise(): Buffer {
  const random = createRandom(1);
  const bytes = Buffer.alloc(CHUNK);
  for (let at = 0; at < CHUNK; at += 4) bytes.writeUInt32BE(Math.floor(random() * 2 ** 32), at);
  return bytes;
}

/** A box of ISO/IEC 14496-12: its whole length, its type, its content. */
function box(type: string, content: Buffer, length = content.length + 8): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

/** The beginning of the file, which makes it a movie: without tracks, one second long. */
function opening(): Buffer {
  const header = Buffer.alloc(100);
  header.writeUInt32BE(1000, 12); // units a second
  header.writeUInt32BE(1000, 16); // duration
  header.writeUInt32BE(0x00010000, 20); // rate
  header.writeUInt16BE(0x0100, 24); // volume
  // The identity matrix: the picture is shown unchanged. Only its diagonal is not zero.
  header.writeUInt32BE(0x00010000, 36);
  header.writeUInt32BE(0x00010000, 52);
  header.writeUInt32BE(0x40000000, 68);
  header.writeUInt32BE(1, 96); // next track
  const brand = Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1');
  return Buffer.concat([box('ftyp', brand), box('moov', box('mvhd', header))]);
}

/** The size in bytes of a movie without any picture data. */
export const MOVIE_MIN = opening().length + 8;

/**
 * Makes a movie file of exactly `size` bytes, in pieces of at most 64 KiB. The same seed and size give the same file.
 * The file is well formed, but has noise instead of pictures.
 */
export function* movie({ size, seed }: { size: number; seed: number }): Generator<Buffer> {
  if (size < MOVIE_MIN) throw new RangeError(`a movie has at least ${MOVIE_MIN} bytes`);
  noise ??= makeNoise();
  const start = opening();
  let rest = size - start.length - 8;
  yield Buffer.concat([start, box('mdat', Buffer.alloc(0), rest + 8)]);
  const stamps = createRandom(seed);
  while (rest > 0) {
    const stamp = Buffer.alloc(8);
    stamp.writeUInt32BE(Math.floor(stamps() * 2 ** 32));
    stamp.writeUInt32BE(Math.floor(stamps() * 2 ** 32), 4);
    const piece = Buffer.concat([stamp, noise.subarray(8)]).subarray(0, rest);
    rest -= piece.length;
    yield piece;
  }
}
