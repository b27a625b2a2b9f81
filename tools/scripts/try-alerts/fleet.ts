import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ADMIN_TOKEN, type Addresses } from '../../../test/flow/service-process.ts';
import { openRawDevice } from '../../../test/raw-device.ts';
import { deviceIdOf } from '../../../test/world.ts';

/** Milliseconds that a webhook may take. */
const LONGEST = 30_000;
const SCOPES = 'svc:application:read svc:application:write svc:device:read svc:device:write';
export const WIFI = [{ ssid: 'office', password: 'correct horse', security: 'WPA2' }];

/** A receiver of webhooks on loopback, which answers with `status`, and not before `answers`. */
export async function startReceiver() {
  const events = new EventEmitter();
  const receiver = {
    status: 204,
    url: '',
    answers: Promise.resolve(),
    requests: 0,
    /** Resolves when more requests have come than these. */
    async hasMore(requests: number): Promise<void> {
      while (receiver.requests <= requests) await once(events, 'request', { signal: AbortSignal.timeout(LONGEST) });
    },
    [Symbol.dispose]: () => void server.close(),
  };
  const server = createServer((request, response) => {
    receiver.requests += 1;
    events.emit('request');
    request.resume().on('end', () => void receiver.answers.then(() => response.writeHead(receiver.status).end()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return receiver;
}

export type Application = Awaited<ReturnType<ReturnType<typeof createFleet>['application']>>;
export type Device = { deviceId: string; credential: string };

/** The customers and devices of a service. `addresses` returns those of now, because a service may start again. */
export function createFleet(addresses: () => Addresses) {
  let devices = 0;

  /** Sends a request; returns its status and JSON. */
  async function request(url: string, authorization: string, method: string, body?: object) {
    const answer = await fetch(url, {
      method,
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') && text !== '';
    return { status: answer.status, text, body: (isJson ? JSON.parse(text) : {}) as Record<string, string> };
  }

  /** Sends a request of the operator; throws if it is refused. */
  async function admin(method: string, path: string, body?: object): Promise<Record<string, string>> {
    const answer = await request(`${addresses().admin}/admin/v1${path}`, `Bearer ${ADMIN_TOKEN}`, method, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  return {
    admin,
    developer: (developerId: string) =>
      admin('POST', '/developers', { developerId, name: developerId, deviceLimit: 10_000 }),

    /** Creates an application of a developer, whose webhooks go to `receiver`. */
    async application(developerId: string, applicationId: string, receiver: string) {
      const { secret } = await admin('POST', `/developers/${developerId}/applications`, {
        applicationId,
        name: applicationId,
      });
      const asked = await fetch(`${addresses().http}/api/v1/authenticate`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPES }),
      });
      const token = `Bearer ${((await asked.json()) as { access_token: string }).access_token}`;
      const base = `/v1/applications/${applicationId}`;
      /** Sends a request of the application, which may be refused. */
      const send = (method: string, path: string, body?: object) =>
        request(`${addresses().http}${base}${path}`, token, method, body);
      const call = async (method: string, path: string, body?: object): Promise<Record<string, string>> => {
        const answer = await send(method, path, body);
        if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
        return answer.body;
      };
      await call('POST', '/refresh_authkey', {});
      await call('PATCH', '', { deviceEvent: receiver });
      return { applicationId, token, send, call };
    },

    async device(developerId: string): Promise<Device> {
      devices += 1;
      const { deviceId = '', credential = '' } = await admin('POST', `/developers/${developerId}/devices`, {
        deviceId: deviceIdOf(devices),
      });
      return { deviceId, credential };
    },

    /** Connects a device that takes commands. */
    async connect(device: Device) {
      const link = await openRawDevice({ url: addresses().mqtt, ...device });
      await link.login();
      await link.subscribe(`devices/${device.deviceId}/commands`);
      return link;
    },
  };
}

export type Fleet = ReturnType<typeof createFleet>;
export type Link = Awaited<ReturnType<Fleet['connect']>>;

/** Activates a device, which carries the activation out. */
export async function activate(application: Application, device: Device, link: Link): Promise<void> {
  await application.call('POST', `/devices/${device.deviceId}`, {});
  const { transactionId, packet } = await link.command();
  link.puback(packet);
  await link.ack({ transactionId, status: 'succeeded' });
}

/** Creates the developer acme with the application patrol and an activated device, connected to the service of `at`. */
export async function startPatrol(fleet: Fleet, receiver: { url: string }, at: Fleet = fleet) {
  await fleet.developer('acme');
  const patrol = await fleet.application('acme', 'patrol', receiver.url);
  const device = await fleet.device('acme');
  const link = await at.connect(device);
  await activate(patrol, device, link);
  return { patrol, device, link };
}
