import { type Measurement, runClosedLoop } from './closed-loop.ts';
import type { RunningTarget } from './running-target.ts';

export interface Options {
  /** Of each measurement. */
  seconds: number;
  /** Measurements of each figure, of which the median counts. */
  rounds: number;
  devices: number;
  /** Numbers of callers. */
  callers: number[];
  /** Devices of a storm. */
  fleet: number;
  /** Rows that the database is filled with. */
  rows: number;
  /** Folder for the profile of the service's processor time. */
  profile: string | undefined;
}

export interface Sample extends Measurement {
  /** Processor time of the service per loop, in microseconds; of all nodes together. */
  cpu: number;
  /** The same of the database server. */
  databaseCpu: number;
}

/** The closed loop, with the processor time that it takes. */
export async function measureLoop(target: RunningTarget, callers: number, seconds: number): Promise<Sample> {
  const used = (): number => target.processes.reduce((sum, each) => sum + each.cpuSeconds(), 0);
  const before = { service: used(), database: target.databaseSeconds() };
  const measured = await runClosedLoop(target, callers, seconds);
  const perLoop = (spent: number): number => (spent / (measured.rate * seconds)) * 1e6;
  return {
    ...measured,
    cpu: perLoop(used() - before.service),
    databaseCpu: perLoop(target.databaseSeconds() - before.database),
  };
}

/** The median of a figure; of an even number of them the higher one of the two in the middle. */
export function medianOf<Of>(samples: Of[], figure: (sample: Of) => number): number {
  const sorted = samples.map(figure).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
