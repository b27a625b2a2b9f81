import type { Outcome } from './answer.ts';
import { answerOf } from './answer.ts';
import { idOf, type ReceivedCommand } from './messages.ts';
import type { Networks } from './networks.ts';
import type { Stage } from './stage.ts';

/** Commands that wait, and cancels that are remembered, each; the service sends more than that never. */
const MOST_WAITING = 1000;

/**
 * Commands one after another, each once (rules `order`, `once`, `command-identity`, `repeated-commands`,
 * `unconfirmed-answers`, `cancel`). Nothing is begun, and no answer is sent, before the disk has it.
 */
export class Commands {
  readonly #stage: Stage;
  readonly #networks: Networks;
  readonly #queue = new Map<string, ReceivedCommand>();
  readonly #cancelled = new Set<string>();
  #running: { id: string; transactionId: number; isEnded: boolean } | undefined;
  /** Takes back the begin of the running command; false: it has begun. */
  #takeBack = (): boolean => false;

  constructor(stage: Stage, networks: Networks) {
    this.#stage = stage;
    this.#networks = networks;
  }

  received(command: ReceivedCommand): void {
    const id = idOf(command);
    if (command.operation === 'cancel') {
      this.#cancel(id);
      return;
    }
    if (this.#stage.memory.answers.has(id)) {
      this.publish(id);
      return;
    }
    const isKnown = this.#queue.has(id) || this.#running?.id === id || this.#networks.isWriting(id);
    if (isKnown || this.#cancelled.has(id)) return;
    if (this.#queue.size >= MOST_WAITING) {
      this.#stage.log('warning', `command ${id} waits for the next connection: too many wait.`);
      return;
    }
    this.#queue.set(id, command);
    this.next();
  }

  #cancel(id: string): void {
    this.#queue.delete(id);
    if (this.#cancelled.size < MOST_WAITING) this.#cancelled.add(id);
    if (this.#running?.id !== id || !this.#takeBack()) return;
    this.#running = undefined; // it waited for the disk
    this.next();
  }

  /** Begins the next command, if none is running. */
  next(): void {
    const [entry] = this.#queue;
    if (entry === undefined || this.#running || this.#networks.isBusy) return;
    const [id, command] = entry;
    this.#queue.delete(id);
    if (this.#networks.takes(command)) this.#networks.carryOut(id, command);
    else this.#begin(id, command);
  }

  /** Throws if no command is running, because the maker has ended it before, or its result is no JSON. */
  finished(outcome: Outcome): void {
    const running = this.#running;
    if (!running || running.isEnded) throw new Error('no command is running.');
    const { id, transactionId } = running;
    const { ack, fault } = answerOf(transactionId, outcome);
    running.isEnded = true;
    if (fault !== undefined) this.#stage.log('error', `command ${id}: ${fault}; it is left out.`);
    this.#stage.write([{ k: 'answer', id, at: this.#stage.clocks.now(), ack }], () => {
      this.#running = undefined;
      this.publish(id);
      this.next();
    });
  }

  /** Throws if no command is running, or the disk fails. */
  progress(value: unknown): void {
    if (!this.#running || this.#running.isEnded) throw new Error('no command is running.');
    this.#stage.writeNow({ k: 'progress', id: this.#running.id, value });
  }

  /** Sends a stored answer, if there is a connection; otherwise the next login does. */
  publish(id: string): void {
    const ack = this.#stage.memory.answers.get(id)?.ack;
    if (!ack || !this.#stage.isConnected) return;
    this.#stage.publish({ kind: 'acks', message: ack }, () => {
      if (this.#stage.memory.answers.get(id)?.isAcked === false) this.#stage.tryToWrite({ k: 'acked', id });
    });
  }

  connected(): void {
    for (const [id, { isAcked }] of this.#stage.memory.answers) if (!isAcked) this.publish(id);
  }

  disconnected(): void {
    this.#queue.clear();
    this.#cancelled.clear();
  }

  #begin(id: string, { transactionId, issuedAt, operation, parameters }: ReceivedCommand): void {
    const stage = this.#stage;
    this.#running = { id, transactionId, isEnded: false };
    const before = stage.memory.begun.get(id);
    const { progress } = before ?? {};
    const begin = { operation, parameters, transactionId, issuedAt, interrupted: before !== undefined };
    const emit = (): void => {
      stage.log('info', `begins ${transactionId} ${operation}`);
      stage.emit({ begin: progress === undefined ? begin : { ...begin, progress } });
    };
    this.#takeBack = () => false;
    if (before) emit();
    else this.#takeBack = stage.write([{ k: 'begun', id, at: stage.clocks.now(), operation }], emit);
  }
}
