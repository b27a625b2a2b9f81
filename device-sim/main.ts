#!/usr/bin/env node
import { refusalOf } from '@lapel/schemas/base/installation';
import { simulate } from './simulate.ts';

/** EX_CONFIG of sysexits, as `lapel` answers a wrong version of Node. */
const WRONG_NODE = 78;
/** The exit code of a run whose report nobody waits for. */
const GIVEN_UP = 1;

/** Aborted by Ctrl-C; a second Ctrl-C ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(GIVEN_UP);
      controller.abort();
    });
  }
  return controller.signal;
}

const refusal = refusalOf(process.versions.node);
if (refusal !== undefined) {
  process.stderr.write(`lapel-sim: ${refusal}\n`);
  process.exit(WRONG_NODE);
}

/** The command line of the simulator. */
const { env, stdout, stderr } = process;
process.exitCode = await simulate(process.argv.slice(2), { env, stdout, stderr, interruption });
