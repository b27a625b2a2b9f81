import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Core } from '@lapel/device/core/core';
import { buildSync } from 'esbuild';
import t from 'tap';
import { SimulatedDisk } from './simulated-disk.ts';

const DEVICE = join(import.meta.dirname, '..', '..', 'device');
const README = readFileSync(join(DEVICE, 'README.md'), 'utf8');
const COMMANDS = 24;
const EVENTS = 200;
const ISSUED = '2026-11-20T09:29:00.000000Z';
const DAYS = 40;

/** A device over some days; the figures are those of the last one. */
function liveDays() {
  const disk = new SimulatedDisk();
  let [time, ids] = [Date.parse('2026-11-20T09:30:00.000Z'), 0];
  const core = new Core({
    disk,
    now: () => time,
    monotonic: () => time,
    newId() {
      ids += 1;
      return `01935f3a-7d2b-7011-8223-${String(ids).padStart(12, '0')}`;
    },
  });
  function carryOut(): void {
    for (let effects = core.take(); effects.length > 0; effects = core.take())
      for (const effect of effects) {
        if ('publish' in effect) core.confirmed(effect.token);
        if ('begin' in effect) core.finished({ result: { type: 'bluetooth', enabled: true } });
      }
  }
  let [writes, bytes, largest] = [0, 0, 0];
  const append = disk.append.bind(disk);
  disk.append = (line) => {
    append(line);
    writes += 1;
    bytes += line.length;
    largest = Math.max(largest, disk.read().length);
  };
  core.connected();
  for (let day = 0; day < DAYS; day += 1) {
    [writes, bytes] = [0, 0];
    for (let at = 0; at < EVENTS; at += 1) {
      time += 86_400_000 / EVENTS;
      core.event('custom.motion', { level: 3, place: 'front' });
      carryOut();
    }
    for (let at = 0; at < COMMANDS; at += 1) {
      const transactionId = 1_000_000 + day * COMMANDS + at;
      const command = {
        transactionId,
        operation: 'getConnectivityState',
        parameters: {},
        issuedAt: ISSUED,
        attempt: 1,
      };
      core.received('commands', JSON.stringify(command));
      carryOut();
    }
  }
  return { writes, bytes, largest };
}

const shown = (count: number): string => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');

t.test('the camera of docs/devices.md has at most 60 lines', async (t) => {
  const page = readFileSync(join(DEVICE, '..', 'docs', 'devices.md'), 'utf8');
  const [, program = ''] = /^## With the library$.*?^```ts\n(.*?)^```/ms.exec(page) ?? [];
  const lines = program.split('\n').length - 1;
  t.ok(lines > 0 && lines <= 60, `${lines} lines`);
});

t.test('the README says what the library costs', async (t) => {
  const { writes, bytes, largest } = liveDays();
  t.match(README, `${shown(writes)} writes`, 'writes of a day');
  t.match(README, `${shown(bytes / 1000)} kB a day`, 'bytes of a day');
  t.match(README, `${shown(largest / 1000)} kB at most`, 'the largest file');
  const { outputFiles } = buildSync({
    entryPoints: [join(DEVICE, 'index.ts')],
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    external: ['mqtt'],
    write: false,
  });
  t.match(README, `${shown((outputFiles[0]?.contents.length ?? 0) / 1000)} kB minified`, 'bytes of the library');
});
