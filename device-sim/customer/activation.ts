import type { LapelClient } from '../../src/client/lapel-client.ts';
import type { Device } from '../model/device.ts';
import { pause, type Timers } from '../timers.ts';
import type { Acts } from './acts.ts';
import type { Requests } from './requests.ts';
import { inParallel } from './service-client.ts';

const PARALLEL_REQUESTS = 16;
/** An activation that a device fails is tried so often. */
const ATTEMPTS = 3;

interface Activation {
  /** The result event of a transaction is there. */
  concluded(transactionId: number, status: string): void;
  /** Gives those that are activated when each is, or has failed, or after `patience` milliseconds. */
  activate(deviceIds: readonly string[], phase: string, patience: number): Promise<string[]>;
}

export function createActivation({
  lapel,
  applicationId,
  requests,
  acts,
  timers,
  stopped,
  device,
}: {
  lapel: LapelClient;
  applicationId: string;
  requests: Requests;
  acts: Acts;
  timers: Timers;
  stopped: AbortSignal;
  device: (deviceId: string) => Device | undefined;
}): Activation {
  /** Of transactions that are waited for: what their result calls. */
  const waiting = new Map<number, (status: string) => void>();
  /** Results that came before the answer to their request, while somebody asks. */
  const early = new Map<number, string>();
  let asking = 0;

  const remembers = (deviceId: string, clientId: unknown): void =>
    device(deviceId)?.rememberActivation({ applicationId, clientId: String(clientId) });

  function resultOf(transactionId: number): Promise<string> {
    const known = early.get(transactionId);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => {
      waiting.set(transactionId, resolve);
    });
  }

  return {
    concluded(transactionId, status) {
      const resolve = waiting.get(transactionId);
      waiting.delete(transactionId);
      if (resolve) resolve(status);
      else if (asking > 0) early.set(transactionId, status);
    },

    async activate(deviceIds, phase, patience) {
      const activated = new Set<string>();
      const over = new AbortController();
      const end = AbortSignal.any([stopped, over.signal]);
      asking += 1;

      /** The transaction that activates a device; undefined when there is none to wait for. */
      async function ask(deviceId: string): Promise<number | undefined> {
        if (end.aborted) return undefined;
        const { status, clientId } = await requests.insist(() => lapel.readActivation({ deviceId }));
        if (status !== 'activated') return acts.perform({ do: 'activate', number: 0 }, deviceId, phase);
        remembers(deviceId, clientId);
        activated.add(deviceId);
        return undefined;
      }

      async function all(): Promise<void> {
        let left: readonly string[] = deviceIds;
        for (let attempt = 1; attempt <= ATTEMPTS && left.length > 0 && !end.aborted; attempt += 1) {
          const failed: string[] = [];
          const results: Promise<void>[] = [];
          await inParallel(left, PARALLEL_REQUESTS, async (deviceId) => {
            const transactionId = await ask(deviceId);
            if (transactionId === undefined) return;
            // Not waited for here: who never answers holds up nobody's request.
            const result = resultOf(transactionId).then((status) => {
              if (status === 'succeeded') activated.add(deviceId);
              else failed.push(deviceId);
            });
            results.push(result);
          });
          await Promise.all(results);
          left = failed;
        }
      }

      try {
        await Promise.race([all(), pause(timers, patience, end)]);
      } finally {
        over.abort();
        asking -= 1;
        if (asking === 0) {
          early.clear();
          waiting.clear();
        }
      }
      return deviceIds.filter((deviceId) => activated.has(deviceId));
    },
  };
}
