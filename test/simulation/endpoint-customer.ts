import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createLapelClient } from '@lapel/client/lapel-client';
import { createDeviceOrder, type DeviceOrder } from '@lapel/device-sim/customer/device-order';
import type { Random } from '@lapel/device-sim/random';
import { ENDPOINTS } from './world-parts.ts';

interface Access {
  readonly applicationId: string;
  readonly secret: string;
}

interface Parts {
  apiUrl: string;
  chance: Random;
  /** Called when a promise of docs/endpoints.md is broken. */
  broken(promise: string, fact: object): void;
  /** Whether the clock of the service is always right, so that nothing is removed before its time. */
  isTimeRight: boolean;
}

/** The share of the requests that the receiver refuses, and of those that it does not answer. */
const REFUSED = 0.04;
const HANGS = 0.01;
/** Milliseconds until an endpoint is asked for again, when the service gave no answer. */
const AGAIN_MS = 1_000;

interface Kept {
  readonly secret: string;
  readonly order: DeviceOrder;
}

/** An event as it is sent, as far as this receiver looks at it. */
interface Sent {
  readonly deviceSequence?: number;
  readonly data: { readonly deviceId: string };
}

const isSigned = (secret: string, { headers }: IncomingMessage, body: Buffer): boolean => {
  const text = [headers['webhook-id'], headers['webhook-timestamp'], String(body)].join('.');
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(signature);
};

/**
 * A customer with an ordered endpoint for all events: its receiver checks each signature, and that the events of each device
 * come one after another, without a gap; an event may come again before the next one.
 */
export function createEndpointCustomer({ apiUrl, chance, broken, isTimeRight }: Parts) {
  const endpoints = new Map<string, Kept>();
  let made = 0;

  function judge(path: string, request: IncomingMessage, body: Buffer): void {
    const kept = endpoints.get(path);
    if (!kept) return; // its secret was lost with the answer, or with a backup
    if (!isSigned(kept.secret, request, body)) broken('an event to an endpoint is signed', { path });
    const { deviceSequence: number, data } = JSON.parse(String(body)) as Sent;
    if (number === undefined) return;
    const { fit, before } = kept.order.came(data.deviceId, number);
    if (fit === 'back' || (fit === 'hole' && isTimeRight))
      broken('the events of a device come to an ordered endpoint in order, without a gap', { ...data, number, before });
  }

  const server = createServer((request, response) => {
    const answered = (body: Buffer): void => {
      const lot = chance();
      if (lot < HANGS) return;
      const isRefused = lot < HANGS + REFUSED;
      // A receiver may have worked on an event that it refuses, so such an event is judged all the same.
      judge(request.url ?? '', request, body);
      response.writeHead(isRefused ? 500 : 204).end();
    };
    buffer(request).then(answered, () => undefined); // the connection may break in the middle of an event
  });

  async function make(access: Access): Promise<void> {
    const lapel = createLapelClient({ baseUrl: apiUrl, ...access });
    for (;;) {
      made += 1;
      const path = `/${made}`;
      const url = `http://127.0.0.1:${ENDPOINTS}${path}`;
      try {
        const { secret } = await lapel.createEndpoint({ body: { url, ordered: 'device' } });
        endpoints.set(path, { secret: String(secret), order: createDeviceOrder() });
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  return {
    begin(access: Access): void {
      if (server.listening) return; // another customer has none
      server.keepAliveTimeout = 0;
      server.listen(ENDPOINTS, '127.0.0.1');
      void make(access);
    },
    /** A backup has taken the place of the data: numbers of before come again. */
    restored(): void {
      for (const { order } of endpoints.values()) order.forget();
    },
  };
}
