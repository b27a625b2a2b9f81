import type { Instead } from '../model/interception.ts';
import { operations } from '../model/operations.ts';
import type { Command } from '../mqtt/messages.ts';
import { UsageError } from '../usage-error.ts';
import { readOneOf, shown } from './arguments.ts';
import type * as declared from './public.d.ts';

/** The most characters of an error message. */
const LONGEST_MESSAGE = 200;

/** The device whose commands are decided, and the errors of its handlers. */
export interface Decided {
  readonly device: declared.SimulatedDevice;
  readonly errors: unknown[];
}

/** Functions that decide about commands, by operation. */
export interface Handlers {
  /** Decides about the commands of an operation from now on. The returned function ends this. */
  set(operation: string, handler: declared.Handler): () => void;
  /**
   * The outcome of a command; undefined if no handler decides it. Never rejects: an error of the handler is added to
   * `errors`, and the command fails.
   */
  decide(command: Command, to: Decided): Promise<Instead | undefined> | undefined;
}

/** Reads the return value of a handler. Throws a UsageError that says what is wrong with it. */
function insteadOf(operation: string, outcome: unknown): Instead | undefined {
  if (outcome === undefined || outcome === 'never') return outcome;
  const { fail, message, result } = (outcome ?? {}) as { fail?: unknown; message?: unknown; result?: unknown };
  if (typeof fail === 'string' && fail !== '' && (message === undefined || typeof message === 'string'))
    return { error: { code: fail, message: message ?? 'a handler of the test decided this' } };
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) return { result: { ...result } };
  throw new UsageError(
    `on(${operation})`,
    `the handler returned ${shown(outcome)}, which is none of undefined, { fail: 'CODE' }, { result: { ... } }, 'never'`,
  );
}

/** `given`: the first handlers, by operation. Throws a UsageError if one of them is wrong. */
export function createHandlers(given: declared.Handlers = {}): Handlers {
  const handlers = new Map<string, declared.Handler>();

  function set(operation: string, handler: declared.Handler): () => void {
    readOneOf('on', operation, [...operations.keys()]);
    if (typeof handler !== 'function') throw new UsageError(`on(${operation})`, `${shown(handler)} is no function`);
    handlers.set(operation, handler);
    return () => {
      if (handlers.get(operation) === handler) handlers.delete(operation);
    };
  }
  if (typeof given !== 'object' || given === null)
    throw new UsageError('on', `${shown(given)} is no object of operations and functions`);
  for (const [operation, handler] of Object.entries(given)) set(operation, handler);

  async function ask(handler: declared.Handler, command: Command, { device, errors }: Decided) {
    try {
      return insteadOf(command.operation, await handler(command, device));
    } catch (error) {
      errors.push(error);
      const message = String((error as Error)?.message ?? error).slice(0, LONGEST_MESSAGE);
      return { error: { code: 'INTERNAL', message } };
    }
  }

  return {
    set,
    decide(command, to) {
      const handler = handlers.get(command.operation);
      return handler && ask(handler, command, to);
    },
  };
}
