import { ADMIN_COMMANDS } from './admin-commands.ts';
import { appList } from './app-list.ts';
import { appUpload } from './app-upload.ts';
import { type Command, commandHelp, groupHelp } from './command.ts';
import { Failure, failureBody, failureText } from './failure.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const GOOD = 0;
const FAILED = 1;
const BAD_USAGE = 2;

const GROUPS: Readonly<Record<string, { about: string; commands: readonly Command[] }>> = {
  app: { about: 'Software of a developer: a client of the REST API.', commands: [appUpload, appList] },
  admin: { about: 'Administration: a client of its API.', commands: ADMIN_COMMANDS },
};

/** The command with the longest name that the arguments begin with. */
function find(commands: readonly Command[], args: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word));
}

const isHelp = (word: string | undefined): boolean => word === '--help' || word === '-h' || word === 'help';

/** What is printed when no command is named, or none that there is. */
function answerWithHelp(args: readonly string[], { stdout, stderr }: Terminal): number {
  const [group = ''] = args;
  const { about, commands } = GROUPS[group] ?? { about: '', commands: [] };
  const words = args.slice(1).filter((word) => !word.startsWith('-'));
  let some = commands;
  for (const [index, word] of words.entries()) {
    if (isHelp(word)) break;
    const deeper = some.filter(({ name }) => name.split(' ')[index + 1] === word);
    if (deeper.length === 0) {
      stderr.write(
        `lapel: unknown command "${args.slice(0, index + 2).join(' ')}"\n\n${groupHelp(group, about, some)}`,
      );
      return BAD_USAGE;
    }
    some = deeper;
  }
  const asked = args.some(isHelp);
  (asked ? stdout : stderr).write(groupHelp(group, about, some));
  return asked ? GOOD : BAD_USAGE;
}

/** Runs `lapel app ...` or `lapel admin ...` to its end, and says with which exit code. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  const command = find(GROUPS[args[0] ?? '']?.commands ?? [], args);
  if (!command) return answerWithHelp(args, terminal);
  const rest = args.slice(command.name.split(' ').length);
  if (rest.includes('--help') || rest.includes('-h')) {
    stdout.write(commandHelp(command));
    return GOOD;
  }
  const json = rest.includes('--json');
  try {
    const outcome = await command.run(rest, terminal);
    stdout.write(json ? `${JSON.stringify(outcome.json)}\n` : outcome.text);
    if (outcome.problem === undefined) return GOOD;
    stderr.write(`lapel: ${outcome.problem}\n`);
    return FAILED;
  } catch (error) {
    if (error instanceof UsageError) {
      stderr.write(`lapel: ${error.message}\nSee: lapel ${command.name} --help\n`);
      return BAD_USAGE;
    }
    if (!(error instanceof Failure)) throw error;
    if (json) stdout.write(`${JSON.stringify(failureBody(error))}\n`);
    stderr.write(`lapel: ${failureText(error)}\n`);
    return FAILED;
  }
}
