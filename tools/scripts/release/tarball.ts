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

/** An entry of an archive; a folder has a slash at its end. */
interface Entry {
  path: string;
  content?: Buffer;
  mode: number;
  /** The target, if the entry is a symbolic link. */
  link?: string;
}

const typeOf = ({ path, link }: Entry): string => (link !== undefined ? '2' : path.endsWith('/') ? '5' : '0');

/** The header of an entry in the format ustar (POSIX.1-1988). It belongs to root. */
function headerOf(entry: Entry): Buffer {
  const { name, prefix } = splitName(entry.path);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write(octal(entry.mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(entry.content?.length ?? 0, 12), 124);
  header.write(octal(MTIME, 12), 136);
  header.write(' '.repeat(8), 148); // the sum counts its own field as spaces
  header.write(typeOf(entry), 156);
  header.write(entry.link ?? '', 157);
  header.write('ustar\x0000', 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Compresses bytes so that equal bytes give equal bytes, on every system. */
export function compressed(bytes: Buffer): Buffer {
  const packed = gzipSync(bytes, { level: 9 });
  packed[9] = 255; // the system in the header of gzip (RFC 1952): unknown
  return packed;
}

/** Packs entries in their order. Equal entries give equal bytes: no header has the time or the user of this machine. */
export function archiveOf(entries: readonly Entry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const { content = Buffer.alloc(0) } = entry;
    return [headerOf(entry), content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
  });
  return compressed(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]));
}

/** Packs files as npm does. Files in `bin/` can be executed. */
export const tarball = (files: Files): Buffer =>
  archiveOf(
    [...files.keys()].sort().map((path) => ({
      path: PREFIX + path,
      content: files.get(path)!,
      mode: path.startsWith('bin/') ? 0o755 : 0o644,
    })),
  );
