import type { Behaviour } from './behaviour.ts';
import { remember } from './bounded-map.ts';
import type { Answer, Command } from './messages.ts';
import { type DeviceState, operations } from './operations.ts';
import { createRandom, draw } from './random.ts';

/** What a device does about a command that came. */
export type Reaction =
  /** New: it waits for its turn, `begin` takes it. */
  | { readonly kind: 'accepted' }
  /** Done before: the same answer again. */
  | { readonly kind: 'repeat'; readonly answer: Answer }
  /** A repetition of one that waits or is being executed. */
  | { readonly kind: 'underway' }
  /** A cancel: `current` when it was the one being executed, `waiting` when it had not begun, else nothing to stop. */
  | { readonly kind: 'cancel'; readonly stopped: 'current' | 'waiting' | null }
  /** An operation that this firmware does not answer, or a repetition of a cancelled command. */
  | { readonly kind: 'ignored' };

/** A command that is being executed. */
export interface Execution {
  readonly command: Command;
  readonly latency: number;
}

/** What a device still knows after a restart. */
export interface DeviceMemory {
  readonly state: DeviceState;
  readonly answers: readonly Answer[];
}

export interface DeviceModel {
  readonly state: Readonly<DeviceState>;
  /** transactionId -> how often it was begun: 1, or the device is broken. Bounded like the memory of answers. */
  readonly executions: ReadonlyMap<number, number>;
  /** How many commands wait or are being executed. */
  unfinished(): number;
  receive(command: Command): Reaction;
  /** The next command to execute, unless one is being executed. */
  begin(): Execution | undefined;
  /** Ends the execution that `begin` gave, with its effects. */
  finish(): Answer;
}

const failed = (transactionId: number, code: string, message: string): Answer => ({
  transactionId,
  status: 'failed',
  error: { code, message },
});

/**
 * The rules of a device (contract, section 2) without network, time or chance: each transactionId is executed once, a
 * repeated one gets the answer that it had; commands are executed one after another in the order in which they came.
 */
export function createDeviceModel({
  seed,
  behaviour,
  memory,
}: {
  seed: number;
  behaviour: Behaviour;
  memory?: DeviceMemory | undefined;
}): DeviceModel {
  const random = createRandom(seed);
  const state: DeviceState = memory ? { ...memory.state } : { activation: null, apns: [], networks: [] };
  /** null: cancelled, so there never is an answer. */
  const answers = new Map<number, Answer | null>();
  for (const answer of memory?.answers ?? []) remember(answers, answer.transactionId, answer, behaviour.memory);
  const executions = new Map<number, number>();
  const waiting = new Map<number, Command>();
  let current: (Execution & { readonly fails: boolean }) | undefined;

  function cancel(transactionId: number): Reaction {
    if (current?.command.transactionId === transactionId) {
      current = undefined;
      remember(answers, transactionId, null, behaviour.memory);
      return { kind: 'cancel', stopped: 'current' };
    }
    if (!waiting.delete(transactionId)) return { kind: 'cancel', stopped: null };
    remember(answers, transactionId, null, behaviour.memory);
    return { kind: 'cancel', stopped: 'waiting' };
  }

  function outcome(command: Command, fails: boolean): Answer {
    const { transactionId, parameters } = command;
    const operation = operations.get(command.operation);
    if (!operation) return failed(transactionId, 'UNSUPPORTED', `this device does not know ${command.operation}`);
    const fault = operation.fault(parameters);
    if (fault) return failed(transactionId, 'INVALID_PARAMETERS', fault);
    if (fails) return failed(transactionId, 'INTERNAL', 'the device could not do it');
    const result = operation.apply(state, parameters);
    return result ? { transactionId, status: 'succeeded', result } : { transactionId, status: 'succeeded' };
  }

  return {
    state,
    executions,
    unfinished: () => waiting.size + (current ? 1 : 0),

    receive(command) {
      const { transactionId, operation } = command;
      if (operation === 'cancel') return cancel(transactionId);
      const answer = answers.get(transactionId);
      if (answer) return { kind: 'repeat', answer };
      if (answer === null || behaviour.silentOperations.has(operation)) return { kind: 'ignored' };
      if (waiting.has(transactionId) || current?.command.transactionId === transactionId) return { kind: 'underway' };
      waiting.set(transactionId, command);
      return { kind: 'accepted' };
    },

    begin() {
      if (current) return undefined;
      for (const [transactionId, command] of waiting) {
        waiting.delete(transactionId);
        remember(executions, transactionId, (executions.get(transactionId) ?? 0) + 1, behaviour.memory);
        // Two draws for every command, used or not: what one device goes through depends on its seed alone.
        current = { command, latency: draw(random, behaviour.latency), fails: random() < behaviour.failureRate };
        return current;
      }
      return undefined;
    },

    finish() {
      if (!current) throw new Error('nothing is being executed');
      const { command, fails } = current;
      current = undefined;
      const answer = outcome(command, fails);
      remember(answers, answer.transactionId, answer, behaviour.memory);
      return answer;
    },
  };
}
