import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterDemo } from './cluster.ts';
import { demo } from './demo.ts';

/** Both the terminal and npm may send a Ctrl-C to this process; a signal within this time counts as the same keystroke. */
const SAME_KEYSTROKE_MS = 500;

class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(`interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** Plays the demo to its end, or until Ctrl-C; returns the exit code. */
export async function runDemo({ once, cluster }: { once: boolean; cluster: boolean }): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-demo-'));
  // Runs in any case at the end. On the supported systems, an open database does not prevent the removal.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

  const controller = new AbortController();
  let first = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!controller.signal.aborted) first = performance.now();
      else if (performance.now() - first > SAME_KEYSTROKE_MS) process.exit(1);
      controller.abort(new Interrupted(signal));
    });
  }
  // The reader of the output has ended (`| head`), so there is nobody to show anything to.
  process.stdout.on('error', () => process.exit(0));

  try {
    const options = { folder, output: process.stdout, stopped: controller.signal };
    if (cluster) await clusterDemo(options);
    else await demo({ ...options, once });
    return 0;
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
