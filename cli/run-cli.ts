import { groupsOfWord } from './groups-of-word.ts';
import { type Command, commandHelp, type Group, groupHelp } from './line/command.ts';
import { checkPositionals, readArguments, splitVersions } from './line/command-line.ts';
import { Interrupted } from './line/interrupted.ts';
import { nearest } from './line/nearest.ts';
import { SERVICE_COMMANDS } from './line/service-commands.ts';
import { UsageError } from './line/usage-error.ts';
import { Failure, failureBody, failureText } from './show/failure.ts';
import { jsonText } from './show/json-text.ts';
import { lookOf, render } from './show/look.ts';
import { oneLine } from './show/plain-text.ts';
import type { Terminal } from './show/terminal.ts';

const GOOD = 0;
const FAILED = 1;
const BAD_USAGE = 2;
export const INTERRUPTED = 130;

const isHelp = (word: string | undefined): boolean => word === '--help' || word === '-h' || word === 'help';
/** Whether the arguments ask for the help of a command. The value of an option does not count. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h');
}

/** The command whose words (such as `app upload`) are the first arguments. */
async function find(args: readonly string[]): Promise<Command | undefined> {
  const groups = await groupsOfWord(args[0]);
  const commands = groups.find(({ name }) => name === args[0])?.commands ?? [];
  return commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word));
}

/** Prints help when the arguments name no command, or an unknown one. */
async function answerWithHelp(args: readonly string[], { stdout, stderr }: Terminal): Promise<number> {
  const { GROUPS } = await import('./commands.ts');
  const { overview } = await import('./overview.ts');
  const words = args.slice(0, args.findIndex((word) => word.startsWith('-') || isHelp(word)) >>> 0);
  const [first = ''] = args;
  if (first.startsWith('-') && !isHelp(first)) {
    stderr.write(`lapel: ${oneLine(first)}: is not an option; "lapel --help" lists the commands\n`);
    return BAD_USAGE;
  }
  const asked = args.some(isHelp) || args.length === 0;
  let group: Group | undefined;
  let some: readonly Command[] = [];
  for (const [index, word] of words.entries()) {
    const known =
      index === 0
        ? [...Object.keys(SERVICE_COMMANDS), ...GROUPS.map(({ name }) => name)]
        : [...new Set(some.map(({ name }) => name.split(' ')[index] ?? ''))];
    if (!known.includes(word)) {
      const name = words.slice(0, index).join(' ');
      const meant = nearest(word, known);
      const hint = meant === undefined ? '' : `; did you mean "${[name, meant].filter(Boolean).join(' ')}"?`;
      const unknown = oneLine(`lapel: unknown command "${words.slice(0, index + 1).join(' ')}"${hint}`);
      stderr.write(`${unknown}\nSee: ${['lapel', ...words.slice(0, index), '--help'].join(' ')}\n`);
      return BAD_USAGE;
    }
    group ??= GROUPS.find(({ name }) => name === word);
    some = (index === 0 ? (group?.commands ?? []) : some).filter(({ name }) => name.split(' ')[index] === word);
  }
  const service = Object.entries(SERVICE_COMMANDS).find(([name]) => name === words[0])?.[1];
  const text = group
    ? groupHelp({ ...group, name: words.join(' '), commands: some })
    : (service?.help() ?? overview(stdout.columns));
  (asked ? stdout : stderr).write(text);
  return asked ? GOOD : BAD_USAGE;
}

/**
 * Runs a command to its end, or until it is interrupted. A command with `endsItself` ends by itself after an
 * interruption.
 */
async function carryOut(command: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr, env } = terminal;
  const names = command.arguments ?? [];
  const read = readArguments(args, command.options);
  const given = { ...read, positionals: splitVersions(read.positionals, names) };
  checkPositionals(given.positionals, names);
  const running = command.run(given, terminal);
  const {
    json,
    text,
    problem,
    exitCode = problem === undefined ? GOOD : FAILED,
  } = await (command.endsItself ? running : Promise.race([running, interruption(terminal.interrupted)]));
  if (!given.flag('json')) stdout.write(render(text, lookOf(stdout, env)));
  else if (json) stdout.write(`${jsonText(json)}\n`);
  if (problem === undefined) return exitCode;
  stderr.write(`lapel: ${problem.split('\n').map(oneLine).join('\n')}\n`);
  return exitCode;
}

function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const interrupt = (): void => reject(new Interrupted());
    if (signal.aborted) interrupt();
    else signal.addEventListener('abort', interrupt, { once: true });
  });
}

/** Runs a client command to its end and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr, env } = terminal;
  if (args[0] === 'help' && args.length > 1) return runCli([...args.slice(1), '--help'], terminal);
  const command = await find(args);
  if (!command) return answerWithHelp(args, terminal);
  const rest = args.slice(command.name.split(' ').length);
  if (asksForHelp(rest)) {
    stdout.write(commandHelp(command));
    return GOOD;
  }
  try {
    return await carryOut(command, rest, terminal);
  } catch (error) {
    if (error instanceof UsageError) {
      stderr.write(`lapel: ${oneLine(error.message)}\nSee: lapel ${command.name} --help\n`);
      return BAD_USAGE;
    }
    if (error instanceof Interrupted) {
      stderr.write(error.lines.map((line) => `${oneLine(line)}\n`).join(''));
      return INTERRUPTED;
    }
    const failure =
      error instanceof Failure ? error : new Failure(`unexpected error: ${(error as Error).message}`, { cause: error });
    if (rest.includes('--json')) stdout.write(`${jsonText(failureBody(failure))}\n`);
    stderr.write(`lapel: ${failureText(failure)}\n`);
    const wantsStack = /\blapel\b/.test(env['NODE_DEBUG'] ?? ''); // NODE_DEBUG=lapel adds the stack to an error
    if (wantsStack) stderr.write(`${(error as Error).stack ?? ''}\n`);
    return FAILED;
  }
}
