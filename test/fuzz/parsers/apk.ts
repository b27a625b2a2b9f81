import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST, makeApk, makeDocument, makeZip } from '@lapel/device-sim/files/make-apk';
import { makeResources } from '@lapel/device-sim/files/make-resources';
import { ApkError, type ApkFault } from '@lapel/schemas/apk/apk-error';
import { type ApkManifest, readManifest } from '@lapel/schemas/apk/manifest';
import { readApk } from '@lapel/schemas/apk/read-apk';
import type { FuzzedParser } from '../parser.ts';

const FAULTS: ReadonlySet<string> = new Set<ApkFault>([
  'not_an_archive',
  'archive_damaged',
  'manifest_missing',
  'manifest_damaged',
  'too_large',
  'unsupported',
]);
const OF_MANIFESTS: ReadonlySet<string> = new Set<ApkFault>(['manifest_damaged', 'too_large', 'unsupported']);
/** The most reads and bytes of one file, as `read-apk.ts` has them. */
const MOST = { reads: 14, bytes: 8 * 1024 ** 2 };

const ATTRIBUTES = [
  { name: 'package', value: 'com.example.camera' },
  { name: 'versionCode', value: 7 },
  { name: 'versionCodeMajor', value: 1 },
  { name: 'versionName', value: '1.2.3-größer-日本' },
];
const BOTH = [false, true];
const long = [...ATTRIBUTES.slice(0, 3), { name: 'versionName', value: 'x'.repeat(200) }];
const manifests = BOTH.flatMap((utf8) => [
  makeDocument({ attributes: ATTRIBUTES, utf8 }),
  makeDocument({ attributes: long, utf8 }),
]);
const others = Array.from({ length: 20 }, (_, index) => ({ name: `res/${index}`, bytes: Buffer.from(`${index}`) }));
/** A real APK, with a signing block. */
const real = readFileSync(join(import.meta.dirname, '../../../tools/demo/apks/camera-1.0.0.apk'));
const referring = ATTRIBUTES.map(({ name, value }, index) =>
  index === 0 ? { name, value } : { name, value: { type: 1, data: 0x7f010000 + index } },
);
const values = { 1: 7, 2: 1, 3: '1.2.3' };
const resources = (layout: 'plain' | 'sparse' | 'short' | 'compact') => [
  { name: MANIFEST, bytes: makeDocument({ attributes: referring }), stored: true },
  { name: 'resources.arsc', bytes: makeResources([{ entries: values, layout }]), stored: true },
];
const archives = BOTH.flatMap((stored) => [
  makeApk({ attributes: ATTRIBUTES }, { stored }),
  makeZip([...others, { name: MANIFEST, bytes: manifests[2]!, stored }], { comment: 'a comment' }),
]);

/** Rethrows an error that is not one of the documented faults. */
function checkFault(error: unknown, faults: ReadonlySet<string>): false {
  if (error instanceof ApkError && faults.has(error.reason)) return false;
  throw error;
}

function written({ package: name, versionName, versionCode }: ApkManifest): Buffer {
  const major = Math.floor(versionCode / 2 ** 32);
  return makeDocument({
    attributes: [
      { name: 'package', value: name },
      { name: 'versionCode', value: versionCode % 2 ** 32 },
      { name: 'versionCodeMajor', value: major },
      ...(versionName === null ? [] : [{ name: 'versionName', value: versionName }]),
    ],
  });
}

function checkManifest(manifest: ApkManifest): true {
  assert.match(manifest.package, /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/);
  assert.deepEqual(readManifest(written(manifest)), manifest, 'a manifest that is written again is the same');
  return true;
}

/** Android's binary XML. */
export const axml: FuzzedParser = {
  documents: manifests,
  words: [],
  read(input) {
    let manifest: ApkManifest;
    try {
      manifest = readManifest(input);
    } catch (error) {
      return checkFault(error, OF_MANIFESTS);
    }
    return checkManifest(manifest);
  },
};

/** The archive around the binary XML, read in parts. */
export const apk: FuzzedParser = {
  documents: [
    ...archives,
    real,
    ...(['plain', 'sparse', 'short', 'compact'] as const).map((one) => makeZip(resources(one))),
  ],
  words: ['PK\u0001\u0002', 'PK\u0003\u0004', 'PK\u0005\u0006', 'PK\u0006\u0006', 'PK\u0006\u0007', MANIFEST],
  async read(input) {
    const spent = { reads: 0, bytes: 0 };
    const source = {
      size: input.length,
      async read(start: number, end: number) {
        spent.reads += 1;
        spent.bytes += end - start + 1;
        assert.ok(spent.reads <= MOST.reads && spent.bytes <= MOST.bytes, 'the reads of a file are bounded');
        assert.ok(start >= 0 && start <= end && end < input.length, `bytes ${start} to ${end} are within the file`);
        return input.subarray(start, end + 1);
      },
    };
    let manifest: ApkManifest;
    try {
      const { certificates, ...read } = await readApk(source);
      assert.ok(Array.isArray(certificates), 'certificates that cannot be read are none');
      manifest = read;
    } catch (error) {
      return checkFault(error, FAULTS);
    }
    return checkManifest(manifest);
  },
};
