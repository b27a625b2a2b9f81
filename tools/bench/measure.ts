import { type Measurement, runClosedLoop } from './closed-loop.ts';
import { diskFlushes } from './disk-flushes.ts';
import type { Figures } from './processes.ts';
import type { RunningTarget } from './running-target.ts';

export interface Options {
  /** The duration of each measurement, in seconds. */
  seconds: number;
  /** How often each figure is measured; the median counts. */
  rounds: number;
  devices: number;
  /** The numbers of callers at the same time; each number is measured separately. */
  callers: number[];
  /** The number of devices in a storm of connections. */
  fleet: number;
  /** The number of rows with which the database is filled. */
  rows: number;
  /** The folder in which the service writes a profile of its processor time; undefined: it writes none. */
  profile: string | undefined;
}

export interface Sample extends Measurement {
  /** Processor time of the service per loop, in microseconds; of all nodes together. */
  cpu: number;
  /** Processor time of the main threads alone per loop, in microseconds; of all nodes together. */
  mainCpu: number;
  /** Bytes that the service writes to disks per loop. */
  written: number;
  /** Commits per loop; NaN for a target that does not count them. */
  commits: number;
  /** How often the disk was told per loop to write its cache through, by this whole machine; NaN if the kernel does not tell. */
  flushes: number;
  /** Processor time of the database server per loop, in microseconds. */
  databaseCpu: number;
  /** Processor time of the balancer per loop, in microseconds. */
  balancerCpu: number;
  /** The share of commands that crossed from one node to another. */
  crossed: number;
}

/** Runs the closed loop and measures the processor time that it takes. */
export async function measureLoop(target: RunningTarget, callers: number, seconds: number): Promise<Sample> {
  const sum = (figure: (each: Figures) => number): number =>
    target.processes.reduce((total, each) => total + figure(each), 0);
  const read = () => ({
    service: sum((each) => each.cpuSeconds()),
    main: sum((each) => each.mainThreadSeconds()),
    written: sum((each) => each.writtenBytes()),
    database: target.databaseSeconds(),
    balancer: target.balancerSeconds?.() ?? 0,
    flushes: diskFlushes(),
  });
  const commitsBefore = await target.commits();
  const crossedBefore = (await target.crossed?.()) ?? 0;
  const before = read();
  const measured = await runClosedLoop(target, callers, seconds);
  const after = read(); // before the commits are read, because that takes processor time too
  const commits = (await target.commits()) - commitsBefore;
  const crossed = ((await target.crossed?.()) ?? 0) - crossedBefore;
  const microseconds = (spent: number): number => (spent / measured.loops) * 1e6;
  return {
    ...measured,
    cpu: microseconds(after.service - before.service),
    mainCpu: microseconds(after.main - before.main),
    written: (after.written - before.written) / measured.loops,
    commits: commits / measured.loops,
    flushes: (after.flushes - before.flushes) / measured.loops,
    databaseCpu: microseconds(after.database - before.database),
    balancerCpu: microseconds(after.balancer - before.balancer),
    crossed: crossed / measured.loops,
  };
}

/** The median of a figure; of an even number of samples, the higher of the two in the middle. */
export function medianOf<Of>(samples: readonly Of[], figure: (sample: Of) => number): number {
  const sorted = samples.map(figure).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
