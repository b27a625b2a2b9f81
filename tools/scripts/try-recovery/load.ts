import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createLapelClient, LapelError } from '@lapel/client/index';
import { createAdminClient } from '@lapel/device-sim/customer/service-client';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import { createDevice } from '@lapel/device-sim/model/device';
import { ADMIN_TOKEN } from '../../../test/flow/service-process.ts';

const DEVICES = 20;
const CALLERS = 10;
/** Milliseconds in which everything must have come to rest. */
const PATIENCE = 60_000;

/** The outcomes of the commands of a run. */
export interface Outcome {
  /** Commands that were answered 201. */
  accepted: number;
  /** Those of them that the service does not know any more. */
  lost: number;
  /** transactionIds that two different calls got. */
  twice: number;
  /** Commands that a device carried out more than once. */
  doubled: number;
  /** Commands that the service knows, and that have no result with a webhook. */
  open: number;
}

interface Ports {
  http: number;
  admin: number;
  mqtt: number;
}

/** Devices, callers and a receiver of webhooks, on a service whose ports stay the same. */
export async function startLoad({ http, admin, mqtt }: Ports) {
  const results = new Set<number>();
  const receiver = createServer((request, response) => {
    void json(request).then((body) => {
      const { data } = body as { data: { transaction?: { transactionId: number } } };
      if (data.transaction) results.add(data.transaction.transactionId);
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const administration = createAdminClient({ baseUrl: `http://127.0.0.1:${admin}`, token: ADMIN_TOKEN });
  const developerId = 'patrol';
  await administration('createDeveloper', { body: { developerId, name: 'Patrol', deviceLimit: DEVICES } });
  const made = await administration('createApplication', { developerId, body: { name: 'Patrol' } });
  const { applicationId, secret } = made.body as { applicationId: string; secret: string };
  const client = createLapelClient({ baseUrl: `http://127.0.0.1:${http}`, applicationId, secret });
  await client.issueKey();
  await client.updateSettings({
    body: { deviceEvent: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` },
  });

  const devices = await Promise.all(
    Array.from({ length: DEVICES }, async (_, index) => {
      const deviceId = deviceIdFor(11, index);
      const { body } = await administration('registerDevice', { developerId, body: { deviceId } });
      const device = createDevice({
        deviceId,
        credential: String(body['credential']),
        url: `mqtt://127.0.0.1:${mqtt}`,
        seed: index,
        behaviour: { latency: { min: 1, max: 20 } },
        reportStatus: false,
        reconnect: { min: 50, max: 200 },
      });
      await device.connect();
      await client.activate({ deviceId, body: {} });
      return device;
    }),
  );

  /** The call that got each transactionId. */
  const calls = new Map<number, number>();
  let [call, twice] = [0, 0];
  let isCalling = false;
  let callers: Promise<unknown> = Promise.resolve();

  async function callOnce(): Promise<void> {
    call += 1;
    const own = call;
    const { deviceId } = devices[own % DEVICES]!;
    const body = [{ ssid: `office ${own}`, security: 'OPEN' as const }];
    try {
      const { transactionId } = await client.setWifi({ deviceId, body, idempotencyKey: `call ${own}` });
      if (calls.has(transactionId)) twice += 1;
      calls.set(transactionId, own);
    } catch (error) {
      // Without an answer 201 nothing is promised.
      if (!(error instanceof LapelError) && !(error instanceof TypeError)) throw error;
      await pause(100);
    }
  }

  return {
    /** The commands that were answered 201 so far. */
    accepted: () => calls.size,
    begin(): void {
      isCalling = true;
      const caller = async (): Promise<void> => {
        while (isCalling) await callOnce();
      };
      callers = Promise.all(Array.from({ length: CALLERS }, caller));
    },
    async end(): Promise<void> {
      isCalling = false;
      await callers;
    },
    /** Waits until each command has its result, and tells what came of them. */
    async outcome(): Promise<Outcome> {
      const until = performance.now() + PATIENCE;
      for (;;) {
        const known = new Set<number>();
        let open = 0;
        for (const { deviceId } of devices) {
          for await (const { transactionId, status } of client.each('listTransactions', {
            deviceId,
            query: { limit: 1000 },
          })) {
            known.add(transactionId);
            const isOver = ['succeeded', 'failed', 'cancelled'].includes(status) && results.has(transactionId);
            if (!isOver) open += 1;
          }
        }
        const executed = devices.flatMap(({ executions }) => [...executions]);
        const outcome = {
          accepted: calls.size,
          lost: [...calls.keys()].filter((transactionId) => !known.has(transactionId)).length,
          twice,
          doubled: executed.filter(([transactionId, times]) => known.has(transactionId) && times > 1).length,
          open,
        };
        if (open === 0 || performance.now() > until) return outcome;
        await pause(200);
      }
    },
    stop(): void {
      for (const device of devices) void device.drop();
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}
