import type { Command, Failure } from '../mqtt/messages.ts';

/**
 * The outcome of a command that code decides instead of the device, whose state then stays as it is. `never`: the
 * device gives no answer.
 */
export type Instead = { readonly error: Failure } | { readonly result?: Readonly<Record<string, unknown>> } | 'never';

/**
 * Called once for each command, when its turn has come, before it is carried out. Undefined leaves the command to the
 * device. While a promise is open, later commands of the queue wait. It must not throw or reject.
 */
export type Intercept = (command: Command) => Instead | undefined | Promise<Instead | undefined>;
