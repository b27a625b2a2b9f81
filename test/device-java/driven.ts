import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { until } from '../until.ts';

/** A line that the device in Java has told; device/java/test has the program. */
export interface Told {
  begin?: { transactionId: number; interrupted: boolean; progress: { bytes: number } | null };
  event?: string;
  answer?: Record<string, unknown>;
  failure?: string;
  connected?: boolean;
  stopped?: boolean;
  info?: string;
  warn?: string;
  error?: string;
}

interface Wanted {
  /** Where the library is compiled. */
  classes: string;
  /** Host, port, deviceId, file; for TLS also a CA, a certificate and a key. */
  given: readonly string[];
  credential?: string;
}

/** A device that runs the library in Java, and does what the test says. It ends with the test. */
export function drive(t: Test, { classes, given, credential }: Wanted) {
  const told: Told[] = [];
  let errors = '';
  let child: ChildProcess | undefined;
  async function cutPower(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  t.teardown(cutPower);
  const count = (name: keyof Told): number => told.filter((line) => name in line).length;
  return {
    told,
    cutPower,
    count,
    errors: () => errors,
    start(): void {
      child = spawn('java', ['-cp', classes, 'lapel.device.Driven', ...given], {
        env: { PATH: process.env['PATH'], ...(credential !== undefined && { LAPEL_CREDENTIAL: credential }) },
      });
      child.stderr?.on('data', (chunk) => (errors += String(chunk)));
      createInterface({ input: child.stdout! }).on('line', (line) => told.push(JSON.parse(line)));
    },
    call: (line: object): void => void child?.stdin?.write(`${JSON.stringify(line)}\n`),
    /** Ends it in order. */
    async stop(): Promise<void> {
      const ended = once(child!, 'close');
      child?.stdin?.end();
      await ended;
    },
    /** Waits for the next line of this kind. */
    async next<Name extends keyof Told>(name: Name): Promise<Told[Name] | undefined> {
      const before = count(name);
      await until(() => count(name) > before);
      return told.filter((line) => name in line).at(-1)?.[name];
    },
  };
}
