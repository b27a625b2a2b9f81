import type { LapelClient } from '@lapel/client/lapel-client';
import type { Device } from '../model/device.ts';
import { pause, type Timers } from '../timers.ts';
import type { ActionRunner } from './action-runner.ts';
import type { Requests } from './requests.ts';
import { inParallel } from './service-client.ts';

const PARALLEL_REQUESTS = 16;
/** How often an activation is tried if the device fails it. */
const ATTEMPTS = 3;
const LOOK_MILLISECONDS = 20;

interface Activation {
  /** To be called when the result event of a transaction has arrived. */
  concluded(transactionId: number, status: string): void;
  /**
   * Activates devices; returns those that are activated in the end. Resolves when every device was asked, and each has
   * a result or no result has arrived for `patience` milliseconds.
   */
  activate(deviceIds: readonly string[], phase: string, patience: number): Promise<string[]>;
}

export function createActivation({
  lapel,
  applicationId,
  requests,
  actions,
  timers,
  spentSince,
  stopped,
  device,
}: {
  lapel: LapelClient;
  applicationId: string;
  requests: Requests;
  actions: ActionRunner;
  timers: Timers;
  /** Milliseconds since a time, without the spans in which the simulator itself stood still. */
  spentSince: (from: number) => number;
  stopped: AbortSignal;
  device: (deviceId: string) => Device | undefined;
}): Activation {
  /** By transactionId: the function that gets the result, for transactions whose result is awaited. */
  const waiting = new Map<number, (status: string) => void>();
  /** Results that arrived before the answer to their request. */
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
      let lastProgress = timers.now();
      asking += 1;

      /**
       * Requests the activation of a device; resolves to its transaction. Undefined if the device is already activated,
       * or if the run was stopped.
       */
      async function ask(deviceId: string): Promise<number | undefined> {
        if (stopped.aborted) return undefined;
        const { status, clientId } = await requests.insist(() => lapel.readActivation({ deviceId }));
        if (status !== 'activated') return actions.perform({ do: 'activate', number: 0 }, deviceId, phase);
        remembers(deviceId, clientId);
        activated.add(deviceId);
        return undefined;
      }

      /**
       * Asks devices to activate; returns those that failed. Resolves when each has a result, or when no result has
       * arrived for the time of `patience`.
       */
      async function attempt(some: readonly string[]): Promise<string[]> {
        const failed: string[] = [];
        let open = 0;
        await inParallel(some, PARALLEL_REQUESTS, async (deviceId) => {
          const transactionId = await ask(deviceId);
          lastProgress = timers.now();
          if (transactionId === undefined) return;
          open += 1;
          // Not awaited here, so that a device that never answers delays no other request.
          void resultOf(transactionId).then((status) => {
            open -= 1;
            lastProgress = timers.now();
            if (status === 'succeeded') activated.add(deviceId);
            else failed.push(deviceId);
          });
        });
        while (open > 0 && spentSince(lastProgress) < patience && !stopped.aborted)
          await pause(timers, LOOK_MILLISECONDS, stopped);
        return failed;
      }

      try {
        let left = deviceIds;
        for (let made = 0; made < ATTEMPTS && left.length > 0 && !stopped.aborted; made += 1)
          left = await attempt(left);
      } finally {
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
