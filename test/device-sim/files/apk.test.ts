import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readApk } from '@lapel/device-sim/files/apk';
import { makeApk } from '@lapel/device-sim/files/make-apk';
import t from 'tap';

const apks = join(import.meta.dirname, '../../../tools/demo/apks');

for (const [name, version, versionCode] of [
  ['camera-1.0.0', '1.0.0', 1],
  ['camera-1.1.0', '1.1.0', 2],
  ['camera-claims-1.2.0-embeds-9.9.9', '9.9.9', 3],
] as const) {
  t.test(`${name}.apk is version ${version}, code ${versionCode}`, async (t) => {
    t.strictSame(await readApk(join(apks, `${name}.apk`)), { package: 'com.example.camera', version, versionCode });
  });
}

const unversioned = makeApk({
  attributes: [
    { name: 'package', value: 'com.example.camera' },
    { name: 'versionCode', value: 1 },
  ],
});
for (const [about, content, message] of [
  ['an empty file', Buffer.alloc(0), /not an archive|zip/i],
  ['a text', Buffer.alloc(100_000, 'text'), /not an archive|zip/i],
  ['a manifest without a versionName', unversioned, 'the manifest has no versionName'],
] as const) {
  t.test(`${about} is refused with a sentence`, async (t) => {
    const file = join(t.testdir(), 'a.apk');
    writeFileSync(file, content);
    await t.rejects(readApk(file), { message });
  });
}

t.test('a file that was cut is refused, wherever it was cut', async (t) => {
  const file = join(t.testdir(), 'a.apk');
  const whole = readFileSync(join(apks, 'camera-1.0.0.apk'));
  for (let length = 0; length < whole.length; length += 97) {
    writeFileSync(file, whole.subarray(0, length));
    await t.rejects(readApk(file), Error, `the first ${length} bytes`);
  }
  copyFileSync(join(apks, 'camera-1.0.0.apk'), file);
  t.match(await readApk(file), { version: '1.0.0' });
});
