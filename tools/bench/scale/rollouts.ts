import { setTimeout as pause } from 'node:timers/promises';
import { warmUp } from '../closed-loop.ts';
import { call, type LapelTarget, startLapel } from '../lapel-target.ts';
import { measureLoop, medianOf, type Options, type Sample } from '../measure.ts';
import type { Row, Table } from '../report.ts';
import { activateAll, fill } from './fill.ts';

/** The most devices that a rollout may have. The fleet has a few more, which are connected. */
const DEVICES = 100_000;
const CONNECTED = 200;
/** As many as an application may have at work. */
const QUIET = 100;
/** The stable share of devices, in percent, that a quiet rollout has. */
const SHARE = 1;
const FAR = '2199-01-01T00:00:00Z';
const SOAK = { succeededPercent: 95, soakFor: 86_400 };

const pathOf = (target: LapelTarget, rest = ''): string => `${target.origins[0]}/v1/applications/bench/rollouts${rest}`;
const ask = async (
  target: LapelTarget,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, never>> => {
  const token = target.headers['authorization'] ?? '';
  return JSON.parse((await call(pathOf(target, path), { method, token, ...(body && { body }) })) || '{}') as never;
};

interface Pair {
  alone: Sample;
  beside: Sample;
}

const rowOf = (name: string, callers: number, pairs: readonly Pair[], more: Row = {}): Row => ({
  case: name,
  callers,
  'alone loops/s': Math.round(medianOf(pairs, ({ alone }) => alone.rate)),
  'loops/s': Math.round(medianOf(pairs, ({ beside }) => beside.rate)),
  ratio: Number(medianOf(pairs, ({ alone, beside }) => beside.rate / alone.rate).toFixed(2)),
  'alone cpu us/loop': Math.round(medianOf(pairs, ({ alone }) => alone.cpu)),
  'cpu us/loop': Math.round(medianOf(pairs, ({ beside }) => beside.cpu)),
  'creation s': '',
  ...more,
});

/** Rollouts that have begun, and wait for a day: each loop is a result, after which they might go on. */
async function besideQuiet(
  { seconds, rounds, devices, callers }: Options,
  stack: AsyncDisposableStack,
): Promise<Row[]> {
  const open = async () => stack.adopt(await startLapel({ devices, offline: 100, fill: active }), (one) => one.close());
  const [alone, beside] = [await open(), await open()];
  for (let count = 0; count < QUIET; count += 1)
    await ask(beside, 'POST', '', {
      operation: 'setLanguage',
      parameters: { lang: `de-x-${count}` },
      devices: { percent: SHARE },
      stages: [{ count: 1, continueWhen: SOAK, approval: true }],
    });
  await warmUp(alone);
  await warmUp(beside);
  const rows: Row[] = [];
  for (const number of callers) {
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round += 1)
      pairs.push({
        alone: await measureLoop(alone, number, seconds),
        beside: await measureLoop(beside, number, seconds),
      });
    rows.push(rowOf(`beside ${QUIET} quiet rollouts`, number, pairs));
  }
  return rows;
}

const active = (folder: string): void => fill(folder, ({ database }) => activateAll(database));

/** A rollout of as many devices as one may have, which is created while loops go on. */
async function besideCreation({ seconds, rounds, callers }: Options, stack: AsyncDisposableStack): Promise<Row[]> {
  const target = stack.adopt(
    await startLapel({
      devices: CONNECTED,
      offline: 1,
      fill: (folder) =>
        fill(folder, ({ database, copy }) => {
          copy('devices', DEVICES - CONNECTED - 1, {
            device_id: `'36' || substr('0000000000000' || CAST(n AS INTEGER), -13)`,
          });
          activateAll(database);
        }),
    }),
    (one) => one.close(),
  );
  await warmUp(target);
  const rows: Row[] = [];
  for (const number of callers) {
    const pairs: Pair[] = [];
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const alone = await measureLoop(target, number, seconds);
      const began = performance.now();
      let ended = 0;
      const created = ask(target, 'POST', '', {
        operation: 'setLanguage',
        parameters: { lang: 'de' },
        devices: {},
        startAt: FAR,
      }).then((answer) => {
        ended = performance.now();
        return answer;
      });
      const beside = await measureLoop(target, number, seconds);
      const { rolloutId } = await created;
      times.push((ended - began) / 1000);
      pairs.push({ alone, beside });
      await ask(target, 'DELETE', `/${rolloutId}`);
      while ((await ask(target, 'GET', `/${rolloutId}`))['state'] !== 'cancelled') await pause(100);
      await pause(2_000); // the devices of the rollout are cancelled in steps
    }
    const creation = medianOf(times, (time) => time);
    rows.push(
      rowOf(`while one of ${DEVICES} devices is created`, number, pairs, { 'creation s': creation.toFixed(1) }),
    );
  }
  return rows;
}

/** Measures the closed loop beside rollouts that do nothing, and while a large rollout is created. */
export async function runRollouts(options: Options): Promise<Table> {
  const rows: Row[] = [];
  for (const work of [besideQuiet, besideCreation]) {
    await using stack = new AsyncDisposableStack();
    rows.push(...(await work(options, stack)));
  }
  const about = `The closed loop beside rollouts of the same application. A creation that takes less time than a measurement is seen in a part of it only.`;
  return { name: 'Rollouts', about, rows };
}
