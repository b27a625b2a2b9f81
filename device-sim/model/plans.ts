import { remember } from '../bounded-map.ts';
import type { Chances } from '../faults/chances.ts';
import { type Fault, FILE_OPERATIONS, type Occasion } from '../faults/fault.ts';
import type { Command } from '../mqtt/messages.ts';
import type { Behaviour } from './behaviour.ts';
import type { Instead, Intercept } from './interception.ts';
import { operations } from './operations.ts';

/** The random decisions about one command: how long it takes, whether it fails, and which fault happens. */
export interface Plan {
  readonly occasion: Occasion;
  /** Milliseconds from the beginning of the command to its answer. */
  readonly latency: number;
  readonly fails: boolean;
  readonly twice: boolean;
  /** The fault of the command, and the fault of its download. Undefined if there is none, or after it was played. */
  fault: Fault | undefined;
  download: Fault | undefined;
  /** The outcome that code has decided; undefined: the device decides. */
  readonly instead: Instead | undefined;
}

/** The identity of a command, which is the same in every run with one seed: the number of the action that caused it. */
export interface CommandKey {
  readonly number: number;
  readonly phase: string;
}

/**
 * Finds the identity of a command by its transactionId. A promise while the request that caused the command has no
 * answer; undefined if no action caused it.
 */
export type KeyOf = (
  deviceId: string,
  transactionId: number,
) => CommandKey | undefined | Promise<CommandKey | undefined>;

export interface Plans {
  /**
   * The plan of a command. Undefined while its identity is unknown; `onDecided` is then called when the plan is made.
   */
  of(command: Command): Plan | undefined;
  /** The plan of a command that has arrived, if it is made. */
  find(transactionId: number): Plan | undefined;
}

const NOTHING: Plan = {
  occasion: { kind: 'command', key: 0 },
  latency: 0,
  fails: false,
  twice: false,
  fault: undefined,
  download: undefined,
  instead: undefined,
};

/** Decides once about each command, however often it arrives. */
export function createPlans({
  deviceId,
  chances,
  behaviour,
  keyOf,
  intercept,
  phase,
  onDecided,
}: {
  deviceId: string;
  chances: Chances;
  behaviour: Behaviour;
  keyOf?: KeyOf | undefined;
  intercept?: Intercept | undefined;
  /** The current phase. */
  phase?: (() => string) | undefined;
  onDecided?: (transactionId: number) => void;
}): Plans {
  let plans: Map<number, Plan | null> | undefined;
  /** The number of commands of each operation that no action caused. It takes the place of their identity. */
  let counts: Map<string, number> | undefined;

  /** True for a device without random behaviour: all its commands have the same plan, whatever their identity. */
  const isSettled =
    !intercept &&
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

  function decide(
    { transactionId, operation, parameters }: Command,
    key: CommandKey | undefined,
    instead: Instead | undefined,
  ): Plan {
    const occasion: Occasion = {
      kind: 'command',
      operation,
      key: key?.number ?? `${nextOf(operation)}th`,
      phase: key?.phase ?? phase?.(),
      ...(FILE_OPERATIONS.includes(operation) && { version: String(parameters['version']) }),
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
      instead,
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
      const instead = intercept?.(command);
      if (!(key instanceof Promise) && !(instead instanceof Promise)) return decide(command, key, instead);
      plans ??= new Map();
      remember(plans, transactionId, null, behaviour.memory);
      void Promise.all([key, instead]).then(([found, decided]) => {
        decide(command, found, decided);
        onDecided?.(transactionId);
      });
      return undefined;
    },
  };
}
