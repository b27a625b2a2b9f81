import { warmUp } from './closed-loop.ts';
import { startFloor } from './floor-target.ts';
import { startLapel } from './lapel-target.ts';
import { measureLoop, medianOf, type Options, type Sample } from './measure.ts';
import type { Table } from './report.ts';

/** Measures the closed loop of Lapel and of the floor, in turns. */
export async function runRing({ seconds, rounds, devices, callers, profile }: Options): Promise<Table> {
  await using stack = new AsyncDisposableStack(); // ends all processes, even after an error
  const floor = stack.adopt(await startFloor({ devices }), (target) => target.close());
  const lapel = stack.adopt(await startLapel({ devices, profile }), (target) => target.close());
  await warmUp(floor);
  await warmUp(lapel);
  const rows = [];
  for (const count of callers) {
    const pairs: { floor: Sample; lapel: Sample }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push({
        floor: await measureLoop(floor, count, seconds),
        lapel: await measureLoop(lapel, count, seconds),
      });
    }
    const of = (side: 'floor' | 'lapel', figure: keyof Sample): number => medianOf(pairs, (pair) => pair[side][figure]);
    rows.push({
      callers: count,
      'floor loops/s': Math.round(of('floor', 'rate')),
      'lapel loops/s': Math.round(of('lapel', 'rate')),
      'floor p50 ms': Number(of('floor', 'p50').toFixed(2)),
      'lapel p50 ms': Number(of('lapel', 'p50').toFixed(2)),
      'lapel p99 ms': Number(of('lapel', 'p99').toFixed(2)),
      'floor cpu us/loop': Math.round(of('floor', 'cpu')),
      'lapel cpu us/loop': Math.round(of('lapel', 'cpu')),
      'floor main us/loop': Math.round(of('floor', 'mainCpu')),
      'lapel main us/loop': Math.round(of('lapel', 'mainCpu')),
      'floor bytes/loop': Math.round(of('floor', 'written')),
      'lapel bytes/loop': Math.round(of('lapel', 'written')),
      'lapel commits/loop': Number(of('lapel', 'commits').toFixed(2)),
      ratio: Number(medianOf(pairs, (pair) => pair.lapel.rate / pair.floor.rate).toFixed(2)),
    });
  }
  return {
    name: 'The ring',
    about:
      'REST call, command, acknowledgement, verified webhook, next call; the floor is the same loop without rules.',
    rows,
  };
}
