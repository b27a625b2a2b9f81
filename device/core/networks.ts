import type { Ack, DiskRecord } from '../disk/records.ts';
import { answerOf, type Outcome } from './answer.ts';
import type { ListKind } from './effects.ts';
import type { ReceivedCommand } from './messages.ts';
import type { Stage } from './stage.ts';

const LISTS: Readonly<Record<string, ListKind>> = { setWifi: 'networks', setApn: 'apns' };
const KINDS: readonly ListKind[] = ['networks', 'apns'];
/** A device that restarts more often than its time would never go back. */
const MOST_RESTARTS = 5;
const REVERTED = { code: 'REVERTED', message: 'the service was not reached with the new list' };

/** The setting `trial`. */
interface Trial {
  id: string;
  transactionId: number;
  kind: ListKind;
  former: readonly unknown[];
  seconds: number;
  restarts: number;
}

/** What is wrong with the parameters; undefined if nothing is. */
function faultOf(kind: ListKind, list: unknown, revertAfter: unknown): string | undefined {
  if (!Array.isArray(list)) return `${kind}: not a list`;
  if (revertAfter === undefined || (Number.isInteger(revertAfter) && (revertAfter as number) >= 1)) return undefined;
  return 'revertAfter: not a number of seconds';
}

interface Parts {
  stage: Stage;
  /** The lists that this device has. */
  kinds: readonly ListKind[];
  /** Sends a stored answer. */
  publish(id: string): void;
  /** Begins the next command. */
  next(): void;
  /** Takes the connection for ended. */
  leave(): void;
}

/** Lists of networks and access points, and the trial of one (rule `former-networks`). */
export class Networks {
  readonly #parts: Parts;
  #deadline = Number.POSITIVE_INFINITY;
  /** The command whose write waits for the disk. */
  #writing: string | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get #trial(): Trial | undefined {
    return this.#parts.stage.memory.settings.get('trial') as Trial | undefined;
  }

  /** While it is, no command begins. */
  get isBusy(): boolean {
    return this.#writing !== undefined || this.#trial !== undefined;
  }

  /** Whether this command waits for the disk. */
  isWriting(id: string): boolean {
    return this.#writing === id;
  }

  takes({ operation }: ReceivedCommand): boolean {
    const kind = Object.hasOwn(LISTS, operation) ? LISTS[operation] : undefined;
    return kind !== undefined && this.#parts.kinds.includes(kind);
  }

  /** Counts a restart in a trial, and tells the lists that are in use. */
  start(): void {
    const { stage } = this.#parts;
    const trial = this.#trial;
    const isLast = trial !== undefined && trial.restarts + 1 >= MOST_RESTARTS;
    const former = isLast ? { [trial.kind]: trial.former } : {};
    if (isLast) this.#end(trial, false);
    else if (trial) {
      stage.tryToWrite({ k: 'set', name: 'trial', value: { ...trial, restarts: trial.restarts + 1 } });
      this.#count(trial.seconds);
    }
    for (const kind of KINDS) {
      const list = (former[kind] ?? stage.memory.settings.get(kind)) as readonly unknown[] | undefined;
      if (list) stage.emit({ networks: { kind, list } });
    }
  }

  carryOut(id: string, { operation, transactionId, parameters }: ReceivedCommand): void {
    const { stage } = this.#parts;
    const kind = LISTS[operation]!;
    const { [kind]: list, revertAfter } = parameters;
    const fault = faultOf(kind, list, revertAfter);
    if (fault !== undefined) {
      const failure = { code: 'INVALID_PARAMETERS', message: fault };
      this.#answer(id, transactionId, { failure }, [], () => {});
      return;
    }
    const networks = { kind, list: list as readonly unknown[] };
    const set: DiskRecord = { k: 'set', name: kind, value: list };
    if (revertAfter === undefined) this.#answer(id, transactionId, {}, [set], () => stage.emit({ networks }));
    else this.#try({ id, transactionId, kind, seconds: revertAfter as number }, set, () => stage.emit({ networks }));
  }

  #try(about: Omit<Trial, 'former' | 'restarts'>, set: DiskRecord, use: () => void): void {
    const { stage, leave } = this.#parts;
    const former = (stage.memory.settings.get(about.kind) ?? []) as readonly unknown[];
    this.#writing = about.id;
    stage.write([{ k: 'set', name: 'trial', value: { ...about, former, restarts: 0 } }, set], () => {
      this.#writing = undefined;
      this.#count(about.seconds);
      use();
      leave();
    });
  }

  /** Before the answers are sent. */
  connected(over: ListKind | undefined): void {
    const trial = this.#trial;
    if (trial && this.#writing === undefined && (over === undefined || over === trial.kind)) this.#end(trial, true);
  }

  timePassed(): void {
    const trial = this.#trial;
    if (!trial || this.#writing !== undefined || this.#parts.stage.clocks.monotonic() < this.#deadline) return;
    this.#parts.stage.emit({ networks: { kind: trial.kind, list: trial.former } });
    this.#parts.leave();
    this.#end(trial, false);
  }

  #count(seconds: number): void {
    const { stage } = this.#parts;
    this.#deadline = stage.clocks.monotonic() + 1000 * seconds;
    stage.emit({ wake: this.#deadline });
  }

  /** Keeps the new list, or stores that the former one is in use again. */
  #end({ id, transactionId, kind, former }: Trial, isReached: boolean): void {
    const records: DiskRecord[] = [{ k: 'set', name: 'trial', value: null }];
    if (!isReached) records.push({ k: 'set', name: kind, value: former });
    this.#deadline = Number.POSITIVE_INFINITY;
    this.#answer(id, transactionId, isReached ? {} : { failure: REVERTED }, records, () => {});
  }

  /** The records and the answer in one write; then it is told. */
  #answer(
    id: string,
    transactionId: number,
    outcome: Outcome,
    records: readonly DiskRecord[],
    stored: () => void,
  ): void {
    const { stage, publish, next } = this.#parts;
    const { ack }: { ack: Ack } = answerOf(transactionId, outcome);
    this.#writing = id;
    stage.write([...records, { k: 'answer', id, at: stage.clocks.now(), ack }], () => {
      this.#writing = undefined;
      stored();
      publish(id);
      next();
    });
  }
}
