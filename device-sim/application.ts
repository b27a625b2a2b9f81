import type { Device } from './device.ts';
import type { Fleet } from './fleet.ts';
import type { Answer } from './messages.ts';
import { createServiceClient, inParallel, type ServiceClient, send, unexpected } from './service-client.ts';

const PARALLEL_REQUESTS = 16;
const SCOPES = 'svc:device:read svc:device:write';

/** An application that works on the fleet through the REST API. */
export interface Application {
  /** Activates every device that is not; resolves when the service has acknowledged what the devices answered. */
  activate(fleet: Fleet): Promise<void>;
  /** Sets the Wi-Fi networks of a device. Gives the transactionId, or the status of a refusal. */
  setWifi(deviceId: string, ssid: string): Promise<{ transactionId: number } | { refusal: number }>;
}

interface Session {
  readonly request: ServiceClient;
  /** Milliseconds on the caller's clock. */
  readonly until: number;
}

/** Fetches access tokens as they are needed: a new one when the last minute of the old one has begun. */
export function createApplication({
  apiUrl,
  applicationId,
  secret,
  now,
}: {
  apiUrl: string;
  applicationId: string;
  secret: string;
  /** Milliseconds. */
  now: () => number;
}): Application {
  let session: Promise<Session> | undefined;
  const pathOf = (deviceId: string): string =>
    `/v1/applications/${encodeURIComponent(applicationId)}/devices/${deviceId}`;

  async function authenticate(): Promise<Session> {
    const began = now();
    const reply = await send(apiUrl, '/api/v1/authenticate', {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPES }),
    });
    const { access_token: token, expires_in: seconds } = reply.body;
    if (reply.status !== 200 || typeof token !== 'string')
      throw unexpected(`no access token for ${applicationId}`, reply);
    const lifetime = typeof seconds === 'number' ? seconds : 3600;
    return { request: createServiceClient({ baseUrl: apiUrl, token }), until: began + (lifetime - 60) * 1000 };
  }

  /** Requests of the same moment share one token. */
  async function client(): Promise<ServiceClient> {
    session ??= authenticate();
    const mine = session;
    try {
      const { request, until } = await mine;
      if (now() < until) return request;
    } catch (error) {
      if (session === mine) session = undefined;
      throw error;
    }
    if (session === mine) session = undefined;
    return client();
  }

  async function activateOne({ deviceId, events }: Device): Promise<void> {
    const request = await client();
    const status = await request('GET', pathOf(deviceId));
    if (status.status === 200 && status.body['status'] === 'activated') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    // The device may answer before the request is answered: listen first.
    const seen = new Set<number>();
    let wanted: unknown;
    const listener = ({ transactionId }: Answer): void => {
      seen.add(transactionId);
      if (transactionId === wanted) resolve();
    };
    events.on('acknowledged', listener);
    try {
      const reply = await request('POST', pathOf(deviceId), {});
      if (reply.status !== 201) throw unexpected(`cannot activate ${deviceId}`, reply);
      wanted = reply.body['transactionId'];
      if (!seen.has(wanted as number)) await promise;
    } finally {
      events.off('acknowledged', listener);
    }
  }

  return {
    async activate({ devices }) {
      await inParallel(devices, PARALLEL_REQUESTS, activateOne);
    },

    async setWifi(deviceId, ssid) {
      const request = await client();
      const body = [{ ssid, security: 'WPA2', password: 'simulated network' }];
      const reply = await request('PUT', `${pathOf(deviceId)}/settings/wifi`, body);
      const transactionId = reply.body['transactionId'];
      return reply.status === 201 && typeof transactionId === 'number' ? { transactionId } : { refusal: reply.status };
    },
  };
}
