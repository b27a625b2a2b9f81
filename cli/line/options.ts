/**
 * An option of a command. Without `value` (the name of its value in help texts) it is a flag; with `many` it may be
 * repeated.
 */
export interface Option {
  value?: string;
  /** The one letter that stands for it, as `f` for `-f`. */
  short?: string;
  many?: boolean;
  /** For a `many` option: arguments that follow it and match this expression are further values of it. */
  greedy?: RegExp;
  /** The only permitted values of the option. */
  choices?: readonly string[];
  /** True when the value is the name of a file. */
  file?: boolean;
  text: string;
}
export type Options = Readonly<Record<string, Option>>;

/**
 * An argument of a command: a word of the command line that is neither the command's name nor an option, such as DEVICE
 * in `lapel device show DEVICE`.
 */
export interface Argument {
  name: string;
  optional?: boolean;
  /** True when the last argument of a command may be repeated. */
  many?: boolean;
  /** The only permitted values of the argument. */
  choices?: readonly string[];
  /** True when the argument is the name of a file. */
  file?: boolean;
  /** True when the argument is the deviceId of a device of the application, which shells complete. */
  device?: true;
}

/** The deviceId of a device of the application. */
export const DEVICE: Argument = { name: 'DEVICE', device: true };

/** The name of the option for a field: `deviceEvent` becomes `--device-event`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The options that every command has. */
export const COMMON = {
  json: { text: 'print JSON only on standard output' },
  help: { short: 'h', text: 'show this text' },
} satisfies Options;
