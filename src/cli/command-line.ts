import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

/** An option of a command: without `value` a flag; `many` may be given again and again. */
export interface Option {
  value?: string;
  many?: boolean;
  text: string;
}
export type Options = Readonly<Record<string, Option>>;

export interface Given {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  /** In the order of the command line; also `--install A B C`. */
  list(name: string): string[];
  positionals: string[];
}

/** Every command has these. */
export const COMMON = {
  json: { text: 'standard output carries one JSON object and nothing else' },
  help: { text: 'this text' },
} satisfies Options;

/** Secrets may begin with a hyphen: what follows an option with a value is its value, unless it is an option itself. */
function joinValues(args: readonly string[], options: Options): string[] {
  const isOption = (text: string): boolean =>
    text === '-h' || text === '--' || Object.keys(options).some((name) => `--${name}` === text.split('=')[0]);
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1) ?? '';
    const takesValue = before.startsWith('--') && options[before.slice(2)]?.value !== undefined;
    if (takesValue && arg.startsWith('-') && !isOption(arg)) joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/**
 * Reads the arguments of a command. `greedy` says which positionals after a `many` option belong to it. Throws a
 * UsageError that names the faulty option.
 */
export function readArguments(args: readonly string[], options: Options, greedy = /^(?!)/): Given {
  const config = Object.fromEntries(
    Object.entries({ ...COMMON, ...options }).map(([name, { value, many }]: [string, Option]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: many === true,
        ...(name === 'help' && { short: 'h' }),
      },
    ]),
  );
  const known = joinValues(args, { ...COMMON, ...options });
  const parse = () => parseArgs({ args: known, options: config, strict: true, allowPositionals: true, tokens: true });
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    const text = (error as Error).message;
    throw new UsageError(/--?[\w-]+/.exec(text)?.[0] ?? 'arguments', text.split('. ')[0] ?? text);
  }
  const lists = new Map<string, string[]>();
  const positionals: string[] = [];
  let open: string[] | undefined;
  for (const token of parsed.tokens) {
    if (token.kind === 'option') {
      open = undefined;
      if ((options[token.name] as Option | undefined)?.many !== true) continue;
      open = lists.get(token.name) ?? [];
      open.push(String(token.value));
      lists.set(token.name, open);
    } else if (token.kind === 'positional') {
      if (open && greedy.test(token.value)) open.push(token.value);
      else positionals.push(token.value);
    }
  }
  const values = parsed.values as Record<string, string | boolean | string[] | undefined>;
  return {
    flag: (name) => values[name] === true,
    text(name) {
      if (values[name] === '') throw new UsageError(`--${name}`, 'must not be empty');
      return values[name] as string | undefined;
    },
    list: (name) => lists.get(name) ?? [],
    positionals,
  };
}

/** Names the positionals of a command; each has to be there, and no more. */
export function namePositionals(positionals: readonly string[], names: readonly string[]): string[] {
  const missing = names[positionals.length];
  if (missing !== undefined) throw new UsageError(missing, 'is needed');
  const surplus = positionals[names.length];
  if (surplus !== undefined) throw new UsageError(surplus, 'is one argument too many');
  return [...positionals];
}

/** The base address in an option. Throws a UsageError. */
export function readUrl(option: string, text: string): string {
  if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--${option}`, `"${text}" is no http or https URL`);
  }
  return text.replace(/\/+$/, '');
}

/** A number of seconds in an option. Throws a UsageError. */
export function readSeconds(option: string, text: string): number {
  if (!/^\d{1,8}(\.\d+)?$/.test(text)) throw new UsageError(`--${option}`, `"${text}" is no number of seconds`);
  return Number(text);
}

/** The lines of a help text about options. */
export function optionsHelp(options: Options): string {
  const rows = Object.entries({ ...options, ...COMMON }).map(([name, { value, text }]: [string, Option]) => {
    const short = name === 'help' ? '-h, ' : '';
    return [`${short}--${name}${value === undefined ? '' : ` ${value}`}`, text] as const;
  });
  return rows.map(([option, text]) => `  ${option.padEnd(26)} ${text}\n`).join('');
}
