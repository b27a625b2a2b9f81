import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { clusterDemo } from './cluster.ts';
import { demo } from './demo.ts';

const USAGE = `A tour of Lapel with simulated cameras; then it stays up, to go on by hand.

  npm run demo              until Ctrl-C
  npm run demo -- --once    ends after the tour: exit code 0 when every promise was kept, else 1
  npm run demo -- --cluster two nodes on PostgreSQL (which must be installed), of which one is killed; ends by itself
`;
/** Both the terminal and npm may send a Ctrl-C to this process; a signal within this time counts as the same keystroke. */
const SAME_KEYSTROKE_MS = 500;

class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(`interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

function readArguments(): { once: boolean; cluster: boolean; help: boolean } {
  try {
    const options = {
      once: { type: 'boolean' },
      cluster: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    const { once = false, cluster = false, help = false } = parseArgs({ options }).values;
    return { once, cluster, help };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function main(): Promise<number> {
  const { once, cluster, help } = readArguments();
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
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

process.exit(await main());
