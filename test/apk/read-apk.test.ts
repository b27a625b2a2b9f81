import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MANIFEST, makeApk, makeChunk, makeDocument, makeZip } from '@lapel/device-sim/files/make-apk';
import { makeResources } from '@lapel/device-sim/files/make-resources';
import { ApkError, type ApkFault } from '@lapel/schemas/apk/apk-error';
import { readApk, readApkParts } from '@lapel/schemas/apk/read-apk';
import t, { type Test } from 'tap';

const APKS = join(import.meta.dirname, '../../tools/demo/apks');
const camera = (name: string): Buffer => readFileSync(join(APKS, `camera-${name}.apk`));
const GOOD = [
  { name: 'package', value: 'com.example.camera' },
  { name: 'versionCode', value: 7 },
  { name: 'versionName', value: '1.2.3' },
];
const ANSWER = { package: 'com.example.camera', versionCode: 7, versionName: '1.2.3' };
const without = (name: string) => GOOD.filter((each) => each.name !== name);

/** A file in memory that counts the bytes that are read. */
function fileOf(bytes: Buffer) {
  const spent = { reads: 0, bytes: 0 };
  return {
    spent,
    size: bytes.length,
    async read(start: number, end: number) {
      spent.reads += 1;
      spent.bytes += end - start + 1;
      return bytes.subarray(start, end + 1);
    },
  };
}
/** The manifest alone; signing-block.test.ts is about the certificates. */
async function manifestOf(file: Parameters<typeof readApk>[0]) {
  const { certificates: _, ...manifest } = await readApk(file);
  return manifest;
}
const read = (bytes: Buffer) => manifestOf(fileOf(bytes));
async function refused(t: Test, bytes: Buffer, reason: ApkFault, what: string): Promise<void> {
  await t.rejects(read(bytes), { name: 'ApkError', reason }, what);
}

await t.test('the identity of real APKs is read', async (t) => {
  const inside = { package: 'com.example.camera' };
  t.same(await read(camera('1.0.0')), { ...inside, versionName: '1.0.0', versionCode: 1 });
  t.same(await read(camera('1.1.0')), { ...inside, versionName: '1.1.0', versionCode: 2 });
  t.same(await read(camera('claims-1.2.0-embeds-9.9.9')), { ...inside, versionName: '9.9.9', versionCode: 3 });
});

/** An APK whose version name and code are references to the first two entries of the first type of its resources. */
const referring = (resources: Buffer): Buffer => {
  const reference = (entry: number) => ({ type: 1, data: 0x7f010000 + entry });
  const attributes = [
    { name: 'package', value: ANSWER.package },
    { name: 'versionName', value: reference(0) },
    { name: 'versionCode', value: reference(1) },
  ];
  return makeZip([
    { name: MANIFEST, bytes: makeDocument({ attributes }) },
    { name: 'resources.arsc', bytes: resources, stored: true },
  ]);
};

await t.test('versions that refer to resources are read from their table', async (t) => {
  const entries = { 0: '1.2.3', 1: 7, 9: 'other' };
  for (const layout of ['plain', 'sparse', 'short', 'compact'] as const)
    t.same(await read(referring(makeResources([{ entries, layout }]))), ANSWER, layout);
  const german = { entries: { 0: 'deutsch', 1: 8 }, qualified: true };
  t.same(await read(referring(makeResources([german, { entries }]))), ANSWER, 'of the default configuration');
  const to = (entry: number) => ({ type: 1, data: 0x7f020000 + entry });
  const chain = { 0: to(1), 1: to(2), 2: '1.2.3', 3: 7 };
  t.same(
    await read(referring(makeResources([{ entries: { 0: to(0), 1: to(3) } }, { entries: chain }]))),
    ANSWER,
    'through references',
  );
});

await t.test('what the table of resources does not tell is unread, and nothing else is', async (t) => {
  const endless = { type: 1, data: 0x7f010000 };
  const whole = makeResources([{ entries: { 0: '1.2.3', 1: 7 } }]);
  const tables: [table: Buffer, what: string][] = [
    [makeResources([{ entries: { 0: endless, 1: 7 } }]), 'a reference to itself'],
    [makeResources([{ entries: { 1: 7 } }]), 'no such entry'],
    [makeResources([{ entries: { 0: '1.2.3', 1: 7 }, qualified: true }]), 'not for all devices'],
    [makeResources([{ entries: { 0: '1.2.3', 1: 7 } }], 0x01), 'another package'],
    [whole.subarray(0, -1), 'cut off'],
    [Buffer.from('no table'), 'no table'],
    [Buffer.alloc(4 * 1024 ** 2 + 1), 'too large'],
  ];
  for (const [table, what] of tables) {
    const parts = await readApkParts(fileOf(referring(table)));
    t.equal(parts.package, ANSWER.package, what);
    t.match(
      parts.unread.versionName,
      { reason: 'unsupported', message: 'versionName is a reference to a resource' },
      what,
    );
    t.equal(parts.unread.manifest, undefined, what);
  }
});

await t.test('manifests are read in both encodings, packed and stored', async (t) => {
  const long = 'x'.repeat(200);
  const other = 'größer-日本-🎥';
  for (const utf8 of [false, true]) {
    for (const stored of [false, true]) {
      for (const versionName of ['1.2.3', long, other, '']) {
        const attributes = [...without('versionName'), { name: 'versionName', value: versionName }];
        t.same(await read(makeApk({ attributes, utf8 }, { stored })), { ...ANSWER, versionName });
      }
    }
  }
});

await t.test('attributes are identified by resource ids, as Android does', async (t) => {
  const major = [...GOOD, { name: 'versionCodeMajor', value: 2 }];
  t.same(await read(makeApk({ attributes: major })), { ...ANSWER, versionCode: 2 * 2 ** 32 + 7 });
  t.same(await read(makeApk({ attributes: [GOOD[0]!] })), {
    package: ANSWER.package,
    versionCode: 0,
    versionName: null,
  });
  t.same(
    await read(makeApk({ attributes: GOOD, resources: [] })),
    { package: ANSWER.package, versionCode: 0, versionName: null },
    'names alone mean nothing',
  );
  const hexadecimal = [...without('versionCode'), { name: 'versionCode', value: { type: 0x11, data: 0xffffffff } }];
  t.equal((await read(makeApk({ attributes: hexadecimal }))).versionCode, 0xffffffff);
});

await t.test('a manifest that is not one is refused', async (t) => {
  const cases: [string, ApkFault, Parameters<typeof makeDocument>[0]][] = [
    ['another root', 'manifest_damaged', { root: 'application', attributes: GOOD }],
    ['no package', 'manifest_damaged', { attributes: without('package') }],
    ['no name of a package', 'manifest_damaged', { attributes: [{ name: 'package', value: '../etc' }] }],
    ['a package as number', 'manifest_damaged', { attributes: [{ name: 'package', value: 1 }] }],
    ['a package too long', 'too_large', { attributes: [{ name: 'package', value: 'a'.repeat(256) }] }],
    ['an attribute twice', 'manifest_damaged', { attributes: [...GOOD, { name: 'versionName', value: '2' }] }],
    [
      'a version code as text',
      'manifest_damaged',
      { attributes: [...without('versionCode'), { name: 'versionCode', value: '7' }] },
    ],
    [
      'a version name as number',
      'manifest_damaged',
      { attributes: [...without('versionName'), { name: 'versionName', value: 1 }] },
    ],
    [
      'a reference',
      'unsupported',
      { attributes: [...without('versionName'), { name: 'versionName', value: { type: 1, data: 0x7f010001 } }] },
    ],
    [
      'a string that does not exist',
      'manifest_damaged',
      { attributes: [...without('versionName'), { name: 'versionName', value: { type: 3, data: 0xfffffffe } }] },
    ],
    [
      'a version code beyond reason',
      'too_large',
      { attributes: [...GOOD, { name: 'versionCodeMajor', value: 0x7fffffff }] },
    ],
    ['a chunk of no size', 'manifest_damaged', { attributes: GOOD, before: [Buffer.alloc(8)] }],
    [
      'a second string pool',
      'manifest_damaged',
      { attributes: GOOD, before: [makeChunk(1, Buffer.alloc(20), Buffer.alloc(0))] },
    ],
    [
      'an end before the beginning',
      'manifest_damaged',
      { attributes: GOOD, before: [makeChunk(0x0103, Buffer.alloc(8), Buffer.alloc(8))] },
    ],
  ];
  for (const [what, reason, made] of cases) await refused(t, makeApk(made), reason, what);
  const file = (bytes: Buffer): Buffer => makeZip([{ name: MANIFEST, bytes }]);
  await refused(t, file(Buffer.from('<manifest package="a"/>')), 'manifest_damaged', 'text');
  await refused(t, file(Buffer.alloc(0)), 'manifest_damaged', 'nothing');
  const document = makeDocument({ attributes: GOOD });
  for (let length = 0; length < document.length - 24; length += 1) {
    const cut = Buffer.from(document.subarray(0, length));
    await refused(t, file(cut), 'manifest_damaged', `cut at ${length}`);
    if (length < 8) continue;
    cut.writeUInt32LE(length, 4); // the same, with a document that states this short length
    await refused(t, file(cut), 'manifest_damaged', `shortened to ${length}`);
  }
});

await t.test('a manifest of half a megabyte of chunks and false lengths is refused at once', async (t) => {
  const many = Array.from({ length: 60_000 }, () => makeChunk(0x0999, Buffer.alloc(0), Buffer.alloc(0)));
  t.same(await read(makeApk({ attributes: GOOD, before: many })), ANSWER);
  const document = makeDocument({ attributes: GOOD });
  document.writeUInt32LE(0xffffffff, 8 + 8); // four thousand million strings
  t.same(await read(makeZip([{ name: MANIFEST, bytes: document }])), ANSWER);
});

await t.test('an archive with false values is refused', async (t) => {
  const good = { name: MANIFEST, bytes: makeDocument({ attributes: GOOD }) };
  const { length } = good.bytes;
  await refused(t, Buffer.alloc(0), 'not_an_archive', 'nothing');
  await refused(t, Buffer.alloc(100_000, 'PK'), 'not_an_archive', 'no archive');
  await refused(t, makeZip([]), 'manifest_missing', 'empty');
  await refused(t, makeZip([{ name: 'androidmanifest.xml', bytes: good.bytes }]), 'manifest_missing', 'another case');
  await refused(t, makeZip([good, good]), 'archive_damaged', 'two manifests');
  await refused(t, makeZip([{ ...good, localName: 'AndroidManifest.xmm' }]), 'archive_damaged', 'two names');
  for (const [what, directory] of Object.entries({
    'a wrong checksum': { crc: 1 },
    'a smaller size': { unpacked: length - 1 },
    'a larger size': { unpacked: length + 1 },
    'fewer packed bytes': { packed: 20 },
    'packed bytes beyond the directory': { packed: 2000 },
    'an offset into the middle': { offset: 10 },
    'an offset beyond the file': { offset: 0x7fffffff },
    'a wrong method': { method: 0 },
  })) {
    await refused(t, makeZip([{ ...good, directory }]), 'archive_damaged', what);
  }
  await refused(t, makeZip([{ ...good, directory: { flags: 1 } }]), 'unsupported', 'encrypted');
  await refused(t, makeZip([{ ...good, directory: { method: 12 } }]), 'unsupported', 'another compression');
  await refused(t, makeZip([{ ...good, directory: { packed: 0x40000000 } }]), 'too_large', 'a gigabyte, packed');
  await refused(t, makeZip([{ ...good, directory: { unpacked: 0x40000000 } }]), 'too_large', 'a gigabyte, unpacked');
  await refused(t, makeZip([good], { entries: 65_000 }), 'archive_damaged', 'more entries than there is room for');
  await refused(t, makeZip([good], { entries: 2 }), 'archive_damaged', 'an entry more');
  await refused(t, makeZip([good], { offset: 0xfffffff }), 'archive_damaged', 'a directory beyond the file');
  await refused(t, makeZip([good], { offset: 0 }), 'archive_damaged', 'a directory that is none');
  const bomb = makeZip([{ name: MANIFEST, bytes: Buffer.alloc(200_000_000), directory: { unpacked: 1000 } }]);
  t.ok(bomb.length < 1_000_000);
  const before = process.memoryUsage().rss;
  await refused(t, bomb, 'archive_damaged', 'a bomb that says that it is small');
  t.ok(process.memoryUsage().rss - before < 100e6, 'is not unpacked');
});

await t.test('a large APK takes few reads, wherever its manifest lies', async (t) => {
  const bytes = Buffer.alloc(30_000, 'x');
  const others = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ name: `res/drawable/${from + at}.png`, bytes, stored: true }));
  const manifest = { name: MANIFEST, bytes: makeDocument({ attributes: GOOD }) };
  const apk = makeZip([...others(0, 1500), manifest, ...others(1500, 1500)], { comment: 'c'.repeat(60_000) });
  t.ok(apk.length > 90e6);
  const file = fileOf(apk);
  t.same(await manifestOf(file), ANSWER);
  t.ok(file.spent.reads <= 5, `${file.spent.reads} reads`);
  t.ok(file.spent.bytes < 600_000, `${file.spent.bytes} bytes`);
});

await t.test(
  'a directory of 40,000 entries does not hold up others; one beyond the bound is refused unread',
  async (t) => {
    const empty = Buffer.alloc(0);
    const files = Array.from({ length: 40_000 }, (_, at) => ({ name: `assets/${at}`, bytes: empty, stored: true }));
    const apk = makeZip([...files, { name: MANIFEST, bytes: makeDocument({ attributes: GOOD }) }]);
    let turns = 0;
    let running = true;
    const count = (): void => {
      turns += 1;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    t.same(await read(apk), ANSWER);
    running = false;
    t.ok(turns > 100, `${turns} turns`);
    const large = fileOf(
      makeZip(files.slice(0, 30_000).map((file) => ({ ...file, name: file.name.padEnd(150, 'x') }))),
    );
    await t.rejects(readApk(large), { name: 'ApkError', reason: 'too_large' });
    t.ok(large.spent.bytes < 100_000);
  },
);

await t.test('a read error is not a fault of the file', async (t) => {
  const apk = camera('1.0.0');
  for (const failing of [1, 2]) {
    let reads = 0;
    const padded = makeZip([
      { name: 'padding', bytes: Buffer.alloc(300_000), stored: true },
      { name: MANIFEST, bytes: makeDocument({ attributes: GOOD }) },
      { name: 'more', bytes: Buffer.alloc(300_000), stored: true },
    ]);
    const read = async (start: number, end: number) => {
      reads += 1;
      if (reads === failing) throw new Error('the network is down');
      return padded.subarray(start, end + 1);
    };
    await t.rejects(readApk({ size: padded.length, read }), { name: 'Error', message: 'the network is down' });
  }
  const short = { size: apk.length + 10, read: async (start: number, end: number) => apk.subarray(start, end + 1) };
  await t.rejects(readApk(short), { name: 'ApkError', reason: 'not_an_archive' });
});

/** Asserts the right answer or an ApkError, and never more reads than the bound. */
async function survives(t: Test, bytes: Buffer, answer: object, what: string): Promise<'answer' | 'error'> {
  const file = fileOf(bytes);
  let outcome: 'answer' | 'error' = 'answer';
  try {
    const got = await manifestOf(file);
    if (!isDeepStrictEqual(got, answer)) t.same(got, answer, what);
  } catch (error) {
    outcome = 'error';
    if (!(error instanceof ApkError)) t.error(error, what);
  }
  if (file.spent.reads > 14 || file.spent.bytes > 8 * 1024 ** 2) t.fail(`${what}: ${JSON.stringify(file.spent)}`);
  return outcome;
}

for (const name of readdirSync(APKS)) {
  const apk = readFileSync(join(APKS, name));
  await t.test(`${name}, cut at every 37th byte, is refused`, async (t) => {
    const answer = await read(apk);
    for (let length = 0; length < apk.length; length += 37) {
      t.equal(await survives(t, apk.subarray(0, length), answer, `cut at ${length}`), 'error', `cut at ${length}`);
    }
    for (let start = 37; start < apk.length; start += 37) {
      await survives(t, apk.subarray(start), answer, `from ${start}`);
    }
  });

  await t.test(`${name} with flipped bits gives the right answer or is refused`, async (t) => {
    const answer = await read(apk);
    let seed = 20261120;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const outcomes = { answer: 0, error: 0 };
    for (let round = 0; round < 1000; round += 1) {
      const flipped = Buffer.from(apk);
      const flips = 1 + random(4);
      const where: string[] = [];
      for (let flip = 0; flip < flips; flip += 1) {
        // Half of the changes are in the directory, which is small and decides everything.
        const at = random(2) ? random(apk.length) : apk.length - 1 - random(500);
        const bit = random(8);
        flipped[at] = flipped[at]! ^ (1 << bit);
        where.push(`${at}.${bit}`);
      }
      outcomes[await survives(t, flipped, answer, where.join(' '))] += 1;
    }
    t.comment(outcomes);
    t.ok(outcomes.answer > 100 && outcomes.error > 100, 'both happen');
  });
}

await t.test('a manifest with flipped bits and a right checksum is read or refused quickly', async (t) => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  for (const utf8 of [false, true]) {
    const document = makeDocument({ attributes: GOOD, utf8 });
    for (let round = 0; round < 1000; round += 1) {
      const flipped = Buffer.from(document);
      for (let flip = random(4); flip >= 0; flip -= 1) flipped[random(flipped.length)]! ^= 1 << random(8);
      const startedAt = performance.now();
      try {
        const got = await read(makeZip([{ name: MANIFEST, bytes: flipped, stored: true }]));
        if (typeof got.package !== 'string' || !Number.isSafeInteger(got.versionCode)) t.fail(JSON.stringify(got));
      } catch (error) {
        if (!(error instanceof ApkError)) t.error(error);
      }
      if (performance.now() - startedAt > 1000) t.fail('took too long');
    }
  }
  t.pass('two thousand of them');
});
