import { readFileSync } from 'node:fs';

/** The machine is starved when some program waited for a processor in this share of the time. */
const PRESSURE = 0.6;
/** The machine is starved when its host took away this share of its processors. */
const STOLEN = 0.1;
const STEAL_COLUMN = 8;

/** The counters of the kernel since its start. */
interface Reading {
  /** Microseconds in which some program waited for a processor; 0 where the kernel does not say. */
  readonly waited: number;
  /** Ticks of all processors, and those of them that the host of the machine took away. */
  readonly ticks: number;
  readonly stolen: number;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // another kernel than Linux, or one without this file
  }
}

/** Reads the counters of the kernel: `/proc/pressure/cpu` and the first line of `/proc/stat`. */
export function readKernel(folder = '/proc'): Reading {
  const [, waited = '0'] = /^some .*total=(\d+)/m.exec(textOf(`${folder}/pressure/cpu`)) ?? [];
  const [, columns = ''] = /^cpu +([\d ]+)$/m.exec(textOf(`${folder}/stat`)) ?? [];
  const counts = columns.split(' ').slice(0, STEAL_COLUMN).map(Number);
  return {
    waited: Number(waited),
    ticks: counts.reduce((sum, count) => sum + count, 0),
    stolen: counts[STEAL_COLUMN - 1] ?? 0,
  };
}

/** Whether the machine had too few processors between two readings, which are so many milliseconds apart. */
export function isStarved(before: Reading, now: Reading, milliseconds: number): boolean {
  const ticks = now.ticks - before.ticks;
  const stolen = ticks > 0 ? (now.stolen - before.stolen) / ticks : 0;
  return stolen >= STOLEN || (now.waited - before.waited) / 1000 >= PRESSURE * milliseconds;
}
