import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { endingWithParent } from '../../harness/ending-with-parent.ts';
import { endChild, type Figures, figuresOf } from '../processes.ts';

/**
 * A program that listens on a port of loopback, and can be killed and started again. When it ends by itself, it is started
 * again as a service manager does.
 */
export interface Program extends Figures, AsyncDisposable {
  readonly port: number;
  kill(): Promise<void>;
  /** Starts it; resolves when it accepts connections. */
  start(): Promise<void>;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });

/** The time in which a program must accept connections; the recovery of a large store takes seconds. */
const PATIENCE_MS = 30_000;
const RESTART_MS = 100;

/** Starts a program; its output goes to the file `log`. */
export async function startProgram(options: {
  command: readonly string[];
  port: number;
  log: string;
}): Promise<Program> {
  const { command, port, log } = options;
  const [first, ...rest] = endingWithParent(command);
  let child: ChildProcess | undefined;
  let wanted = false;
  let restart: NodeJS.Timeout | undefined;

  function launch(): void {
    clearTimeout(restart);
    const output = openSync(log, 'a');
    const launched = spawn(first, rest, { stdio: ['ignore', output, output] });
    closeSync(output); // the program has its own
    child = launched;
    launched.once('error', () => undefined); // it never accepts a connection, which is told
    launched.once('exit', () => {
      if (wanted && child === launched) restart = setTimeout(launch, RESTART_MS);
    });
  }

  async function start(): Promise<void> {
    wanted = true;
    launch();
    const end = performance.now() + PATIENCE_MS;
    while (!(await accepts(port))) {
      if (performance.now() > end) throw new Error(`${command.join(' ')} does not start: ${readFileSync(log, 'utf8')}`);
      await pause(10);
    }
  }

  async function kill(): Promise<void> {
    wanted = false;
    clearTimeout(restart);
    if (child) await endChild(child, 'SIGKILL');
  }

  const figure = (read: (figures: Figures) => number) => (): number =>
    child === undefined ? Number.NaN : read(figuresOf(child));
  const program: Program = {
    port,
    cpuSeconds: figure((each) => each.cpuSeconds()),
    mainThreadSeconds: figure((each) => each.mainThreadSeconds()),
    writtenBytes: figure((each) => each.writtenBytes()),
    rssBytes: figure((each) => each.rssBytes()),
    kill,
    start,
    [Symbol.asyncDispose]: kill,
  };
  try {
    await start();
  } catch (error) {
    await kill();
    throw error;
  }
  return program;
}
