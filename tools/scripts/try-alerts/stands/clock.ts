import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFleet, startPatrol, startReceiver, WIFI } from '../fleet.ts';
import { startDatabase } from '../postgres.ts';
import { createService } from '../service.ts';
import type { Stand } from '../stand.ts';

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
/** Attempts of a webhook until it is given up. */
const ATTEMPTS = 10;
/** Days from one attempt to the next one are at most these: a day, and a fifth by chance. */
const APART = 1.25;
/** More days than all attempts take. */
const AFTERWARDS = 15;

/**
 * A service whose clock can be set (Debian's package faketime): it is wrong, or days pass at once, so that webhooks are
 * given up, commands get old, and data should be removed.
 */
export async function moveClock({ folder, prometheus, faults }: Stand): Promise<void> {
  if (!existsSync(FAKETIME)) throw new Error(`${FAKETIME} is missing: apt-get install faketime`);
  const clock = join(folder, 'clock');
  // The user of the server must be able to read its file.
  const open = mkdtempSync(join(tmpdir(), 'lapel-clock-'));
  chmodSync(open, 0o755);
  const clockOfServer = join(open, 'clock');
  const variablesFor = (file: string) => ({
    LD_PRELOAD: FAKETIME,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1', // timers go on as they are
  });
  const set = (days: number, minutes = 0): void => writeFileSync(clock, `+${days * 1440 + minutes}m\n`);
  const setServer = (days: number): void => writeFileSync(clockOfServer, `+${days * 1440}m\n`, { mode: 0o644 });
  set(0);
  setServer(0);
  await using database = await startDatabase(variablesFor(clockOfServer));
  await using service = await createService({
    LAPEL_DATA_DIR: join(folder, 'data'),
    ...variablesFor(clock),
    ...database.env,
  });
  const fleet = createFleet(service.addresses);
  using receiver = await startReceiver();
  const { patrol, device, ...started } = await startPatrol(fleet, receiver);
  let { link } = started;
  const path = `/devices/${device.deviceId}/settings/wifi`;
  await prometheus.watch('lapel-clock', [service.target]);

  const at = async (days: number): Promise<void> => {
    await service.end('SIGTERM');
    set(days);
    setServer(days);
    await service.start();
  };
  await faults.try({
    alerts: ['LapelClockWrong', 'LapelClocksDiffer'],
    fault: 'the clock of the service is a minute ahead',
    make: () => set(0, 1),
    end: () => at(0), // the time of a process never goes back
  });

  await faults.try({
    alerts: ['LapelClockNotBelieved'],
    fault: 'the clock of the service leaps two days ahead of that of the database',
    make: () => set(2),
    end: () => at(0),
  });

  await faults.try({
    alerts: ['LapelCommandsOld', 'LapelWebhooksGivenUp'],
    fault: 'for eleven days a device is away, and a receiver answers 500',
    make: async () => {
      receiver.status = 500;
      link = await fleet.connect(device);
      await patrol.call('PUT', path, WIFI);
      const { transactionId, packet } = await link.command();
      link.puback(packet);
      await link.ack({ transactionId, status: 'succeeded' });
      await patrol.call('PUT', path, WIFI);
      await link.drop();
      for (let each = 1; each < ATTEMPTS; each += 1) {
        const attempts = receiver.requests;
        await at(each * APART);
        await receiver.hasMore(attempts);
      }
    },
    end: async () => {
      receiver.status = 204;
      link = await fleet.connect(device);
      const { transactionId, packet } = await link.command();
      link.puback(packet);
      await link.ack({ transactionId, status: 'succeeded' });
    },
  });

  let unlock = async (): Promise<void> => undefined;
  await faults.try({
    alerts: ['LapelRetentionBehind'],
    fault: 'a session that hangs has locked the transactions, so that those older than 90 days stay',
    make: async () => {
      await at(AFTERWARDS + 93);
      unlock = await database.lock('transactions', 'SHARE');
    },
    end: async () => {
      await unlock();
      await at(AFTERWARDS + 93);
    },
  });
  rmSync(open, { recursive: true, force: true });
}
