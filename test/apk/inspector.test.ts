import { MANIFEST, makeApk, makeChunk, makeDocument, makeZip } from '@lapel/device-sim/files/make-apk';
import { ApkError } from '@lapel/schemas/apk/apk-error';
import { readApk } from '@lapel/schemas/apk/read-apk';
import t, { type Test } from 'tap';
import { createApkInspector } from '../../src/platform/apk/inspector.ts';
import { createFakeClock, type FakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';

const ATTRIBUTES = [
  { name: 'package', value: 'com.example.camera' },
  { name: 'versionName', value: '1.0.0' },
  { name: 'versionCode', value: 7 },
];
const FOUND = { package: 'com.example.camera', versionName: '1.0.0', versionCode: 7, certificates: [] };
const WHOLE = { ...FOUND, unread: {}, refusals: [] };
const sourceOf = (file: Buffer) => ({
  size: file.length,
  read: async (start: number, end: number) => file.subarray(start, end + 1),
});

/** The reason why a reading is refused. */
const refusal = (reading: Promise<unknown>): Promise<unknown> =>
  reading.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A manifest whose root has so many attributes, all with the same long name. */
function repeating(count: number): Buffer {
  const name = 'x'.repeat(30_000);
  const attributes = [...ATTRIBUTES, ...Array.from({ length: count }, () => ({ name, value: 1 }))];
  return makeZip([{ name: MANIFEST, bytes: makeDocument({ attributes, utf8: true }) }]);
}

void t.test('a long string that a manifest names a thousand times is not decoded once', async (t) => {
  const apk = repeating(900);
  t.ok(apk.length < 4000, 'a small file');
  const decode = TextDecoder.prototype.decode;
  let decoded = 0;
  TextDecoder.prototype.decode = function (bytes) {
    decoded += (bytes as Uint8Array).byteLength;
    return decode.call(this, bytes);
  };
  t.teardown(() => {
    TextDecoder.prototype.decode = decode;
  });
  t.same(await readApk(sourceOf(apk)), FOUND);
  t.ok(decoded < 1000, `${decoded} bytes were decoded`);
});

void t.test('a manifest with an absurd number of attributes is refused', async (t) => {
  t.match(await refusal(readApk(sourceOf(repeating(26_000)))), { reason: 'too_large' });
});

void t.test('the worker returns the content of a file, or the reason why it cannot be read', async (t) => {
  const inspect = createApkInspector({ clock: createFakeClock() });
  t.same(await inspect(sourceOf(makeApk({ attributes: ATTRIBUTES }))), WHOLE);
  const error = await refusal(inspect(sourceOf(Buffer.from('no archive'))));
  t.ok(error instanceof ApkError);
  t.match(error, { reason: 'not_an_archive' });
  const broken = { size: 5000, read: () => Promise.reject(new Error('the store is away')) };
  await t.rejects(inspect(broken), { message: 'the store is away' }, 'a fault of the store stays one');
});

/** A module that a worker runs instead. */
const moduleOf = (t: Test, text: string): URL => new URL(`file://${t.testdir({ 'worker.mjs': text })}/worker.mjs`);

/** Advances the clock when the worker has begun. */
async function advanceWhenArmed(clock: FakeClock, milliseconds: number): Promise<void> {
  await until(() => clock.timers() !== 0);
  clock.advance(milliseconds);
}

void t.test('a worker that never ends is terminated, and the service continues', async (t) => {
  const clock = createFakeClock();
  const inspect = createApkInspector({ clock, module: moduleOf(t, 'for (;;);') });
  const inspected = inspect(sourceOf(Buffer.alloc(10)));
  await advanceWhenArmed(clock, 5_000);
  t.match(await refusal(inspected), { reason: 'too_large', message: 'the file takes too long to read' });
});

void t.test('a worker that uses up its memory does not affect the service', async (t) => {
  const text = 'const all = []; for (;;) all.push(new Array(100_000).fill({}));';
  const inspect = createApkInspector({ clock: createFakeClock(), module: moduleOf(t, text) });
  t.match(await refusal(inspect(sourceOf(Buffer.alloc(10)))), { reason: 'too_large' });
});

void t.test('a slow store does not use up the time for the file', async (t) => {
  const clock = createFakeClock();
  const inspect = createApkInspector({ clock });
  const source = sourceOf(makeApk({ attributes: ATTRIBUTES }));
  const found = await inspect({
    size: source.size,
    read: (start, end) => {
      clock.advance(7_000);
      return source.read(start, end);
    },
  });
  t.same(found, WHOLE);
});

void t.test('a manifest that consists of chunks only is refused', async (t) => {
  const bytes = makeChunk(
    3,
    Buffer.alloc(0),
    Buffer.concat(Array(60_000).fill(makeChunk(0x0180, Buffer.alloc(0), Buffer.alloc(0)))),
  );
  t.match(await refusal(readApk(sourceOf(makeZip([{ name: MANIFEST, bytes }])))), { reason: 'manifest_damaged' });
});
