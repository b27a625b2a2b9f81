import { remember } from '../bounded-map.ts';
import type { Chances } from '../faults/chances.ts';
import type { Fault, Occasion } from '../faults/fault.ts';
import type { Command } from '../mqtt/messages.ts';
import type { Behaviour } from './behaviour.ts';
import { operations } from './operations.ts';

/** What is to become of one command. */
export interface Plan {
  readonly occasion: Occasion;
  /** Milliseconds. */
  readonly latency: number;
  readonly fails: boolean;
  readonly twice: boolean;
  /** What befalls the command, and the file that it names. Undefined again when it was played. */
  fault: Fault | undefined;
  download: Fault | undefined;
}

/** By what a command is known in every run: the number of the action that caused it. */
export interface CommandKey {
  readonly number: number;
  readonly phase: string;
}

/** Of the transaction of a device. A promise while its request has not been answered; undefined: nobody knows. */
export type KeyOf = (
  deviceId: string,
  transactionId: number,
) => CommandKey | undefined | Promise<CommandKey | undefined>;

export interface Plans {
  /** Undefined: it is not known yet; `onDecided` is called when it is. */
  of(command: Command): Plan | undefined;
  /** What was planned about a command that came. */
  find(transactionId: number): Plan | undefined;
}

const NOTHING: Plan = {
  occasion: { kind: 'command', key: 0 },
  latency: 0,
  fails: false,
  twice: false,
  fault: undefined,
  download: undefined,
};

/** Decides about commands, each once, however often it comes. */
export function createPlans({
  deviceId,
  chances,
  behaviour,
  keyOf,
  phase,
  onDecided,
}: {
  deviceId: string;
  chances: Chances;
  behaviour: Behaviour;
  keyOf?: KeyOf | undefined;
  /** The phase that is on. */
  phase?: (() => string) | undefined;
  onDecided?: (transactionId: number) => void;
}): Plans {
  let plans: Map<number, Plan | null> | undefined;
  /** Commands of each operation that came without a key. */
  let counts: Map<string, number> | undefined;

  /** Where nothing is left to chance, nothing has to be known of a command. */
  const isSettled =
    !chances.mayBefall('command') &&
    !chances.mayBefall('download') &&
    behaviour.latency.min === behaviour.latency.max &&
    behaviour.failureRate === 0 &&
    behaviour.duplicateAckRate === 0;
  const settled: Plan = { ...NOTHING, latency: behaviour.latency.min };

  function nextOf(operation: string): number {
    counts ??= new Map();
    const next = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, next);
    return next;
  }

  function decide({ transactionId, operation }: Command, key: CommandKey | undefined): Plan {
    const occasion: Occasion = {
      kind: 'command',
      operation,
      key: key?.number ?? `${nextOf(operation)}th`,
      phase: key?.phase ?? phase?.(),
    };
    const fault = chances.on(occasion);
    const late = fault?.kind === 'answers-late' ? fault.delay : 0;
    const plan: Plan = {
      occasion,
      latency: chances.within(occasion, 'latency', behaviour.latency) + late,
      fails: fault?.kind === 'fails' || chances.hits(occasion, 'fails', behaviour.failureRate),
      twice: fault?.kind === 'answers-twice' || chances.hits(occasion, 'twice', behaviour.duplicateAckRate),
      fault,
      download: operations.get(operation)?.download && chances.on({ ...occasion, kind: 'download' }),
    };
    plans ??= new Map();
    remember(plans, transactionId, plan, behaviour.memory);
    return plan;
  }

  return {
    find: (transactionId) => (isSettled ? settled : (plans?.get(transactionId) ?? undefined)),

    of(command) {
      if (isSettled) return settled;
      const { transactionId } = command;
      const known = plans?.get(transactionId);
      if (known !== undefined) return known ?? undefined;
      const key = keyOf?.(deviceId, transactionId);
      if (!(key instanceof Promise)) return decide(command, key);
      plans ??= new Map();
      remember(plans, transactionId, null, behaviour.memory);
      void key.then((found) => {
        decide(command, found);
        onDecided?.(transactionId);
      });
      return undefined;
    },
  };
}
