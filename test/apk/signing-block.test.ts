import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeApk, makeScheme, SCHEMES, withSigningBlock } from '@lapel/device-sim/files/make-apk';
import { readApk } from '@lapel/schemas/apk/read-apk';
import t from 'tap';

const APK = makeApk({ attributes: [{ name: 'package', value: 'com.example.camera' }] });
const [ONE, TWO] = [Buffer.from('certificate one'), Buffer.from('certificate two')];
const fingerprint = (certificate: Buffer): string => createHash('sha256').update(certificate).digest('hex');

/** The certificates, and the bytes and reads that it took. */
async function read(bytes: Buffer) {
  const spent = { reads: 0, bytes: 0 };
  const { certificates } = await readApk({
    size: bytes.length,
    async read(start, end) {
      spent.reads += 1;
      spent.bytes += end - start + 1;
      return bytes.subarray(start, end + 1);
    },
  });
  return { certificates, spent };
}
const v2 = (...signers: Buffer[][]) => ({ id: SCHEMES.v2, value: makeScheme(signers) });
const v3 = (...signers: Buffer[][]) => ({ id: SCHEMES.v3, value: makeScheme(signers) });
const padding = (length: number) => ({ id: 0x42726577, value: Buffer.alloc(length) });

t.test('the certificate of a real APK is the one that apksigner and openssl show', async (t) => {
  const apk = readFileSync(join(import.meta.dirname, '../../tools/demo/apks/camera-1.0.0.apk'));
  t.same((await read(apk)).certificates, ['130af62168b7b9de77a1e0208554c94c832fafcffb2d2737d4e95296e011cc2f']);
});

t.test('the signers of the newest scheme count, each with its first certificate', async (t) => {
  const rows: [title: string, pairs: Parameters<typeof withSigningBlock>[1], found: Buffer[]][] = [
    ['v2', [v2([ONE])], [ONE]],
    ['v3', [v3([ONE])], [ONE]],
    ['v3 before v2', [v2([ONE]), v3([TWO])], [TWO]],
    ['a chain of certificates', [v2([ONE, TWO])], [ONE]],
    ['two signers, in whatever order', [v2([TWO], [ONE])], [ONE, TWO]],
    ['between other pairs', [padding(4000), v2([ONE]), padding(0)], [ONE]],
    ['a block larger than usual', [padding(900_000), v2([ONE])], [ONE]],
  ];
  for (const [title, pairs, found] of rows) {
    const { certificates, spent } = await read(withSigningBlock(APK, pairs));
    t.same(certificates, found.map(fingerprint).sort(), title);
    t.ok(spent.reads <= 4, `${title}: ${spent.reads} reads`);
  }
});

t.test('an APK without such a block, or with one that contradicts itself, has no certificate', async (t) => {
  const good = withSigningBlock(APK, [v2([ONE])]);
  const at = good.indexOf('APK Sig Block 42');
  const changed = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(good);
    change(bytes);
    return bytes;
  };
  const length = (value: number): Buffer => Buffer.from(new Uint32Array([value]).buffer);
  const rows: [string, Buffer][] = [
    ['none', APK],
    ['another magic', changed((bytes) => bytes.write('X', at))],
    ['a size beyond the file', changed((bytes) => bytes.writeUInt32LE(0x7fffffff, at - 8))],
    ['a size of 8 bytes', changed((bytes) => bytes.writeUInt32LE(1, at - 4))],
    ['a size that is too small', changed((bytes) => bytes.writeUInt32LE(8, at - 8))],
    ['two sizes', changed((bytes) => bytes.writeUInt32LE(bytes.readUInt32LE(at - 8) - 8, at - 8))],
    ['only pairs of others', withSigningBlock(APK, [padding(10)])],
    ['a scheme twice', withSigningBlock(APK, [v2([ONE]), v2([TWO])])],
    ['no signers', withSigningBlock(APK, [v2()])],
    ['a signer without a certificate', withSigningBlock(APK, [v2([])])],
    ['an empty certificate', withSigningBlock(APK, [v2([Buffer.alloc(0)])])],
    ['eleven signers', withSigningBlock(APK, [v2(...Array.from({ length: 11 }, () => [ONE]))])],
    ['a length beyond the scheme', withSigningBlock(APK, [{ id: SCHEMES.v2, value: length(0xffffffff) }])],
    ['more than a megabyte', withSigningBlock(APK, [padding(1024 ** 2), v2([ONE])])],
  ];
  for (const [title, bytes] of rows) t.same((await read(bytes)).certificates, [], title);
});

t.test('a block of eighty thousand pairs, and blocks with flipped bits, are read in few reads', async (t) => {
  const many = withSigningBlock(APK, [...Array.from({ length: 80_000 }, () => padding(0)), v2([ONE])]);
  t.same((await read(many)).certificates, [fingerprint(ONE)]);
  const good = withSigningBlock(APK, [padding(50), v2([ONE], [TWO]), v3([ONE])]);
  // The block begins where the directory of the file without it begins.
  const [from, to] = [APK.readUInt32LE(APK.length - 6), good.indexOf('APK Sig Block 42')];
  let seed = 11;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const seen = new Set<number>();
  for (let round = 0; round < 3000; round += 1) {
    const flipped = Buffer.from(good);
    for (let flip = random(4); flip >= 0; flip -= 1) flipped[from + random(to - from)]! ^= 1 << random(8);
    const { certificates, spent } = await read(flipped);
    seen.add(certificates.length);
    if (certificates.some((text) => !/^[0-9a-f]{64}$/.test(text))) t.fail(JSON.stringify(certificates));
    if (spent.reads > 4) t.fail(`${spent.reads} reads`);
  }
  t.ok(seen.has(0) && seen.has(1), 'some are refused and some are read');
});
