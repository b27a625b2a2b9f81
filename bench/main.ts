// npm run bench: the closed loop (REST call -> command -> ack -> webhook) against the floor, side by side in one run.
// Figures of one machine on one day mean little; the ratio in the last column is what counts.
import { parseArgs } from 'node:util';
import { type Measurement, runClosedLoop } from './closed-loop.ts';
import { type RunningTarget, startFloor, startLapel } from './targets.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    devices: { type: 'string', default: '200' },
    callers: { type: 'string', default: '1,8,64' },
    json: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const callerCounts = values.callers.split(',').map(Number);

const median = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

interface Sample extends Measurement {
  /** Processor time of the service per loop, in microseconds. */
  cpu: number;
}

async function measure(target: RunningTarget, callers: number): Promise<Sample> {
  const before = target.cpuSeconds();
  const measured = await runClosedLoop(target, callers, seconds);
  const loops = measured.rate * seconds;
  return { ...measured, cpu: ((target.cpuSeconds() - before) / loops) * 1e6 };
}

const rows = [];
{
  // Whatever happens, no process stays behind.
  await using stack = new AsyncDisposableStack();
  const open = async (target: Promise<RunningTarget>): Promise<RunningTarget> =>
    stack.adopt(await target, (running) => running.close());
  const floor = await open(startFloor(Number(values.devices)));
  const lapel = await open(startLapel(Number(values.devices)));
  await runClosedLoop(floor, 64, 2); // warm up both
  await runClosedLoop(lapel, 64, 2);
  for (const callers of callerCounts) {
    const pairs: { floor: Sample; lapel: Sample }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push({ floor: await measure(floor, callers), lapel: await measure(lapel, callers) });
    }
    const of = (side: 'floor' | 'lapel', figure: keyof Sample): number =>
      median(pairs.map((pair) => pair[side][figure]));
    rows.push({
      callers,
      'floor loops/s': Math.round(of('floor', 'rate')),
      'lapel loops/s': Math.round(of('lapel', 'rate')),
      'floor p50 ms': Number(of('floor', 'p50').toFixed(2)),
      'lapel p50 ms': Number(of('lapel', 'p50').toFixed(2)),
      'lapel p99 ms': Number(of('lapel', 'p99').toFixed(2)),
      'floor cpu us/loop': Math.round(of('floor', 'cpu')),
      'lapel cpu us/loop': Math.round(of('lapel', 'cpu')),
      ratio: Number(median(pairs.map((pair) => pair.lapel.rate / pair.floor.rate)).toFixed(2)),
    });
  }
}
if (values.json) console.log(JSON.stringify(rows));
else console.table(rows);
