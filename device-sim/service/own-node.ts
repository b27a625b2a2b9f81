import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { pause, type Timers } from '../timers.ts';
import type { ServiceFault } from './service-fault.ts';

/** Milliseconds for which a node may finish its work after SIGTERM, before it is killed. */
const GRACE = 15_000;
/** Milliseconds in which the processes of a killed node disappear. */
const DEATH = 2000;
const LOOK_MILLISECONDS = 20;
/** Characters of the last output that are kept, to explain an unexpected end. */
const KEPT = 2000;

/** One node of the service, as a child process with its own process group. */
export interface OwnNode extends AsyncDisposable {
  play(fault: ServiceFault, milliseconds: number): Promise<void>;
}

/**
 * Starts a command of the user in a shell, and makes it fail by signals. The command may be a shell or `npm run`, so
 * signals go to its whole process group. `onEnd` is called if the command ends without having been told to.
 */
export function startNode(
  command: string,
  {
    logFile,
    timers,
    stopped,
    onEnd,
  }: { logFile: string | undefined; timers: Timers; stopped: AbortSignal; onEnd: (text: string) => void },
): OwnNode {
  const log: WriteStream | null = logFile === undefined ? null : createWriteStream(logFile, { flags: 'w' });
  let child: ChildProcess | undefined;
  let isWanted = false;
  let output = '';

  function start(): void {
    output = '';
    isWanted = true;
    const started = spawn(command, { shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-KEPT);
        log?.write(text);
      });
    const ended = (how: string): void => {
      if (!isWanted || child !== started) return;
      isWanted = false;
      onEnd(`the service ended ${how}: ${output.trim().split('\n').slice(-3).join(' | ') || 'no output'}`);
    };
    started.once('error', (error) => ended(`with ${error.message}`));
    started.once('close', (code, signal) => ended(code === null ? `by ${signal}` : `with exit code ${code}`));
  }

  /** Sends a signal to the process group; returns whether it still has a process. */
  function signalGroup(signal: NodeJS.Signals | 0): boolean {
    if (child?.pid === undefined) return false;
    try {
      return process.kill(-child.pid, signal);
    } catch {
      return false;
    }
  }

  const hasLeader = (): boolean => child?.exitCode === null && child.signalCode === null;

  async function isGone(milliseconds: number, isThere: () => boolean): Promise<boolean> {
    for (const until = timers.now() + milliseconds; isThere(); ) {
      if (timers.now() >= until) return false;
      await pause(timers, LOOK_MILLISECONDS, new AbortController().signal);
    }
    return true;
  }

  async function kill(): Promise<void> {
    isWanted = false;
    signalGroup('SIGKILL');
    await isGone(DEATH, () => signalGroup(0));
  }

  /**
   * Ends the node by SIGTERM. At first only the command itself gets the signal, because `npm run` passes it on, and a
   * second one would make the service end at once. A shell that does not pass it on leaves its processes behind: they
   * get it afterwards.
   */
  async function end(): Promise<void> {
    isWanted = false;
    if (hasLeader()) child?.kill('SIGTERM');
    await isGone(GRACE, hasLeader);
    if (signalGroup('SIGTERM')) await isGone(GRACE, () => signalGroup(0));
    await kill();
  }

  const killAtExit = (): void => void signalGroup('SIGKILL');
  process.on('exit', killAtExit);
  start();

  return {
    async play(fault, milliseconds) {
      if (fault === 'freeze') {
        signalGroup('SIGSTOP');
        await pause(timers, milliseconds, stopped);
        signalGroup('SIGCONT');
        return;
      }
      await (fault === 'kill' ? kill() : end());
      await pause(timers, milliseconds, stopped);
      start();
    },

    async [Symbol.asyncDispose]() {
      await end();
      process.off('exit', killAtExit);
      log?.end();
    },
  };
}
