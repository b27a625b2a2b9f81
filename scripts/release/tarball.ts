import { gzipSync } from 'node:zlib';

/** The files of a package, by their paths in it. */
export type Files = Map<string, Buffer>;

const BLOCK = 512;
/** The time of every file, in seconds since 1970: npm packs with the same one, so that equal files are equal bytes. */
const MTIME = 499_162_500;
const PREFIX = 'package/';

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;

/** Splits a path into the two fields that a header of ustar has for it. Throws when it fits into neither split. */
function splitName(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { name, prefix };
  }
  throw new Error(`${path} is too long for an archive`);
}

/** The header of a file in the format ustar (POSIX.1-1988). */
function headerOf(path: string, size: number, mode: number): Buffer {
  const { name, prefix } = splitName(path);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(MTIME, 12), 136);
  header.write(' '.repeat(8), 148); // the sum counts its own field as spaces
  header.write('0', 156); // an ordinary file
  header.write('ustar\x0000', 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/**
 * Packs files as npm does. Equal files give equal bytes: they are sorted, and no header has the time, the user or the
 * system of this machine. Files in `bin/` can be executed.
 */
export function tarball(files: Files): Buffer {
  const parts: Buffer[] = [];
  for (const path of [...files.keys()].sort()) {
    const content = files.get(path)!;
    parts.push(headerOf(PREFIX + path, content.length, path.startsWith('bin/') ? 0o755 : 0o644), content);
    parts.push(Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK));
  }
  parts.push(Buffer.alloc(2 * BLOCK));
  const packed = gzipSync(Buffer.concat(parts), { level: 9 });
  packed[9] = 255; // the system in the header of gzip (RFC 1952): unknown
  return packed;
}
