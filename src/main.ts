#!/usr/bin/env node
import { constants, homedir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { readDemoCommand, readServiceCommand, SERVICE_COMMANDS } from '@lapel/cli/line/service-commands';
import { UsageError } from '@lapel/cli/line/usage-error';
import type { Terminal } from '@lapel/cli/show/terminal';
import { refusalOf } from '@lapel/schemas/base/installation';
import { ownVersion } from '@lapel/schemas/base/version';
import { DomainError, isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Config } from './config.ts';
import { greetingOf } from './runtime/greeting.ts';
import type { Log } from './runtime/log.ts';
import { Refused, Unusable } from './runtime/refused.ts';
import type { Supervisor } from './runtime/supervisor.ts';
import type { Service } from './service.ts';

/**
 * The exit code for an invalid setting, a data folder that another process uses, or a database of a newer release
 * (EX_CONFIG of sysexits).
 */
const BAD_SETTING = 78;
const BAD_USAGE = 2;
/** The exit code for an unexpected error (EX_SOFTWARE of sysexits). */
const FAILED = 70;
/** The exit code of a start that Ctrl-C has ended. */
const INTERRUPTED = 130;
/** The sentence for a database that was opened and then failed, before the service had started. */
const databaseTrouble = ({ message, cause }: Error): string =>
  `the database cannot be used (${cause instanceof Error ? cause.message : message}); \`lapel doctor --check-database\` looks at it`;
/** Milliseconds after a signal until the process exits in any case. Each part limits its own shutdown to less. */
const DRAIN_MILLISECONDS = 10_000;
/**
 * One Ctrl-C may reach the process twice: from the terminal, and from a parent such as npm, which passes it on. So a
 * second SIGINT within this time counts as the same keystroke.
 */
const SAME_KEYSTROKE_MILLISECONDS = 500;

function fail(message: string, code: number): never {
  process.stderr.write(`lapel: ${message}\n`);
  process.exit(code);
}

/** The soft limit of open files of this process. The most connections of all listeners follow from it. */
function openFiles(): number {
  Object.assign(process.report, { excludeNetwork: true }); // the report would look up host names, which can take seconds
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : 65_536;
}

/** The commands of the service that work on the settings and the data folder of this machine, and then end. */
type Maintenance = Exclude<keyof typeof SERVICE_COMMANDS, 'serve' | 'demo'>;

async function runOnce(name: Maintenance, args: string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(SERVICE_COMMANDS[name].help());
    return;
  }
  process.stdout.on('error', () => undefined); // nobody reads the output any more (`| head`), and the work goes on
  try {
    const given = readServiceCommand(name, args);
    const { readConfig } = await import('./config.ts');
    const { MAINTENANCE } = await import('./maintenance.ts');
    const config = readConfig({ env: process.env, options: given.settings, openFiles: openFiles() });
    process.exitCode = await MAINTENANCE[name](config, given, (text) => void process.stdout.write(text));
  } catch (error) {
    if (error instanceof UsageError) return fail(`${error.message}\nSee: lapel ${name} --help`, BAD_USAGE);
    if (error instanceof DomainError) return fail(error.message, BAD_SETTING);
    // An error of the system has a code, and its message names the file or the address.
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof Refused || code !== undefined) return fail(message || String(code), 1);
    throw error;
  }
}

async function serve(args: string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(SERVICE_COMMANDS.serve.help(args.includes('--all')));
    return;
  }
  let options: Record<string, string | undefined>;
  try {
    options = readServiceCommand('serve', args).settings;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return fail(`${error.message}\nSee: lapel serve --help`, BAD_USAGE);
  }
  let config: Config;
  let service: Service;
  let log: Log;
  let supervisor: Supervisor;
  // SIGHUP would end the process until it has a handler, so this one is set before the service starts.
  process.on('SIGHUP', () => undefined);
  // The first process of a container gets only the signals that it handles. Until the service has started, nothing is
  // in flight, so that the process may end at once.
  const endEarly = (signal: NodeJS.Signals): never => process.exit(signal === 'SIGTERM' ? 0 : INTERRUPTED);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, endEarly);
  try {
    // Loaded only here, so that the other commands start faster.
    const { readConfig } = await import('./config.ts');
    const { createLog, readableLines } = await import('./runtime/log.ts');
    config = readConfig({ env: process.env, options, openFiles: openFiles() });
    log = createLog({
      level: config.logLevel,
      destination: process.stderr.isTTY ? await readableLines() : undefined,
    });
    process.on('uncaughtException', (err) => {
      // After an unexpected error the state in memory is unknown. Every answered request is already stored, so a new
      // process can continue from there.
      log.fatal({ err }, 'stopping after an uncaught error');
      process.exit(FAILED);
    });
    const { createService } = await import('./service.ts');
    service = await createService(config, { log });
    service.metrics.collectProcess();
    const { createSupervisor } = await import('./runtime/supervisor.ts');
    const { systemClock } = await import('./runtime/clock.ts');
    supervisor = createSupervisor({ env: process.env, pid: process.pid, clock: systemClock, log });
  } catch (error) {
    if (error instanceof Unusable) return fail(`cannot start: ${error.message}`, FAILED);
    if (isDatabaseAway(error)) return fail(`cannot start: ${databaseTrouble(error as Error)}`, FAILED);
    if (error instanceof DomainError || error instanceof Refused) return fail(error.message, BAD_SETTING);
    return fail(`cannot start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, FAILED);
  }
  let stopped: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopped !== undefined) {
      if (signal === 'SIGINT' && performance.now() - stopped < SAME_KEYSTROKE_MILLISECONDS) return;
      process.exit(1); // a second signal stops the process at once
    }
    stopped = performance.now();
    setTimeout(() => process.exit(1), DRAIN_MILLISECONDS).unref();
    // The service may have stopped before systemd's program has told that it stops.
    const end = async (): Promise<void> => {
      await service.leave();
      await service[Symbol.asyncDispose]();
    };
    Promise.all([supervisor.stopping(), end()]).then(
      () => process.exit(0),
      (error: unknown) => fail(`stopping failed: ${String(error)}`, 1),
    );
  };
  process.on('SIGHUP', () => {
    service.reloadToken();
    try {
      log.info(
        service.reloadTls()
          ? 'the TLS files were read again'
          : 'SIGHUP: no TLS files are configured, so none were read',
      );
    } catch (err) {
      log.error({ err }, 'the TLS files cannot be used; the certificates that were read before stay in use');
    }
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, endEarly).on(signal, stop);
  void supervisor.ready(service.vitals);
  // This line comes last, because its reader may send a signal as soon as it appears.
  process.stdout.write(
    process.stdout.isTTY
      ? greetingOf({ addresses: service.addresses, ...config })
      : `${JSON.stringify({ msg: 'listening', ...service.addresses })}\n`,
  );
}

async function playDemo(args: string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(SERVICE_COMMANDS.demo.help());
    return;
  }
  try {
    const options = readDemoCommand(args);
    const { runDemo } = await import('@lapel/tools/demo/main');
    process.exit(await runDemo(options));
  } catch (error) {
    if (error instanceof UsageError) return fail(`${error.message}\nSee: lapel demo --help`, BAD_USAGE);
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    if (isAbsent) return fail('the demo is not part of this image; the npm package has it', FAILED);
    throw error;
  }
}

const refusal = refusalOf(process.versions.node);
if (refusal !== undefined) fail(refusal, BAD_SETTING);

process.umask(0o077); // the data folder holds keys and messages to devices: no other user of the machine may read it

const [command, ...rest] = process.argv.slice(2);
if (command === 'serve') await serve(rest);
else if (command === 'demo') await playDemo(rest);
else if (command !== undefined && Object.hasOwn(SERVICE_COMMANDS, command)) await runOnce(command as Maintenance, rest);
else if (command === '--version' || command === '-V' || (command === 'version' && rest.length === 0)) {
  process.stdout.write(`${ownVersion()}\n`);
} else await runClient(process.argv.slice(2));

/** Runs all commands besides those for this machine. They are clients of the REST API and of administration. */
async function runClient(args: readonly string[]): Promise<void> {
  const { INTERRUPTED, runCli } = await import('@lapel/cli/run-cli'); // `serve` needs none of it
  const { createPrompt } = await import('@lapel/cli/account/prompt');
  const { env, stdin, stdout, stderr } = process;
  const controller = new AbortController();
  let first = 0;
  let end = INTERRUPTED;
  const interrupt = (signal: NodeJS.Signals): void => {
    if (!controller.signal.aborted) first = performance.now();
    else if (performance.now() - first > SAME_KEYSTROKE_MILLISECONDS) process.exit(end);
    end = 128 + constants.signals[signal];
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  // An error here means that nobody reads the output any more: the other end of a pipe (`| head`) or the terminal was
  // closed. The command cleans up and ends.
  for (const stream of [stdout, stderr]) {
    stream.on('error', () => {
      end = 1;
      controller.abort();
    });
  }
  const terminal: Terminal = {
    env,
    home: homedir(),
    stdin,
    stdout,
    stderr,
    ask: stdin.isTTY && stderr.isTTY ? createPrompt({ input: stdin, output: stderr }, () => interrupt('SIGINT')) : null,
    interrupted: controller.signal,
    now: () => performance.now(),
    pause: (milliseconds, signal) => pause(milliseconds, undefined, { ...(signal && { signal }) }),
  };
  const code = await runCli(args, terminal);
  process.exitCode = code === INTERRUPTED ? end : code; // process.exit() here would cut off output that a pipe has not yet taken
  if (controller.signal.aborted) process.exit();
}
