/** An option of a command. Without `value` it is a flag; with `many` it may be repeated. */
export interface Option {
  value?: string;
  many?: boolean;
  /** Positionals that follow a `many` option and match this belong to it. */
  greedy?: RegExp;
  /** The only permitted values of the option. */
  choices?: readonly string[];
  /** True when the value is the name of a file. */
  file?: boolean;
  text: string;
}
export type Options = Readonly<Record<string, Option>>;

/** An argument after the name of a command. */
export interface Argument {
  name: string;
  optional?: boolean;
  /** The only permitted values of the argument. */
  choices?: readonly string[];
  /** True when the argument is the name of a file. */
  file?: boolean;
}

/** The name of the option for a field: `deviceEvent` becomes `--device-event`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The options that every command has. */
export const COMMON = {
  json: { text: 'print JSON only on standard output' },
  help: { text: 'show this text' },
} satisfies Options;
