import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { BODY, type TransactionId } from '../closed-loop.ts';
import type { RunningTarget } from '../running-target.ts';
import type { Books } from './books.ts';

/** A caller that gets no answer in this time asks again, as it does after an error. */
const CALL_MS = 3_000;
/** The pause after a call that failed. */
const PAUSE_MS = 20;
/** A caller waits at most so long for the result of its command; then it goes on with the next one. */
const RESULT_MS = 1_000;

/** Callers that submit commands without a pause until they are disposed of, and book each 201. */
export function startCallers(target: RunningTarget, books: Books, callers: number): AsyncDisposable {
  const { deviceIds, headers } = target;
  const timeouts = { headersTimeout: CALL_MS, bodyTimeout: CALL_MS, connectTimeout: CALL_MS };
  const pool = new Pool(target.origins[0] ?? '', { connections: callers, pipelining: 1, ...timeouts });
  let over = false;
  const submit = async (deviceId: string): Promise<TransactionId | undefined> => {
    try {
      const answer = await pool.request({
        method: 'PUT',
        path: target.path(deviceId),
        headers: { ...headers, 'content-type': 'application/json' },
        body: BODY,
      });
      const text = await answer.body.text();
      return answer.statusCode === 201
        ? (JSON.parse(text) as { transactionId: TransactionId }).transactionId
        : undefined;
    } catch {
      return undefined; // no answer: nothing was promised
    }
  };
  const call = async (first: number): Promise<void> => {
    for (let turn = first; !over; turn += callers) {
      const id = await submit(deviceIds[turn % deviceIds.length] ?? '');
      if (id === undefined) await pause(PAUSE_MS);
      else {
        books.accepted(id);
        await books.untilTold(id, RESULT_MS);
      }
    }
  };
  const all = Array.from({ length: callers }, (_, index) => call(index));
  return {
    async [Symbol.asyncDispose]() {
      over = true;
      await Promise.all(all);
      await pool.destroy();
    },
  };
}
