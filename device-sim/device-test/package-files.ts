import { createHash } from 'node:crypto';
import { MANIFEST, makeDocument, makeZip } from '../files/make-apk.ts';

/** A version of the test's package: an APK file, whose identity its manifest gives. */
export interface PackageFile {
  readonly package: string;
  readonly version: string;
  readonly bytes: Buffer;
}

export const PACKAGE = 'com.example.devicetest';
/** Large enough that a download is cut in its middle, not before its first packet. */
const FILLER_BYTES = 64 * 1024;

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Makes the files of a test; each has a higher version code than all before, also than those of earlier tests.
 * `now`: the Unix time in milliseconds.
 */
export function createPackageFiles(now: number): () => PackageFile {
  let made = 0;
  return () => {
    made += 1;
    const version = `1.0.${made}`;
    const attributes = [
      { name: 'package', value: PACKAGE },
      { name: 'versionCode', value: Math.floor(now / 1000) + made },
      { name: 'versionName', value: version },
    ];
    const filler = { name: 'assets/filler.bin', bytes: Buffer.alloc(FILLER_BYTES, made), stored: true };
    return {
      package: PACKAGE,
      version,
      bytes: makeZip([{ name: MANIFEST, bytes: makeDocument({ attributes }) }, filler]),
    };
  };
}

/** The same file with one other byte, in a part that no reader of the manifest looks at. */
export function spoilt({ bytes }: PackageFile): Buffer {
  const other = Buffer.from(bytes);
  const middle = other.length >> 1;
  other[middle] = ~other[middle]! & 0xff;
  return other;
}
