import { type Given, readArguments } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { oneLine } from '../show/plain-text.ts';

/**
 * Adds options that stand in a text, one a line: `--stage 5%`. The rest of a line is the value as it is, so nothing is quoted,
 * and no shell reads it. Throws a UsageError.
 */
export function withOptionLines(given: Given, option: string, options: Options): Given {
  const lines = (given.text(option) ?? '').split('\n').map((line) => line.trim());
  const args = lines.flatMap((line) => {
    if (line === '') return [];
    const [, name, value] = /^(--[a-z-]+)(?:[ =](.*))?$/.exec(line) ?? [];
    if (name === undefined || name === `--${option}`)
      throw new UsageError(`--${option}`, `"${oneLine(line)}" is no option; write one a line, as --stage 5%`);
    return [value === undefined ? name : `${name}=${value.trim()}`];
  });
  const more = readArguments(args, options);
  return {
    flag: (name) => given.flag(name) || more.flag(name),
    text: (name) => more.text(name) ?? given.text(name),
    list: (name) => [...given.list(name), ...more.list(name)],
    positionals: given.positionals,
  };
}
