import { remember } from '../bounded-map.ts';
import type { DownloadedFile } from '../files/fetcher.ts';
import type { Answer, Command, Failure } from '../mqtt/messages.ts';
import type { Behaviour } from './behaviour.ts';
import { type Peer, peersOf } from './bluetooth.ts';
import { type DeviceState, type Equipment, newState, plainEquipment } from './device-state.ts';
import { isTooOldFor } from './firmware.ts';
import { operations } from './operations.ts';
import type { Plan, Plans } from './plans.ts';
import { freeStorage } from './software.ts';

/** What a device does about a command that came. */
export type Reaction =
  /** New: it waits for its turn, `begin` takes it. */
  | {
      readonly kind: 'accepted' /** Another one of its number, that was being executed, is stopped. */;
      readonly supersedes?: true;
    }
  /** Done before: the same answer again. */
  | { readonly kind: 'repeat'; readonly answer: Answer }
  /** A repetition of one that waits or is being executed: its parameters may carry a newer URL. */
  | { readonly kind: 'underway' }
  /** A cancel: `current` when it was being executed, `waiting` when it had not begun, else nothing to stop. */
  | { readonly kind: 'cancel'; readonly stopped: 'current' | 'waiting' | null }
  /** An operation that this firmware does not answer, or a repetition of a cancelled command. */
  | { readonly kind: 'ignored' };

/** A command that is being executed. */
export interface Execution {
  readonly command: Command;
  readonly plan: Plan;
  /** What has to be downloaded before the command can be finished, if anything. */
  readonly download: 'apk' | 'any' | undefined;
}

/** What a device still knows after a restart. */
export interface DeviceMemory {
  readonly state: DeviceState;
  readonly answers: readonly Remembered[];
}

/** An answer, and when its command was issued; of before that was kept it is not known. */
export interface Remembered {
  readonly answer: Answer;
  readonly issuedAt?: string | undefined;
}

export interface DeviceModel {
  readonly state: DeviceState;
  readonly peers: readonly Peer[];
  /** transactionId -> how often it was begun: 1, or the device is broken. Bounded like the memory of answers. */
  readonly executions: ReadonlyMap<number, number>;
  /** How many commands wait or are being executed. */
  unfinished(): number;
  receive(command: Command): Reaction;
  /** The next command to execute, unless what has been begun has to be finished before it, or nothing is decided about it yet. */
  begin(): Execution | undefined;
  /** Forgets what is not finished, and perhaps also what it has answered; what was set stays set. What comes again is new. */
  forget(what: 'unfinished' | 'everything'): void;
  /** Ends an execution that `begin` gave, with its effects. One with a download needs what became of that. */
  finish(transactionId: number, download?: DownloadedFile | Failure): Answer;
  /** When the command of an answer was issued. */
  issuedAt(transactionId: number): string | undefined;
}

type Lane = 'plain' | 'downloads';

const failure = (code: string, message: string): Failure => ({ code, message });

/**
 * The rules of a device (contract, section 2) without network, time or chance: each command is executed once, a
 * repeated one gets the answer that it had, and one of a known transactionId with another issuedAt is another command; commands are executed one after another in the order in which they came,
 * and so are those with a download, beside the others: a large file holds nothing else up.
 */
export function createDeviceModel({
  deviceId,
  plans,
  behaviour,
  equipment = plainEquipment,
  memory,
}: {
  deviceId: string;
  plans: Plans;
  behaviour: Behaviour;
  equipment?: Equipment;
  memory?: DeviceMemory | undefined;
}): DeviceModel {
  const state: DeviceState = { ...newState(equipment), ...memory?.state };
  const peers = peersOf(deviceId);
  /** null: cancelled, so there never is an answer. */
  const answers = new Map<number, Answer | null>();
  /** When what is known of a transactionId was issued. */
  const issued = new Map<number, string>();
  for (const { answer, issuedAt } of memory?.answers ?? []) {
    remember(answers, answer.transactionId, answer, behaviour.memory);
    if (issuedAt !== undefined) remember(issued, answer.transactionId, issuedAt, behaviour.memory);
  }
  const executions = new Map<number, number>();
  const waiting = new Map<number, Command>();
  /** At most one with a download and one without. */
  const current = new Map<number, Execution & { readonly lane: Lane }>();

  const isOther = ({ transactionId, issuedAt }: Command): boolean =>
    (issued.get(transactionId) ?? issuedAt) !== issuedAt;

  /** What was known under this number is of a command that the service does not know any more. */
  function supersede(transactionId: number): boolean {
    answers.delete(transactionId);
    executions.delete(transactionId);
    waiting.delete(transactionId);
    return current.delete(transactionId);
  }

  function cancel(transactionId: number): Reaction {
    if (current.delete(transactionId)) {
      remember(answers, transactionId, null, behaviour.memory);
      return { kind: 'cancel', stopped: 'current' };
    }
    if (!waiting.delete(transactionId)) return { kind: 'cancel', stopped: null };
    remember(answers, transactionId, null, behaviour.memory);
    return { kind: 'cancel', stopped: 'waiting' };
  }

  /** What keeps a command from being tried at all. */
  function refusal({ operation: name, parameters }: Command, { fault: mishap }: Plan): Failure | undefined {
    const operation = operations.get(name);
    if (!operation) return failure('UNSUPPORTED', `this device does not know ${name}`);
    const fault = operation.fault(parameters);
    if (fault) return failure('INVALID_PARAMETERS', fault);
    if (!operation.download) return operation.hindrance?.(state, parameters, peers);
    if (mishap?.kind === 'battery-low') return failure('INTERNAL', 'the battery is too low to install anything');
    if (mishap?.kind === 'storage-full') return failure('STORAGE_FULL', 'the storage is full of recordings');
    // What is replaced stays in place until the new file is there.
    const free = freeStorage(state, equipment.storage);
    const size = parameters['size'] as number;
    return size > free ? failure('STORAGE_FULL', `${size} bytes are needed, ${free} are free`) : undefined;
  }

  function outcome(
    { command, plan }: Execution,
    download: DownloadedFile | Failure | undefined,
  ): { error: Failure } | { result?: Readonly<Record<string, unknown>> } {
    const refused = refusal(command, plan);
    if (refused) return { error: refused };
    if (download && 'code' in download) return { error: download };
    if (plan.fails) return { error: failure('INTERNAL', 'the device could not do it') };
    const operation = operations.get(command.operation)!;
    if (operation.download) {
      if (!download) throw new Error(`${command.operation} is finished without its file`);
      return operation.apply(state, command.parameters, download);
    }
    const result = operation.apply(state, command.parameters, peers);
    return result ? { result } : {};
  }

  const laneOf = ({ operation }: Command): Lane => (operations.get(operation)?.download ? 'downloads' : 'plain');

  return {
    state,
    peers,
    executions,
    unfinished: () => waiting.size + current.size,

    receive(command) {
      const { transactionId, operation } = command;
      if (operation === 'cancel') return isOther(command) ? { kind: 'cancel', stopped: null } : cancel(transactionId);
      const supersedes = isOther(command) && supersede(transactionId);
      remember(issued, transactionId, command.issuedAt, behaviour.memory);
      const answer = answers.get(transactionId);
      if (answer) return { kind: 'repeat', answer };
      if (answer === null || behaviour.silentOperations.has(operation) || isTooOldFor(operation, state)) {
        return { kind: 'ignored' };
      }
      if (current.has(transactionId)) return { kind: 'underway' };
      const known = waiting.has(transactionId);
      // It keeps its place, with the parameters that came last.
      waiting.set(transactionId, command);
      return known ? { kind: 'underway' } : { kind: 'accepted', ...(supersedes && { supersedes }) };
    },

    begin() {
      const taken = new Set([...current.values()].map(({ lane }) => lane));
      for (const [transactionId, command] of waiting) {
        const lane = laneOf(command);
        if (taken.has(lane)) continue;
        const plan = plans.of(command);
        if (!plan) {
          // Those behind it keep their places.
          taken.add(lane);
          continue;
        }
        waiting.delete(transactionId);
        remember(executions, transactionId, (executions.get(transactionId) ?? 0) + 1, behaviour.memory);
        const wanted = operations.get(command.operation)?.download;
        const download = wanted && !refusal(command, plan) ? wanted : undefined;
        const execution = { command, plan, download, lane };
        current.set(transactionId, execution);
        return execution;
      }
      return undefined;
    },

    forget(what) {
      for (const transactionId of [...waiting.keys(), ...current.keys()]) executions.delete(transactionId);
      waiting.clear();
      current.clear();
      if (what === 'unfinished') return;
      answers.clear();
      executions.clear();
      issued.clear();
    },

    issuedAt: (transactionId) => issued.get(transactionId),

    finish(transactionId, download) {
      const execution = current.get(transactionId);
      if (!execution) throw new Error(`${transactionId} is not being executed`);
      current.delete(transactionId);
      const end = outcome(execution, download);
      const answer: Answer =
        'error' in end ? { transactionId, status: 'failed', ...end } : { transactionId, status: 'succeeded', ...end };
      remember(answers, transactionId, answer, behaviour.memory);
      return answer;
    },
  };
}
