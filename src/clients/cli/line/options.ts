/** An option of a command: without `value` a flag; `many` may be given again and again. */
export interface Option {
  value?: string;
  many?: boolean;
  /** Positionals of this form that follow a `many` option belong to it. */
  greedy?: RegExp;
  /** One of these, and nothing else. */
  choices?: readonly string[];
  /** Names a file. */
  file?: boolean;
  text: string;
}
export type Options = Readonly<Record<string, Option>>;

/** What follows the name of a command. */
export interface Argument {
  name: string;
  optional?: boolean;
  /** One of these, and nothing else. */
  choices?: readonly string[];
  /** Names a file. */
  file?: boolean;
}

/** The option of a field: `deviceEvent` is `--device-event`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Every command has these. */
export const COMMON = {
  json: { text: 'standard output carries JSON and nothing else' },
  help: { text: 'this text' },
} satisfies Options;
