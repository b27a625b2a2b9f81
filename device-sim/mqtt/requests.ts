import { randomUUID } from 'node:crypto';
import type { Timers } from '../timers.ts';
import type { Response } from './messages.ts';

/** The answer to a request; `timeout`: no answer arrived in time. */
export type Reply = Response['answer'] | 'timeout';

/** Sends requests over MQTT: `requests` and `responses` of the contract, section 2. */
export interface Requests {
  /**
   * Sends a request; resolves to its answer, or to `timeout` after `wait` milliseconds. While the device is offline the
   * request waits, and the time counts from the next connection. Rejects when `signal` is aborted.
   */
  ask(type: string, data: object, signal: AbortSignal): Promise<Reply>;
  /** Takes an answer of the service. It is dropped if no request waits for it. */
  receive(response: Response): void;
  /** Sends the requests that waited for a connection. */
  online(): void;
}

interface Pending {
  readonly payload: string;
  readonly resolve: (reply: Reply) => void;
  sent: boolean;
  cancel?: () => void;
}

export function createRequests({
  isOnline,
  publish,
  wait,
  timers,
}: {
  isOnline: () => boolean;
  publish: (payload: string) => void;
  /** Milliseconds. */
  wait: number;
  timers: Timers;
}): Requests {
  const pending = new Map<string, Pending>();

  function send(request: Pending): void {
    if (request.sent || !isOnline()) return;
    request.sent = true;
    request.cancel ??= timers.after(wait, () => request.resolve('timeout'));
    publish(request.payload);
  }

  return {
    async ask(type, data, signal) {
      signal.throwIfAborted();
      const requestId = randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<Reply>();
      const request: Pending = { payload: JSON.stringify({ requestId, type, data }), resolve, sent: false };
      const stop = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', stop);
      pending.set(requestId, request);
      try {
        send(request);
        return await promise;
      } finally {
        pending.delete(requestId);
        request.cancel?.();
        signal.removeEventListener('abort', stop);
      }
    },
    receive: ({ requestId, answer }) => pending.get(requestId)?.resolve(answer),
    online() {
      for (const request of pending.values()) send(request);
    },
  };
}
