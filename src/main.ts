#!/usr/bin/env node
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runCli } from './cli/run-cli.ts';
import type { Terminal } from './cli/terminal.ts';
import { optionName, readConfig, SETTINGS } from './config.ts';
import { DomainError } from './errors.ts';
import { createLog } from './log.ts';
import type { Service } from './service.ts';

/** The exit code of a bad setting or a data folder in use (sysexits' EX_CONFIG). */
const BAD_SETTING = 78;
const BAD_USAGE = 2;
/** Something unforeseen (sysexits' EX_SOFTWARE). */
const FAILED = 70;
/** The parts bound their own draining, together to less than this. */
const DRAIN_MILLISECONDS = 10_000;

const USAGE = `Lapel: an MQTT device broker with an embedded management API.

  lapel serve [--setting value ...]   start the service
  lapel serve --help                  all settings
  lapel app --help                    software of a developer: upload, distribute, install, list
  lapel admin --help                  administration of a running service
`;

function settingsTable(): string {
  const rows = SETTINGS.map(({ name, fallback, description }) => {
    const option = `--${optionName(name)}`;
    return `  ${option.padEnd(28)} ${name.padEnd(28)} ${(fallback ?? '-').padEnd(12)} ${description}`;
  });
  return `Settings of lapel serve (option, environment variable, default):\n\n${rows.join('\n')}\n`;
}

function fail(message: string, code: number): never {
  process.stderr.write(`lapel: ${message}\n`);
  process.exit(code);
}

/** The soft limit of open files, which bounds connections. */
function openFiles(): number {
  Object.assign(process.report, { excludeNetwork: true }); // looking up its names could take seconds
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : 65_536;
}

async function serve(args: string[]): Promise<void> {
  const flags = { help: { type: 'boolean' as const, short: 'h' } };
  const settings = Object.fromEntries(SETTINGS.map(({ name }) => [optionName(name), { type: 'string' as const }]));
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({ args, options: { ...flags, ...settings } }));
  } catch (error) {
    return fail(`${(error as Error).message}\nSee: lapel serve --help`, BAD_USAGE);
  }
  if (values['help'] === true) {
    process.stdout.write(settingsTable());
    return;
  }
  const options = values as Record<string, string | undefined>;
  let service: Service;
  try {
    const config = readConfig({ env: process.env, options, openFiles: openFiles() });
    const log = createLog({ level: config.logLevel, pretty: process.stderr.isTTY });
    process.on('uncaughtException', (err) => {
      // Whatever this is, what was answered is on the disk; a new process goes on from there.
      log.fatal({ err }, 'stopping after an error that nothing caught');
      process.exit(FAILED);
    });
    const { createService } = await import('./service.ts'); // the other commands do without it, and start faster
    service = await createService(config, { log });
    service.metrics.collectProcess();
  } catch (error) {
    if (error instanceof DomainError) return fail(error.message, BAD_SETTING);
    return fail(`cannot start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, FAILED);
  }
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1); // a second signal: at once
    stopping = true;
    setTimeout(() => process.exit(1), DRAIN_MILLISECONDS).unref();
    service[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => fail(`stopping failed: ${String(error)}`, 1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Last: whoever reads this line may send a signal at once.
  process.stdout.write(`${JSON.stringify({ msg: 'listening', ...service.addresses })}\n`);
}

const major = Number(process.versions.node.split('.')[0]);
if (major !== 24) fail(`needs Node 24, this is ${process.version}; npm scripts bring their own`, BAD_SETTING);

process.umask(0o077); // the data folder holds keys and what devices are told: nobody else on the machine reads it

const [command, ...rest] = process.argv.slice(2);
if (command === 'serve') await serve(rest);
else if (command === 'app' || command === 'admin') {
  const { env, stdout, stderr } = process;
  stdout.on('error', () => process.exit(1)); // the reader of a pipe went away (`| head`)
  const terminal: Terminal = {
    env,
    stdout,
    stderr,
    now: () => performance.now(),
    pause: (milliseconds, signal) => pause(milliseconds, undefined, { ...(signal && { signal }) }),
  };
  process.exitCode = await runCli([command, ...rest], terminal); // an exit at once would cut off what a pipe has not taken
} else if (command === undefined || command === '--help' || command === '-h' || command === 'help') {
  process.stdout.write(USAGE);
} else fail(`unknown command "${command}"\n\n${USAGE}`, BAD_USAGE);
