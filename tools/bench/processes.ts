import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endingWithParent } from '../harness/ending-with-parent.ts';

/** The checkout that this bench belongs to. */
export const OWN_CHECKOUT = join(import.meta.dirname, '../..');
// The kernel's clock tick: 100 per second on every Linux that Node runs on.
const TICKS_PER_SECOND = 100;

/** The kernel's figures of a process. */
export interface Figures {
  /** Seconds of processor time that the process has used; NaN if the kernel does not tell. */
  cpuSeconds(): number;
  /**
   * Seconds of processor time that its main thread has used, without garbage collector, compiler and disk threads; NaN if
   * the kernel does not tell.
   */
  mainThreadSeconds(): number;
  /** Bytes that it has caused to be written to disks; NaN if the kernel does not tell. */
  writtenBytes(): number;
  /** Bytes of its resident memory; NaN if the kernel does not tell. */
  rssBytes(): number;
}

export interface Process extends Figures {
  /** The first line that the process has printed: its addresses, as JSON. */
  addresses: Record<string, string>;
  /** Milliseconds from the start of the process to the first line that it has printed. */
  startMs: number;
  /** Ends it, by default as systemd does, and waits until it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const proc = <Result>(pid: number | undefined, file: string, read: (text: string) => Result): Result | number => {
  try {
    return read(readFileSync(`/proc/${pid}/${file}`, 'utf8'));
  } catch {
    return Number.NaN; // not Linux
  }
};

/** Seconds of processor time that a process has used; NaN if the kernel does not tell. */
export const processorSeconds = (pid: number | undefined): number =>
  proc(pid, 'stat', (text) => {
    const fields = text.split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  });

export const figuresOf = (child: ChildProcess): Figures => ({
  cpuSeconds: () => processorSeconds(child.pid),
  // The first figure is the time on a processor in nanoseconds. The main thread has the number of its process.
  mainThreadSeconds: () => proc(child.pid, `task/${child.pid}/schedstat`, (text) => Number(text.split(' ')[0]) / 1e9),
  writtenBytes: () => proc(child.pid, 'io', (text) => Number(/^write_bytes: (\d+)/m.exec(text)?.[1])),
  rssBytes: () => proc(child.pid, 'status', (text) => Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) * 1024),
});

/** Sends a signal to a child, and waits until it has ended. */
export function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill(signal);
  });
}

interface Options {
  env?: Record<string, string>;
  /** The checkout whose program is started; by default this one. */
  checkout?: string | undefined;
  /** The folder in which the process writes a profile of its processor time when it ends. */
  profile?: string | undefined;
}

/** Starts a program of a checkout of this project with the Node that runs this one. */
export async function startProcess(
  args: string[],
  { env = {}, checkout = OWN_CHECKOUT, profile }: Options = {},
): Promise<Process> {
  const began = performance.now();
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const [program, ...rest] = endingWithParent([process.execPath, ...profiling, ...args]);
  const child = spawn(program, rest, {
    cwd: checkout,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
  });
  return {
    addresses: JSON.parse(line) as Record<string, string>,
    startMs: performance.now() - began,
    ...figuresOf(child),
    stop: (signal = 'SIGTERM') => endChild(child, signal),
  };
}
