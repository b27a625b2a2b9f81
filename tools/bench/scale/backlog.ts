import { Pool } from 'undici';
import { BODY } from '../closed-loop.ts';
import { type LapelTarget, startLapel } from '../lapel-target.ts';
import { medianOf, type Options } from '../measure.ts';
import type { Table } from '../report.ts';
import { activateAll, deviceInTurn, fill } from './fill.ts';

const OFFLINE = 10_000;
const OFFLINE_PREFIX = '357000005';
/** The service accepts no more unfinished commands for one device. */
const MOST_PER_DEVICE = 1000;

/**
 * Measures how many commands a second are accepted (201) for devices that are offline, for one device after another.
 */
async function accepted(target: LapelTarget, callers: number, seconds: number): Promise<number> {
  const pool = new Pool(target.origins[0] ?? '', { connections: callers, pipelining: 1 });
  const headers = { ...target.headers, 'content-type': 'application/json' };
  const began = performance.now();
  let count = 0;
  let turn = Math.floor(Math.random() * OFFLINE); // a random start spreads the rounds over all devices
  const caller = async (): Promise<void> => {
    while (performance.now() < began + seconds * 1000) {
      turn += 1;
      const path = target.path(target.offlineIds[turn % OFFLINE] as string);
      const answer = await pool.request({ method: 'PUT', path, headers, body: BODY });
      const text = await answer.body.text();
      if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${text}`);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const elapsed = (performance.now() - began) / 1000;
  await pool.close();
  return count / elapsed;
}

/** Measures how fast transactions are accepted while many wait for absent devices, and on a service without waiting ones. */
export async function runBacklog({ seconds, rounds, devices, callers, rows: count }: Options): Promise<Table> {
  const each = Math.min(Math.ceil(count / OFFLINE), MOST_PER_DEVICE / 2);
  await using stack = new AsyncDisposableStack();
  const open = async (waiting: number): Promise<LapelTarget> => {
    const fillWith = (folder: string): void =>
      fill(folder, ({ database, copy }) => {
        activateAll(database);
        if (waiting === 0) return;
        const deviceId = deviceInTurn(database, OFFLINE_PREFIX);
        copy('transactions', waiting, {
          transaction_id: 'NULL',
          device_id: deviceId,
          operation: `'setWifi'`,
          parameters: `'${JSON.stringify({ networks: JSON.parse(BODY) as object[] })}'`,
          status: `'queued'`,
          due: '1',
          attempts: '0',
          delivered_at: 'NULL',
          completed_at: 'NULL',
          result: 'NULL',
        });
      });
    return stack.adopt(await startLapel({ devices, offline: OFFLINE, fill: fillWith }), (target) => target.close());
  };
  const empty = await open(0);
  const waiting = await open(each * OFFLINE);
  const rows = [];
  await accepted(empty, 64, 1); // a short load first, so that both are compiled and cached
  await accepted(waiting, 64, 1);
  for (const number of callers) {
    const pairs: { empty: number; waiting: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push({
        empty: await accepted(empty, number, seconds),
        waiting: await accepted(waiting, number, seconds),
      });
    }
    rows.push({
      callers: number,
      'none waiting 201/s': Math.round(medianOf(pairs, (pair) => pair.empty)),
      'backlog 201/s': Math.round(medianOf(pairs, (pair) => pair.waiting)),
      ratio: Number(medianOf(pairs, (pair) => pair.waiting / pair.empty).toFixed(2)),
    });
  }
  const about = `Calls accepted a second, for ${OFFLINE} devices that are offline: with ${each} unfinished commands for each device, and with none.`;
  return { name: 'Backlog', about, rows };
}
