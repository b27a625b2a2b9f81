import type { Answered } from './effects.ts';
import { isObject } from './messages.ts';
import type { Stage } from './stage.ts';

const LONGEST_TYPE = 64;
const MOST_WAITING = 1000;

/** Questions to the service, each asked at every login until its answer (rule `requests`). */
export class Requests {
  readonly #stage: Stage;
  readonly #newId: () => string;
  readonly #waiting = new Map<string, { type: string; data: object }>();

  constructor(stage: Stage, newId: () => string) {
    this.#stage = stage;
    this.#newId = newId;
  }

  /** Returns the requestId. Throws if the service would refuse it, or too many wait. */
  ask(type: string, data: object): string {
    if (type.length < 1 || type.length > LONGEST_TYPE) throw new Error('type: not a text of 1 to 64 characters.');
    if (!isObject(data)) throw new Error('data: not an object.');
    if (this.#waiting.size >= MOST_WAITING) throw new Error(`${MOST_WAITING} requests wait for their answers.`);
    const requestId = this.#newId();
    this.#waiting.set(requestId, { type, data: JSON.parse(JSON.stringify(data)) as object });
    if (this.#stage.isConnected) this.#publish(requestId);
    return requestId;
  }

  /** Nobody waits for the answer any more. */
  giveUp(requestId: string): void {
    this.#waiting.delete(requestId);
  }

  answered(answer: Answered): void {
    if (this.#waiting.delete(answer.requestId)) this.#stage.emit({ answered: answer });
  }

  connected(): void {
    for (const requestId of this.#waiting.keys()) this.#publish(requestId);
  }

  #publish(requestId: string): void {
    const { type, data } = this.#waiting.get(requestId)!;
    this.#stage.publish({ kind: 'requests', message: { requestId, type, data } });
  }
}
