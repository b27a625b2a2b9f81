import type { Text } from '../show/look.ts';
import type { Terminal } from '../show/terminal.ts';
import { padEnd, wrap } from '../show/text-width.ts';
import { type Given, isOfVersion } from './command-line.ts';
import { type Argument, COMMON, type Option, type Options } from './options.ts';

/** The result of a command. */
export interface Outcome {
  /** The JSON output; undefined when the command has already written it line by line. */
  json: object | undefined;
  /** The output for people, when `--json` is not given. */
  text: Text;
  /** A problem that makes the exit code 1, although the command ran to its end. */
  problem?: string;
  /** The exit code; by default 0, and 1 with a problem. */
  exitCode?: number;
}

/** A command: its texts for `--help`, and its function. Throws UsageError, Failure and Interrupted. */
export interface Command {
  /** The words of the command after `lapel`, such as `app upload`. */
  name: string;
  arguments?: readonly Argument[];
  /** A description in one line. */
  summary: string;
  about?: string;
  options: Options;
  examples: readonly string[];
  /** True when the command itself ends cleanly on an interruption; other commands are just abandoned. */
  endsItself?: boolean;
  run(given: Given, terminal: Terminal): Promise<Outcome>;
}

/** A group of commands. */
export interface Group {
  name: string;
  about: string;
  commands: readonly Command[];
}

const WIDTH = 26;
const LINE = 120;
export const EXIT_CODES = 'Exit codes: 0 success; 1 failure; 2 wrong command line; 130 interrupted (Ctrl-C).';

/** A row of help: the description is beside the head, or below it when the head is long. */
function row(head: string, text: string): string {
  const [first = '', ...more] = wrap(text, LINE - WIDTH - 3);
  const rest = more.map((line) => `  ${' '.repeat(WIDTH)} ${line}\n`).join('');
  if (head.length <= WIDTH) return `  ${padEnd(head, WIDTH)} ${first}\n${rest}`;
  return `  ${head}\n  ${' '.repeat(WIDTH)} ${first}\n${rest}`;
}

/** An option as help texts and errors write it: `--device-limit N`. */
const spelling = (name: string, { value, short }: Option): string =>
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;

/** The option rows of a help text. */
export function optionsHelp(options: Options): string {
  return Object.entries({ ...options, ...COMMON })
    .map(([name, option]: [string, Option]) => {
      const choices = option.choices ? ` (${option.choices.join(', ')})` : '';
      return row(spelling(name, option), option.text + choices);
    })
    .join('');
}

/** The usage line, such as `device show DEVICE [options]`. */
function usageOf({ name, arguments: names = [] }: Command): string {
  const words = names.map(({ name: word, optional, many }) => {
    const shown = many ? `${word} ...` : word;
    return optional ? `[${shown}]` : shown;
  });
  return [name, ...words, '[options]'].join(' ');
}

export function commandHelp(command: Command): string {
  const { summary, about, options, examples, arguments: names = [] } = command;
  const choices = names.filter((argument) => argument.choices);
  const parts = [`${summary}\n`, `  lapel ${usageOf(command)}\n`];
  for (const paragraph of about?.split('\n\n') ?? []) {
    parts.push(`${wrap(paragraph.replaceAll('\n', ' '), LINE).join('\n')}\n`);
  }
  if (names.some((_, index) => isOfVersion(names, index)))
    parts.push('PACKAGE VERSION may also be written as one word: PACKAGE@VERSION\n');
  if (choices.length > 0) parts.push(choices.map((one) => row(one.name, (one.choices ?? []).join(', '))).join(''));
  parts.push(optionsHelp(options));
  parts.push(`Examples\n${examples.map((line) => `  ${line}\n`).join('')}`);
  return parts.join('\n');
}

/** The help of a group, such as `lapel app` or `lapel admin device`. */
export function groupHelp({ name, about, commands }: Group): string {
  const usages = commands.map((command) => usageOf(command).replace(' [options]', ''));
  const width = Math.min(48, Math.max(...usages.map((usage) => usage.length)));
  const rows = commands.map(({ summary }, index) => `  lapel ${padEnd(usages[index] ?? '', width)}   ${summary}\n`);
  return `${about}\n\n${rows.join('')}\nMore about each, with examples: lapel ${name} ... --help\n${EXIT_CODES}\n`;
}
