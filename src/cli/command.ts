import { type Options, optionsHelp } from './command-line.ts';
import type { Terminal } from './terminal.ts';

/** What came of a command. */
export interface Outcome {
  /** For scripts. */
  json: object;
  /** For people. */
  text: string;
  /** What went wrong, after all: exit code 1. */
  problem?: string;
}

/** A command: its words for `--help`, and what it does. Throws UsageError and Failure. */
export interface Command {
  /** `app upload` */
  name: string;
  /** What follows the name. */
  usage: string;
  /** One line. */
  summary: string;
  about?: string;
  options: Options;
  examples?: readonly string[];
  run(args: readonly string[], terminal: Terminal): Promise<Outcome>;
}

export function commandHelp({ name, usage, summary, about, options, examples = [] }: Command): string {
  const parts = [`${summary}\n`, `  lapel ${name} ${usage}\n`];
  if (about !== undefined) parts.push(`${about}\n`);
  parts.push(optionsHelp(options));
  if (examples.length > 0) parts.push(`Examples\n${examples.map((line) => `  ${line}\n`).join('')}`);
  return parts.join('\n');
}

/** What there is below `lapel app` or `lapel admin`. */
export function groupHelp(group: string, about: string, commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => `  lapel ${name.padEnd(width)}   ${summary}\n`);
  return `${about}\n\n${rows.join('')}\nMore about each: lapel ${group} ... --help
Exit codes: 0 good; 1 something failed, and what is said; 2 a wrong option, and which is said.\n`;
}
