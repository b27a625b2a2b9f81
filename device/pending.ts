import { DeviceFailure } from './core/device-failure.ts';
import type { Answered } from './core/effects.ts';

type Data = Record<string, unknown>;

/** Callers that wait for an answer of the service, or for a connection. */
export class Pending {
  readonly #giveUp: (requestId: string) => void;
  readonly #waiting = new Map<string, PromiseWithResolvers<Data>>();
  #online: PromiseWithResolvers<void> | undefined;

  constructor(giveUp: (requestId: string) => void) {
    this.#giveUp = giveUp;
  }

  async wait(requestId: string, signal: AbortSignal | undefined): Promise<Data> {
    const waiting = Promise.withResolvers<Data>();
    this.#waiting.set(requestId, waiting);
    const stop = (): void => waiting.reject(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await waiting.promise;
    } finally {
      signal?.removeEventListener('abort', stop);
      if (this.#waiting.delete(requestId)) this.#giveUp(requestId);
    }
  }

  answered(answer: Answered): void {
    const waiting = this.#waiting.get(answer.requestId);
    this.#waiting.delete(answer.requestId);
    if ('data' in answer) waiting?.resolve(answer.data);
    else waiting?.reject(new DeviceFailure(answer.error.code, answer.error.message));
  }

  /** Resolves when the device is connected. */
  online(isOnline: boolean): Promise<void> {
    if (isOnline) return Promise.resolve();
    this.#online ??= Promise.withResolvers<void>();
    return this.#online.promise;
  }

  isOnline(): void {
    this.#online?.resolve();
    this.#online = undefined;
  }

  /** Nobody gets an answer any more. */
  stop(): void {
    const error = new Error('the device was stopped.');
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#online?.reject(error);
    this.#online?.promise.catch(() => {});
  }
}
