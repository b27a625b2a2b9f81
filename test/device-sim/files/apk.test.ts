import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import t from 'tap';
import { readManifest } from '../../../device-sim/files/android-manifest.ts';
import { readApk } from '../../../device-sim/files/apk.ts';

const apks = join(import.meta.dirname, '../../../demo/apks');

/** A zip archive of one entry, as an archiver writes it. */
function zip(name: string, content: Buffer, { comment = '', checksum = crc32(content), method = 8 } = {}): Buffer {
  const packed = method === 8 ? deflateRawSync(content) : content;
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(method, 4);
  common.writeUInt32LE(checksum, 10);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(content.length, 18);
  common.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, Buffer.alloc(14), Buffer.from(name)]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([local, central, end, Buffer.from(comment)]);
}

const words = (...values: number[]): Buffer => {
  const buffer = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    buffer.writeUInt32LE(value >>> 0, index * 4);
  });
  return buffer;
};
const chunk = (type: number, head: Buffer, body: Buffer): Buffer => {
  const size = 8 + head.length + body.length;
  return Buffer.concat([words(type | ((8 + head.length) << 16), size), head, body]);
};

/** A string pool in UTF-8, as newer tools write it. */
function pool(strings: readonly string[]): Buffer {
  const offsets: number[] = [];
  const data: Buffer[] = [];
  let at = 0;
  const length = (n: number): number[] => (n < 128 ? [n] : [0x80 | (n >> 8), n & 0xff]);
  for (const string of strings) {
    const bytes = Buffer.from(string);
    const entry = Buffer.from([...length(string.length), ...length(bytes.length), ...bytes, 0]);
    offsets.push(at);
    data.push(entry);
    at += entry.length;
  }
  const start = 28 + strings.length * 4;
  return chunk(1, words(strings.length, 0, 0x100, start, 0), Buffer.concat([words(...offsets), ...data]));
}

interface Attribute {
  name: number;
  type: number;
  data: number;
}

function manifest(strings: readonly string[], ids: readonly number[], attributes: readonly Attribute[]): Buffer {
  const none = 0xffffffff;
  const list = attributes.map(({ name, type, data }) => words(none, name, none, 8 | (type << 24), data));
  const element = chunk(
    0x102,
    words(1, none),
    Buffer.concat([words(none, 0, 20 | (20 << 16), attributes.length, 0), ...list]),
  );
  const parts = [pool(strings), chunk(0x180, Buffer.alloc(0), words(...ids)), element];
  return chunk(3, Buffer.alloc(0), Buffer.concat(parts));
}

const CODE = 0x0101021b;
const NAME = 0x0101021c;
const MAJOR = 0x01010576;
const VALID = manifest(
  ['', '', '', 'package', 'com.example.camera', `1.0-${'ü'.repeat(200)}`],
  [CODE, NAME, MAJOR],
  [
    { name: 3, type: 3, data: 4 },
    { name: 0, type: 0x10, data: 5 },
    { name: 1, type: 3, data: 5 },
  ],
);

for (const [name, version, versionCode] of [
  ['camera-1.0.0', '1.0.0', 1],
  ['camera-1.1.0', '1.1.0', 2],
  ['camera-claims-1.2.0-embeds-9.9.9', '9.9.9', 3],
] as const) {
  t.test(`${name}.apk is version ${version}, code ${versionCode}`, async (t) => {
    t.strictSame(await readApk(join(apks, `${name}.apk`)), { package: 'com.example.camera', version, versionCode });
  });
}

t.test('attributes are identified by their resource ids, with any names and lengths', async (t) => {
  const version = `1.0-${'ü'.repeat(200)}`;
  t.strictSame(readManifest(VALID), { package: 'com.example.camera', version, versionCode: 5 });
});

t.test('versionCodeMajor is the upper half of the version code', async (t) => {
  const attributes = [
    { name: 3, type: 3, data: 4 },
    { name: 0, type: 0x11, data: 0xffffffff },
    { name: 1, type: 3, data: 5 },
    { name: 2, type: 0x10, data: 2 },
  ];
  const document = manifest(['', '', '', 'package', 'a.b', '1'], [CODE, NAME, MAJOR], attributes);
  t.equal(readManifest(document).versionCode, 3 * 2 ** 32 - 1);
});

t.test('a stored manifest and a comment at the end are read', async (t) => {
  const file = join(t.testdir(), 'a.apk');
  for (const options of [{ method: 0 }, { comment: 'signed PK\x05\x06 by nobody, and for ever' }]) {
    writeFileSync(file, zip('AndroidManifest.xml', VALID, options));
    t.match(await readApk(file), { package: 'com.example.camera', versionCode: 5 });
  }
});

for (const [what, content, message] of [
  ['an empty file', Buffer.alloc(0), 'it is not a zip archive'],
  ['a text', Buffer.alloc(100_000, 'text'), 'it is not a zip archive'],
  ['an archive without a manifest', zip('classes.dex', VALID), 'it has no AndroidManifest.xml'],
  ['a manifest with another checksum', zip('AndroidManifest.xml', VALID, { checksum: 1 }), /is damaged/],
  ['a manifest packed in another way', zip('AndroidManifest.xml', VALID, { method: 12 }), /in an unknown way/],
  ['a manifest of text', zip('AndroidManifest.xml', Buffer.from('<manifest/>')), /not compiled XML/],
  ['a manifest that grows without end', zip('AndroidManifest.xml', Buffer.alloc(9 * 1024 * 1024)), /too large/],
  [
    'a manifest whose versionName is a resource',
    zip(
      'AndroidManifest.xml',
      manifest(
        ['', '', '', 'package', 'a.b'],
        [CODE, NAME],
        [
          { name: 3, type: 3, data: 4 },
          { name: 0, type: 0x10, data: 5 },
          { name: 1, type: 1, data: 0x7f010001 },
        ],
      ),
    ),
    /lacks package, versionName or versionCode/,
  ],
] as const) {
  t.test(`${what} is refused with a sentence`, async (t) => {
    const file = join(t.testdir(), 'a.apk');
    writeFileSync(file, content);
    await t.rejects(readApk(file), { message });
  });
}

t.test('whatever the fault in a file or a manifest, reading it ends with a result or an Error', async (t) => {
  const file = join(t.testdir(), 'a.apk');
  const whole = readFileSync(join(apks, 'camera-1.0.0.apk'));
  for (let length = 0; length < whole.length; length += 97) {
    writeFileSync(file, whole.subarray(0, length));
    await t.rejects(readApk(file), Error, `the first ${length} bytes`);
  }
  let read = 0;
  for (let at = 0; at < VALID.length; at += 1) {
    for (const value of [0, 0x7f, 0xff]) {
      const broken = Buffer.from(VALID);
      broken[at] = value;
      try {
        readManifest(broken);
        read += 1;
      } catch (error) {
        if (!(error instanceof Error)) t.fail(`byte ${at} as ${value}`);
      }
    }
  }
  t.ok(read > 0 && read < VALID.length * 3, 'some are still read');
});
