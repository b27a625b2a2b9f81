import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import t from 'tap';
import { createLog } from '../../../src/runtime/log.ts';
import { startWorld, WIFI } from '../../world.ts';

const MEBIBYTE = 1024 ** 2;
// Not in a folder of the tests: after a killed test the mounted disk would obstruct the next one.
const folder = mkdtempSync(join(tmpdir(), 'lapel-disk-'));
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', folder]).status === 0;
const skip = !mounted && 'a disk of its own cannot be mounted here (it takes root)';
t.teardown(() => {
  if (mounted) spawnSync('umount', ['-l', folder]);
  rmdirSync(folder);
});

t.test(
  'on a full disk callers get a Retry-After, the service is not ready, and it recovers by itself',
  { skip },
  async (t) => {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(...String(chunk).split('\n').filter(Boolean));
        done();
      },
    });
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const log = createLog({ level: 'warn', destination });
    const world = await startWorld(t, { database: 'sqlite', dataDir, log });
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    const put = () => tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
    const probe = async () => {
      const { status, body } = await world.anonymousAdmin().get('/readyz');
      return {
        status,
        reasons: (body.problems ?? []).map(({ part, reason }: Record<string, string>) => `${part}: ${reason}`),
      };
    };
    t.equal((await put()).status, 201);
    const filler = join(folder, 'filler');
    const descriptor = openSync(filler, 'w');
    let filled = 0;
    for (const block of [MEBIBYTE, 4096])
      try {
        for (;;) filled += writeSync(descriptor, Buffer.alloc(block, 1));
      } catch {
        // no further row of this size fits
      }
    closeSync(descriptor);

    let answer = await put();
    while (answer.status === 201) answer = await put();
    t.match(answer, { status: 503, headers: { 'retry-after': /^\d+$/, 'lapel-error-code': 'DATABASE_UNAVAILABLE' } });
    t.match(await probe(), { status: 503, reasons: [/^database: .*MiB/] }, 'from the first commit that failed on');
    for (let i = 0; i < 20; i += 1) t.equal((await put()).status, 503);
    const command = await device.link.command();
    device.link.puback(command.packet);
    device.link.publish('acks', { transactionId: command.transactionId, status: 'succeeded' });

    truncateSync(filler, filled - 2 * MEBIBYTE);
    t.match(await probe(), { status: 503 }, 'a little room is none');
    t.match(await probe(), { status: 503 });
    rmSync(filler);
    t.match(await probe(), { status: 200 }, 'there is room');
    answer = await put();
    t.equal(answer.status, 201);
    world.clock.advance(1_000);
    t.equal(
      (await device.link.next('puback')).messageId !== undefined,
      true,
      'what a device said waited, and is taken',
    );
    t.match((await tenant.event()).data.transaction, { transactionId: command.transactionId, status: 'succeeded' });
    const loud = lines.filter((line) => JSON.parse(line).level >= 50);
    t.match(loud, [/unavailable.*disk is full|disk is full.*unavailable/], 'one line of the log');
    t.equal(loud.length, 1);
  },
);
