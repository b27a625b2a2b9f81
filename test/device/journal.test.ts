import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileDisk } from '@lapel/device/disk/file-disk';
import { Journal } from '@lapel/device/disk/journal';
import type { DiskRecord } from '@lapel/device/disk/records';
import t from 'tap';
import { until } from '../until.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const BOUNDS = { leastAnswers: 1000, mostAnswers: 10_000 };
const set = (name: string, value: unknown): DiskRecord => ({ k: 'set', name, value });
const contentOf = ({ memory: { answers, begun, events, settings, dropped, eventBytes } }: Journal): object => ({
  answers,
  begun,
  events,
  settings,
  dropped,
  eventBytes,
});
const settingsOf = ({ memory }: Journal): object => Object.fromEntries(memory.settings);

t.test('the file is lines with their CRC-32, which any language can read', async (t) => {
  const disk = new SimulatedDisk();
  const journal = new Journal(disk, BOUNDS);
  journal.write(set('lang', 'ja'));
  t.equal(disk.syncedBytes.toString(), 'lapel-device 1\nd8dfe4b5 [{"k":"set","name":"lang","value":"ja"}]\n');
});

t.test('a file that is not one of this library, or of a newer one, is left as it is', async (t) => {
  const path = join(t.testdir(), 'device');
  for (const text of ['{"answers":{}}', 'lapel-device 2\n', 'lapel-device 10\n']) {
    writeFileSync(path, text);
    const disk = new FileDisk(path);
    t.throws(() => new Journal(disk, BOUNDS), /not one of this library, or a newer version/);
    disk.close();
    t.equal(readFileSync(path, 'utf8'), text);
  }
});

t.test('a power cut at the first start leaves a file that starts', async (t) => {
  const path = join(t.testdir(), 'device');
  for (const text of ['', 'lapel-dev']) {
    writeFileSync(path, text);
    const disk = new FileDisk(path);
    new Journal(disk, BOUNDS).write(set('lang', 'ja'));
    disk.close();
    const again = new FileDisk(path);
    t.same(settingsOf(new Journal(again, BOUNDS)), { lang: 'ja' });
    again.close();
  }
});

t.test('after a write that failed in its middle the file goes on as if there had been none', async (t) => {
  const disk = new SimulatedDisk();
  const journal = new Journal(disk, BOUNDS);
  journal.write(set('one', 1));
  disk.before = (step) => {
    if (step === 'sync') throw new Error('no space left on the disk'); // the line is in the file, or a part of it
  };
  t.throws(() => journal.write(set('two', 2)), /no space/);
  t.same(settingsOf(journal), { one: 1 });
  disk.before = () => {};
  journal.write(set('three', 3));
  t.same(settingsOf(journal), { one: 1, three: 3 });
  const read = new Journal(disk.copy(), BOUNDS);
  t.same([settingsOf(read), read.damaged], [{ one: 1, three: 3 }, 0]);
});

t.test('a file that is much larger than its content is written anew, with all that counts', async (t) => {
  const path = join(t.testdir(), 'device');
  const disk = new FileDisk(path);
  const journal = new Journal(disk, { ...BOUNDS, rewriteAbove: 4096 });
  let largest = 0;
  for (let count = 1; count <= 500; count += 1) {
    journal.write(set('count', count), { k: 'begun', id: `${count} t`, at: count, operation: 'x' });
    journal.write({ k: 'progress', id: `${count} t`, value: { count } });
    journal.write({
      k: 'event',
      id: `e-${count}`,
      importance: 'low',
      message: { eventId: `e-${count}`, type: 'custom.a', occurredAt: 't', data: {} },
    });
    if (count < 490) journal.write({ k: 'told', id: `e-${count}` });
    largest = Math.max(largest, statSync(path).size);
    if (count > 3)
      journal.write({ k: 'answer', id: `${count} t`, at: count, ack: { transactionId: count, status: 'succeeded' } });
    if (count % 2 === 0) journal.write({ k: 'acked', id: `${count} t` });
  }
  journal.write({ k: 'dropped', count: 3, since: null });
  const before = contentOf(journal);
  disk.close();
  const again = new FileDisk(path);
  const read = new Journal(again, BOUNDS);
  t.same(contentOf(read), before);
  t.equal(read.memory.events.size, 11);
  t.equal(read.memory.answers.size, 497);
  t.same(read.memory.begun.get('3 t'), { at: 3, operation: 'x', progress: { count: 3 } });
  t.ok(largest < 2.5 * statSync(path).size + 8192, 'it never was much larger');
  again.close();
});

t.test('a rewrite that fails leaves the former file, which goes on', async (t) => {
  const disk = new SimulatedDisk();
  let replacements = 0;
  disk.before = (step) => {
    if (step !== 'replace') return;
    replacements += 1;
    if (replacements > 1) throw new Error('no space left on the disk');
  };
  const journal = new Journal(disk, { ...BOUNDS, rewriteAbove: 1000 });
  for (let count = 1; count <= 200; count += 1) journal.write(set('count', count));
  t.ok(replacements > 2 && replacements < 20, `${replacements} attempts`);
  t.same(settingsOf(new Journal(disk.copy(), BOUNDS)), { count: 200 });
});

t.test('the file that was to take the place of the other is removed after a power cut', async (t) => {
  const path = join(t.testdir(), 'device');
  writeFileSync(`${path}.new`, 'half of a file');
  const disk = new FileDisk(path);
  t.notOk(existsSync(`${path}.new`));
  t.throws(() => new FileDisk(path), /another device of this machine uses the file/);
  disk.close();
  new FileDisk(path).close();
});

t.test('the lock of a process that has ended holds nobody off', async (t) => {
  const path = join(t.testdir(), 'device');
  const ended = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim();
  for (const text of ['', ended, `${ended} 7`, `${process.pid} 1`]) {
    writeFileSync(`${path}.lock`, text);
    t.doesNotThrow(() => new FileDisk(path).close(), JSON.stringify(text));
  }
});

t.test('the lock of a process that was killed, and whose end nobody has asked for, holds nobody off', async (t) => {
  const path = join(t.testdir(), 'device');
  const kills = "import { FileDisk } from '@lapel/device/disk/file-disk'; new FileDisk(process.argv[1]);";
  const script = `${kills} process.kill(process.pid, 'SIGKILL');`;
  const shell = '"$0" --input-type=module -e "$1" "$2" & echo $!; exec sleep 300';
  const parent = spawn('sh', ['-c', shell, process.execPath, script, path]);
  t.teardown(() => parent.kill('SIGKILL'));
  const [pid] = (await once(parent.stdout, 'data')).map((chunk) => String(chunk).trim());
  const stat = (): string => (existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : 'gone');
  await until(() => / Z |gone/.test(stat()));
  t.match(stat(), / Z /, 'it is still in the table of processes');
  t.match(readFileSync(`${path}.lock`, 'utf8'), new RegExp(`^${pid} `));
  new FileDisk(path).close();
});

t.test('the lock of a process of another boot holds nobody off, with the same number and time', async (t) => {
  const path = join(t.testdir(), 'device');
  const disk = new FileDisk(path);
  const text = readFileSync(`${path}.lock`, 'utf8');
  disk.close();
  writeFileSync(`${path}.lock`, text);
  t.throws(() => new FileDisk(path), /another device of this machine/);
  writeFileSync(`${path}.lock`, text.replace(/-.*$/, '-another-boot'));
  new FileDisk(path).close();
});
