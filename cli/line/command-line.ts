import { parseArgs } from 'node:util';
import { nearest } from './nearest.ts';
import { type Argument, COMMON, type Options } from './options.ts';
import { UsageError } from './usage-error.ts';

export interface Given {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  /**
   * All values of an option, in the order of the command line, whether it is repeated or followed by several values
   * (`--install A B C`).
   */
  list(name: string): string[];
  positionals: string[];
}

/**
 * Joins each option with its value, as `--option=value`. Secrets may begin with a hyphen, so the argument after an
 * option with a value is taken as its value, unless it is itself an option of the command.
 */
export function joinValues(args: readonly string[], options: Options): string[] {
  const isOption = (text: string): boolean =>
    text === '-h' || text === '--' || Object.keys(options).some((name) => `--${name}` === text.split('=')[0]);
  const joined: string[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return [...joined, ...args.slice(index)];
    const before = joined.at(-1) ?? '';
    const takesValue = before.startsWith('--') && options[before.slice(2)]?.value !== undefined;
    if (takesValue && arg.startsWith('-') && !isOption(arg)) joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/** The error for a faulty argument, with the option that was probably meant. */
function faultOf(error: Error, options: Options): UsageError {
  const option = /--?[\w-]+/.exec(error.message)?.[0] ?? 'arguments';
  if ((error as NodeJS.ErrnoException).code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return new UsageError(option, error.message.split('. ')[0] ?? error.message);
  const meant = nearest(option.replace(/^-+/, ''), Object.keys(options));
  return new UsageError(
    option,
    `is not an option of this command${meant === undefined ? '' : `; did you mean --${meant}?`}`,
  );
}

/** Reads the arguments of a command. Throws a UsageError that names the faulty option. */
export function readArguments(args: readonly string[], options: Options): Given {
  const all: Options = { ...COMMON, ...options };
  const config = Object.fromEntries(
    Object.entries(all).map(([name, { value, many, short }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: many === true,
        ...(short !== undefined && { short }),
      },
    ]),
  );
  const known = joinValues(args, all);
  const parse = () => parseArgs({ args: known, options: config, strict: true, allowPositionals: true, tokens: true });
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    throw faultOf(error as Error, all);
  }
  const lists = new Map<string, string[]>();
  const positionals: string[] = [];
  let open: { values: string[]; greedy: RegExp | undefined } | undefined;
  for (const token of parsed.tokens) {
    if (token.kind === 'option') {
      open = undefined;
      const option = all[token.name];
      if (option?.many !== true) continue;
      open = { values: lists.get(token.name) ?? [], greedy: option.greedy };
      open.values.push(String(token.value));
      lists.set(token.name, open.values);
    } else if (token.kind === 'positional') {
      if (open?.greedy?.test(token.value)) open.values.push(token.value);
      else positionals.push(token.value);
    }
  }
  const values = parsed.values as Record<string, string | boolean | string[] | undefined>;
  const check = (name: string, value: string): string => {
    if (value === '') throw new UsageError(`--${name}`, 'must not be empty');
    return oneOf(`--${name}`, value, all[name]?.choices);
  };
  return {
    flag: (name) => values[name] === true,
    text: (name) => (values[name] === undefined ? undefined : check(name, values[name] as string)),
    list: (name) => (lists.get(name) ?? []).map((value) => check(name, value)),
    positionals,
  };
}

function oneOf(name: string, value: string, choices: readonly string[] | undefined): string {
  if (!choices || choices.includes(value)) return value;
  const meant = nearest(value, choices);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  throw new UsageError(name, `"${value}" is not one of ${choices.join(', ')}${hint}`);
}

/** Whether the argument at a place is the PACKAGE of a version, so that the two may be written as PACKAGE@VERSION. */
export const isOfVersion = (names: readonly Argument[], index: number): boolean =>
  names[index]?.name === 'PACKAGE' && names[index + 1]?.name === 'VERSION';

/** Makes two arguments of PACKAGE@VERSION, as `--install` takes it: the name of a package has no `@`. */
export const splitVersions = (positionals: readonly string[], names: readonly Argument[]): string[] =>
  positionals.flatMap((value, index) => {
    const at = isOfVersion(names, index) ? value.indexOf('@') : -1;
    return at === -1 ? [value] : [value.slice(0, at), value.slice(at + 1)];
  });

/**
 * Checks the positionals of a command against its arguments: none may be missing, and none be left over. Throws a
 * UsageError.
 */
export function checkPositionals(positionals: readonly string[], names: readonly Argument[]): void {
  const missing = names[positionals.length];
  if (missing !== undefined && !missing.optional) {
    throw new UsageError(missing.name, `is needed${missing.choices ? `: ${missing.choices.join(', ')}` : ''}`);
  }
  const surplus = positionals[names.length];
  if (surplus !== undefined && !names.at(-1)?.many) throw new UsageError(surplus, 'is one argument too many');
  for (const [index, value] of positionals.entries()) {
    const { name = '', choices } = names[index] ?? names.at(-1) ?? {};
    if (value === '') throw new UsageError(name, 'must not be empty');
    oneOf(name, value, choices);
  }
}

/** Reads a base URL from an option. Throws a UsageError. */
export function readUrl(option: string, text: string): string {
  if (!/^https?:\/\/[^/?#][^?#]*$/.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--${option}`, `"${text}" is not an http or https URL`);
  }
  return text.replace(/\/+$/, '');
}

/** Reads a whole number from an option. Throws a UsageError. */
export function readWhole(option: string, text: string): number {
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new UsageError(`--${option}`, `"${text}" is not a whole number`);
  return Number(text);
}

/** Reads a number of seconds from an option. Throws a UsageError. */
export function readSeconds(option: string, text: string): number {
  if (!/^\d{1,8}(\.\d+)?$/.test(text)) throw new UsageError(`--${option}`, `"${text}" is not a number of seconds`);
  return Number(text);
}
