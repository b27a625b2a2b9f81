import { statSync } from 'node:fs';
import { join } from 'node:path';
import { warmUp } from '../closed-loop.ts';
import { startLapel } from '../lapel-target.ts';
import { measureLoop, medianOf, type Options, type Sample } from '../measure.ts';
import type { Table } from '../report.ts';
import { deviceInTurn, fill } from './fill.ts';

/**
 * The number of digits behind `msg_0` in the ids of copied deliveries. It makes them sort before all new deliveries.
 */
const DIGITS = 11;

/** Measures the closed loop with many finished transactions and deliveries in the database, and with a new database. */
export async function runGrowth({ seconds, rounds, devices, callers, rows: count }: Options): Promise<Table> {
  await using stack = new AsyncDisposableStack();
  let bytes = 0;
  const empty = stack.adopt(await startLapel({ devices }), (target) => target.close());
  const full = stack.adopt(
    await startLapel({
      devices,
      fill(folder) {
        fill(folder, ({ database, copy }) => {
          const deviceId = deviceInTurn(database, '357');
          copy('transactions', count, { transaction_id: 'NULL', device_id: deviceId });
          copy('deliveries', count, {
            delivery_id: `'msg_0' || substr('${'0'.repeat(DIGITS)}' || n, -${DIGITS})`,
            device_id: deviceId,
          });
        });
        bytes = statSync(join(folder, 'lapel.db')).size;
      },
    }),
    (target) => target.close(),
  );
  await warmUp(empty);
  await warmUp(full);
  const rows = [];
  for (const number of callers) {
    const pairs: { empty: Sample; full: Sample }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push({ empty: await measureLoop(empty, number, seconds), full: await measureLoop(full, number, seconds) });
    }
    rows.push({
      callers: number,
      'new loops/s': Math.round(medianOf(pairs, (pair) => pair.empty.rate)),
      'full loops/s': Math.round(medianOf(pairs, (pair) => pair.full.rate)),
      'new cpu us/loop': Math.round(medianOf(pairs, (pair) => pair.empty.cpu)),
      'full cpu us/loop': Math.round(medianOf(pairs, (pair) => pair.full.cpu)),
      'start ms': Math.round(full.process.startMs),
      ratio: Number(medianOf(pairs, (pair) => pair.full.rate / pair.empty.rate).toFixed(2)),
    });
  }
  const size = `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  const about = `The closed loop on a database with ${count} finished transactions and their deliveries (${size}), and on a new database.`;
  return { name: 'Growth', about, rows };
}
