#!/usr/bin/env node
import { readCommandLine } from './command-line.ts';
import { help } from './help.ts';
import { plainText } from './plain-text.ts';
import { formatReport } from './report.ts';
import { run } from './run.ts';
import { UsageError } from './usage-error.ts';

/** The command line of the simulator. Standard output is for its result, standard error for everything else. */
async function main(): Promise<number> {
  const command = readCommandLine(process.argv.slice(2), process.env);
  if (command.help) {
    process.stdout.write(help);
    return 0;
  }
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Whoever asks twice does not want to wait for a farewell.
      if (controller.signal.aborted) process.exit(1);
      controller.abort();
    });
  }
  const report = await run(command, { stopped: controller.signal, stream: process.stderr });
  process.stdout.write(command.json ? `${JSON.stringify(report)}\n` : formatReport(report));
  return report.neverConnected > 0 ? 1 : 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const usage = error instanceof UsageError;
    process.stderr.write(`${plainText(error instanceof Error ? error.message : String(error))}\n`);
    if (usage) process.stderr.write('"npm run sim -- --help" explains the options.\n');
    process.exitCode = usage ? 2 : 1;
  },
);
