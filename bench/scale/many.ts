import { warmUp } from '../closed-loop.ts';
import { call, type LapelTarget, startLapel } from '../lapel-target.ts';
import { measureLoop, type Options, type Sample } from '../measure.ts';
import type { Table } from '../report.ts';
import { activateAll, deviceInTurn, fill } from './fill.ts';

const MOST = 100_000;
const OFFLINE_PREFIX = '357000005';
/** Seconds after the start of the service in which the commands expire. */
const EXPIRE_AFTER_SECONDS = 60;

interface Work {
  /** Begins the work of the service; returns its duration in milliseconds. */
  begin(target: LapelTarget): Promise<number>;
  /** The number of devices that it has still to be done for. */
  left(target: LapelTarget): Promise<number>;
}

const read = async <Body>(target: LapelTarget, path: string): Promise<Body> =>
  JSON.parse(
    await call(`${target.origins[0]}/v1/applications/bench${path}`, {
      method: 'GET',
      token: target.headers['authorization'] ?? '',
    }),
  );

/** Measures single calls alone, and then beside work for many devices. */
async function besideWork(
  { seconds, callers }: Options,
  target: LapelTarget,
  count: number,
  { begin, left }: Work,
): Promise<Table['rows']> {
  await warmUp(target);
  const rows: Table['rows'] = [];
  const alone = new Map<number, Sample>();
  for (const number of callers) alone.set(number, await measureLoop(target, number, seconds));
  const beganIn = await begin(target);
  for (let before = count, round = 0; before > 0 && rows.length < 2 * callers.length; round += 1) {
    const number = callers[round % callers.length] as number;
    const started = performance.now();
    const sample = await measureLoop(target, number, seconds);
    const now = await left(target);
    const elapsed = (performance.now() - started) / 1000;
    const own = alone.get(number) as Sample;
    // The last round is mostly without the work, and is left out.
    if (now > 0)
      rows.push({
        callers: number,
        'alone loops/s': Math.round(own.rate),
        'beside loops/s': Math.round(sample.rate),
        ratio: Number((sample.rate / own.rate).toFixed(2)),
        'alone p99 ms': Number(own.p99.toFixed(1)),
        'beside p99 ms': Number(sample.p99.toFixed(1)),
        'devices/s': Math.round((before - now) / elapsed),
      });
    before = now;
  }
  const memory = target.process.rssBytes();
  return rows.map((row) => ({ ...row, 'begun in ms': Math.round(beganIn), 'RSS MiB': Math.round(memory / 1024 ** 2) }));
}

/** Measures single calls while a rollout makes a command for each of many devices that are offline. */
export async function runRollout(options: Options): Promise<Table> {
  const count = Math.min(options.rows, MOST);
  await using stack = new AsyncDisposableStack();
  const fillWith = (folder: string): void => fill(folder, ({ database }) => activateAll(database));
  const target = stack.adopt(
    await startLapel({ devices: options.devices, offline: count - options.devices, fill: fillWith }),
    (one) => one.close(),
  );
  let rolloutId = '';
  const rows = await besideWork(options, target, count, {
    async begin({ origins, headers }) {
      const started = performance.now();
      const body = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };
      const url = `${origins[0]}/v1/applications/bench/rollouts`;
      const answer = await call(url, { method: 'POST', token: headers['authorization'] ?? '', body });
      rolloutId = (JSON.parse(answer) as { rolloutId: string }).rolloutId;
      return performance.now() - started;
    },
    async left() {
      const { counts } = await read<{ counts: { waiting: number } }>(target, `/rollouts/${rolloutId}`);
      return counts.waiting;
    },
  });
  const about = `The closed loop alone, and beside a rollout that makes commands for ${count} devices, nearly all of them offline.`;
  return { name: 'Rollout', about, rows };
}

/** Measures single calls while the commands of many devices expire at the same moment. */
export async function runExpiry(options: Options): Promise<Table> {
  const count = Math.min(options.rows, MOST);
  await using stack = new AsyncDisposableStack();
  let expiresAt = 0;
  const fillWith = (folder: string): void => {
    expiresAt = Date.now() + EXPIRE_AFTER_SECONDS * 1000;
    fill(folder, ({ database, copy }) => {
      activateAll(database);
      copy('transactions', count, {
        transaction_id: 'NULL',
        device_id: deviceInTurn(database, OFFLINE_PREFIX),
        operation: `'setWifi'`,
        parameters: `'{}'`,
        status: `'queued'`,
        due: '1',
        attempts: '0',
        delivered_at: 'NULL',
        completed_at: 'NULL',
        result: 'NULL',
        expires_at: String(expiresAt * 1000),
        ends_at: String(expiresAt * 1000),
      });
    });
  };
  const target = stack.adopt(await startLapel({ devices: options.devices, offline: count, fill: fillWith }), (one) =>
    one.close(),
  );
  const ended = async (): Promise<number> => {
    const text = await call(`${target.admin}/metrics`, { method: 'GET', token: target.root });
    return Number(/^lapel_transactions_ended_early_total\{code="EXPIRED"\} (\d+)/m.exec(text)?.[1] ?? 0);
  };
  const rows = await besideWork(options, target, count, {
    async begin() {
      const wait = expiresAt - Date.now();
      if (wait < 0) throw new Error('the commands expired before the measurement; give fewer --seconds or --callers');
      await new Promise((resolve) => setTimeout(resolve, wait));
      return 0;
    },
    left: async () => count - (await ended()),
  });
  const about = `The closed loop alone, and while ${count} commands for devices that are offline expire at the same moment.`;
  return { name: 'Expiry', about, rows };
}
