import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createRecorder, type Recorder } from '@lapel/device-sim/recording/recorder';
import { HIDDEN } from '@lapel/schemas/base/secret-names';
import t from 'tap';

const device = '350000000000006';

function recorderIn(folder: string, mostBytes?: number): { file: string; recorder: Recorder } {
  const file = join(folder, 'traffic.ndjson');
  let now = 100;
  const timers = {
    now: () => {
      now += 0.25;
      return now;
    },
    after: () => () => {},
  };
  return { file, recorder: createRecorder({ file, run: 'nightly', timers, ...(mostBytes && { mostBytes }) }) };
}
const linesOf = (file: string): Record<string, unknown>[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

t.test('a record has the messages of devices with their times, and nothing that is secret', async (t) => {
  const { file, recorder } = recorderIn(t.testdir());
  recorder.connected(device);
  const networks = [{ ssid: 'office', password: 'correct horse', security: 'WPA2' }];
  recorder.message(device, 'received', 'commands', Buffer.from(JSON.stringify({ parameters: { networks } })));
  const url = 'https://files.test/a.apk?X-Amz-Signature=correct';
  recorder.message(device, 'sent', 'events', JSON.stringify({ data: { url, note: 'token=horse', user: 'me' } }));
  recorder.message(device, 'sent', 'acks', Buffer.from([0xff, 0x63]));
  recorder.message(device, 'sent', 'acks', '{"password":"correct');
  recorder.disconnected(device, 'cut');
  t.equal(recorder.close(), `4 messages of devices are in ${file}`);
  const [head, ...lines] = linesOf(file);
  t.match(head, { record: 'device traffic', version: 1, run: 'nightly', startedAt: /Z$/ });
  t.strictSame(lines, [
    { at: 0.25, device, kind: 'connected' },
    {
      at: 0.5,
      device,
      kind: 'received',
      topic: 'commands',
      payload: { parameters: { networks: [{ ssid: 'office', password: HIDDEN, security: 'WPA2' }] } },
    },
    {
      at: 0.75,
      device,
      kind: 'sent',
      topic: 'events',
      payload: { data: { url: `https://files.test/a.apk?${HIDDEN}`, note: `token=${HIDDEN}`, user: HIDDEN } },
    },
    { at: 1, device, kind: 'sent', topic: 'acks' },
    { at: 1.25, device, kind: 'sent', topic: 'acks' },
    { at: 1.5, device, kind: 'disconnected', how: 'cut' },
  ]);
  t.notMatch(readFileSync(file, 'utf8'), /correct|horse/);
  t.equal(statSync(file).mode & 0o777, 0o600, 'only its owner can read it');
});

t.test('a record ends at its greatest size and says so', async (t) => {
  const { file, recorder } = recorderIn(t.testdir(), 1000);
  const text = JSON.stringify({ text: 'x'.repeat(200) });
  for (let n = 0; n < 50; n += 1) recorder.message(device, 'sent', 'events', text);
  t.match(recorder.close(), /^4 messages of devices are in .*\. The record ends early: .* greatest size, 1000 bytes$/);
  t.ok(statSync(file).size < 1500);
  t.match(linesOf(file).at(-1), { kind: 'full' });
});

t.test('a file that cannot be written is an error of the option, or ends the record', async (t) => {
  t.throws(() => recorderIn('/nowhere'), { message: /^--record: cannot write \/nowhere\/traffic\.ndjson: ENOENT/ });
  // Only Linux has a file that is always full.
  if (!existsSync('/dev/full')) return;
  const timers = { now: () => 0, after: () => () => {} };
  const full = createRecorder({ file: '/dev/full', run: 'nightly', timers });
  full.connected(device);
  t.match(full.close(), /^0 messages .* The record ends early: it cannot be written any more: ENOSPC/);
});
