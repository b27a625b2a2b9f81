import { remember } from '../bounded-map.ts';
import type { DownloadedFile } from '../files/fetcher.ts';
import type { Answer, Command, Failure } from '../mqtt/messages.ts';
import type { Behaviour } from './behaviour.ts';
import { type Peer, peersOf } from './bluetooth.ts';
import { type DeviceState, type Equipment, newState, plainEquipment } from './device-state.ts';
import type { DiagnosticFile, UploadedDiagnostics } from './diagnostics.ts';
import { isTooOldFor } from './firmware.ts';
import { operations } from './operations.ts';
import type { Plan, Plans } from './plans.ts';
import { freeStorage } from './software.ts';

/** How a device handles a command that arrived. */
export type Reaction =
  /**
   * A new command, which waits for its turn. `supersedes`: a different command with the same transactionId was in
   * progress, and is stopped.
   */
  | {
      readonly kind: 'accepted';
      readonly supersedes?: true;
    }
  /** A command that the device has already carried out, so it sends the same answer again. */
  | { readonly kind: 'repeat'; readonly answer: Answer }
  /** A repetition of a command that waits or is in progress. Its parameters may have a newer URL. */
  | { readonly kind: 'underway' }
  /**
   * A cancel. `current`: the command was in progress; `waiting`: it had not begun; otherwise there was nothing to stop.
   */
  | { readonly kind: 'cancel'; readonly stopped: 'current' | 'waiting' | null }
  /** An operation that this firmware does not answer, or a repetition of a cancelled command. */
  | { readonly kind: 'ignored' };

/** A command in progress. */
export interface Execution {
  readonly command: Command;
  readonly plan: Plan;
  /** The file that must be downloaded before the command can finish, if any. */
  readonly download: 'apk' | 'any' | undefined;
  /** The files that must be uploaded before the command can finish, if any. */
  readonly collected: readonly DiagnosticFile[] | undefined;
}

/** The outcome of the transfer of a command: of its download, or of the upload of its files. */
export type Transferred = DownloadedFile | { readonly files: readonly UploadedDiagnostics[] } | Failure;

/** The state and the answers that a device keeps over a restart. */
export interface DeviceMemory {
  readonly state: DeviceState;
  readonly answers: readonly Remembered[];
}

/**
 * An answer that the device has stored, with the issuedAt of its command. State files of earlier versions have no
 * issuedAt.
 */
export interface Remembered {
  readonly answer: Answer;
  readonly issuedAt?: string | undefined;
}

export interface DeviceModel {
  readonly state: DeviceState;
  readonly peers: readonly Peer[];
  /**
   * How often each transactionId was begun: more than 1 would be a fault of the device. Bounded like the memory of
   * answers.
   */
  readonly executions: ReadonlyMap<number, number>;
  /** The number of commands that wait or are in progress. */
  unfinished(): number;
  receive(command: Command): Reaction;
  /**
   * Takes the next command to carry out from the queue. Undefined if there is none, if a command in progress must
   * finish first, or if the random decisions about the next command are not made yet.
   */
  begin(): Execution | undefined;
  /**
   * Forgets unfinished commands; with `everything` also the stored answers, so that a repeated command is carried out
   * again. Settings stay.
   */
  forget(what: 'unfinished' | 'everything'): void;
  /**
   * Ends an execution that `begin` returned: changes the state, and returns the answer. If the command has a download or
   * files, the outcome of their transfer is passed.
   */
  finish(transactionId: number, transferred?: Transferred): Answer;
  /**
   * Begins the trial of a list of networks, if the command of an execution asks for one and can be carried out. Then
   * `endTrial` ends the execution.
   */
  tries(transactionId: number): boolean;
  /**
   * Ends the trial: the device keeps the new list, or takes the former one again. Returns the answer; undefined if the
   * command is not the service's any more.
   */
  endTrial(isReached: boolean): Answer | undefined;
  /** The issuedAt of a command, by its transactionId; undefined if the command is unknown. */
  issuedAt(transactionId: number): string | undefined;
}

type Lane = 'plain' | 'downloads';

const NOT_REACHED = 'the service was not reached with the new list, so the former one is back';

const failure = (code: string, message: string): Failure => ({ code, message });

/**
 * The rules of a device (contract, section 2), without network, time or randomness. 1. Each command is executed once,
 * and a repeated command gets the same answer. 2. The same transactionId with another issuedAt is another command. 3.
 * Commands are executed one after another, in the order of their arrival. Commands with a download form a second queue,
 * so that a large file delays nothing else.
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
  /** The stored answers by transactionId. Null: the command was cancelled, so it never gets an answer. */
  const answers = new Map<number, Answer | null>();
  /** The issuedAt of each known transactionId. */
  const issued = new Map<number, string>();
  for (const { answer, issuedAt } of memory?.answers ?? []) {
    remember(answers, answer.transactionId, answer, behaviour.memory);
    if (issuedAt !== undefined) remember(issued, answer.transactionId, issuedAt, behaviour.memory);
  }
  const executions = new Map<number, number>();
  const waiting = new Map<number, Command>();
  /** The commands in progress: at most one with a download and one without. */
  const current = new Map<number, Execution & { readonly lane: Lane }>();

  /** Whether the command is the one whose list of networks is on trial. */
  const isOnTrial = ({ transactionId, issuedAt }: Pick<Command, 'transactionId' | 'issuedAt'>): boolean =>
    state.trial?.transactionId === transactionId && state.trial.issuedAt === issuedAt;

  const isOther = ({ transactionId, issuedAt }: Command): boolean =>
    (issued.get(transactionId) ?? issuedAt) !== issuedAt;

  /** A known transactionId with another issuedAt: forgets the former command, which the service no longer knows. */
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

  /** The reason why a command is not even tried. */
  function refusal({ operation: name, parameters }: Command, { fault: mishap }: Plan): Failure | undefined {
    const operation = operations.get(name);
    if (!operation) return failure('UNSUPPORTED', `this device does not know ${name}`);
    const fault = operation.fault(parameters);
    if (fault) return failure('INVALID_PARAMETERS', fault);
    if (!operation.download) return operation.hindrance?.(state, parameters, peers);
    if (mishap?.kind === 'battery-low') return failure('INTERNAL', 'the battery is too low for an installation');
    if (mishap?.kind === 'signature-rejected')
      return failure('SIGNATURE_REJECTED', 'no key of this device has signed this version');
    if (mishap?.kind === 'storage-full') return failure('STORAGE_FULL', 'the storage is full of recordings');
    // The installed version keeps its storage until the new file is complete, so the new file needs free storage beside
    // it.
    const free = freeStorage(state, equipment.storage);
    const size = parameters['size'] as number;
    return size > free ? failure('STORAGE_FULL', `${size} bytes are needed, ${free} are free`) : undefined;
  }

  function outcome(
    { command, plan }: Execution,
    transferred: Transferred | undefined,
  ): { error: Failure } | { result?: Readonly<Record<string, unknown>> } {
    // A command without an answer is remembered like a success, so that a repetition does not begin it again.
    if (plan.instead) return plan.instead === 'never' ? {} : plan.instead;
    const refused = refusal(command, plan);
    if (refused) return { error: refused };
    if (transferred && 'code' in transferred) return { error: transferred };
    if (plan.fails)
      return { error: failure(plan.fault?.code ?? 'INTERNAL', 'the device could not carry out the command') };
    const operation = operations.get(command.operation)!;
    if (operation.download) {
      if (!transferred || 'files' in transferred) throw new Error(`${command.operation} is finished without its file`);
      return operation.apply(state, command.parameters, transferred);
    }
    if (transferred && 'files' in transferred) return { result: transferred };
    const result = operation.apply(state, command.parameters, peers);
    return result ? { result } : {};
  }

  const laneOf = ({ operation }: Command): Lane => (operations.get(operation)?.download ? 'downloads' : 'plain');

  return {
    state,
    peers,
    executions,
    unfinished: () => waiting.size + current.size + (state.trial && !current.has(state.trial.transactionId) ? 1 : 0),

    receive(command) {
      const { transactionId, operation } = command;
      // A list of networks that is on trial has begun, so a cancel comes too late.
      const isTooLate = operation === 'cancel' && (isOther(command) || isOnTrial(command));
      if (operation === 'cancel') return isTooLate ? { kind: 'cancel', stopped: null } : cancel(transactionId);
      const supersedes = isOther(command) && supersede(transactionId);
      remember(issued, transactionId, command.issuedAt, behaviour.memory);
      const answer = answers.get(transactionId);
      if (answer) return { kind: 'repeat', answer };
      if (answer === null || behaviour.silentOperations.has(operation) || isTooOldFor(operation, state)) {
        return { kind: 'ignored' };
      }
      if (current.has(transactionId) || isOnTrial(command)) return { kind: 'underway' };
      const known = waiting.has(transactionId);
      // A repeated command keeps its position in the queue, but gets the new parameters.
      waiting.set(transactionId, command);
      return known ? { kind: 'underway' } : { kind: 'accepted', ...(supersedes && { supersedes }) };
    },

    begin() {
      const taken = new Set([...current.values()].map(({ lane }) => lane));
      if (state.trial) taken.add('plain'); // also after a restart, in which the execution was lost
      for (const [transactionId, command] of waiting) {
        const lane = laneOf(command);
        if (taken.has(lane)) continue;
        const plan = plans.of(command);
        if (!plan) {
          // The random decisions about this command are still to be made. Later commands in its queue keep waiting, so
          // that the order stays.
          taken.add(lane);
          continue;
        }
        waiting.delete(transactionId);
        remember(executions, transactionId, (executions.get(transactionId) ?? 0) + 1, behaviour.memory);
        const operation = operations.get(command.operation);
        const isCarriedOut = !plan.instead && !refusal(command, plan);
        const download = isCarriedOut ? operation?.download : undefined;
        const collected =
          isCarriedOut && operation && !operation.download ? operation.collects?.(state, command) : undefined;
        const execution = { command, plan, download, collected, lane };
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

    finish(transactionId, transferred) {
      const execution = current.get(transactionId);
      if (!execution) throw new Error(`${transactionId} is not being executed`);
      current.delete(transactionId);
      const end = outcome(execution, transferred);
      const answer: Answer =
        'error' in end ? { transactionId, status: 'failed', ...end } : { transactionId, status: 'succeeded', ...end };
      remember(answers, transactionId, answer, behaviour.memory);
      return answer;
    },

    tries(transactionId) {
      const { command, plan } = current.get(transactionId)!;
      const operation = operations.get(command.operation);
      const { revertAfter } = command.parameters;
      if (!operation || operation.download || !operation.tries || typeof revertAfter !== 'number') return false;
      if (plan.instead || plan.fails || refusal(command, plan)) return false;
      const former = { [operation.tries]: state[operation.tries] };
      operation.apply(state, command.parameters, peers);
      state.trial = { transactionId, issuedAt: command.issuedAt, revertAfter, former };
      return true;
    },

    endTrial(isReached) {
      const { trial } = state;
      if (!trial) return undefined;
      delete state.trial;
      if (!isReached) Object.assign(state, trial.former);
      const { transactionId, issuedAt } = trial;
      if ((issued.get(transactionId) ?? issuedAt) !== issuedAt) return undefined;
      current.delete(transactionId);
      remember(issued, transactionId, issuedAt, behaviour.memory);
      const answer: Answer = isReached
        ? { transactionId, status: 'succeeded' }
        : { transactionId, status: 'failed', error: failure('REVERTED', NOT_REACHED) };
      remember(answers, transactionId, answer, behaviour.memory);
      return answer;
    },
  };
}
