import type { Device } from './device.ts';
import type { Fleet } from './fleet.ts';
import type { Answer } from './messages.ts';
import { createServiceClient, inParallel, type Reply, type ServiceClient, send, unexpected } from './service-client.ts';

const PARALLEL_REQUESTS = 16;
/** How often one request is put off by 429 before that is an answer. */
const MOST_REFUSALS = 100;
const SCOPES = 'svc:device:read svc:device:write';

/** An application that works on the fleet through the REST API. */
export interface Application {
  /**
   * Activates every device that is not; resolves, with those that are activated then, when the service has acknowledged
   * what the devices answered.
   */
  activate(fleet: Fleet): Promise<Device[]>;
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
  rest,
}: {
  apiUrl: string;
  applicationId: string;
  secret: string;
  /** Milliseconds. */
  now: () => number;
  /** Resolves after so many milliseconds. */
  rest: (milliseconds: number) => Promise<void>;
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
  async function currentSession(): Promise<Session> {
    session ??= authenticate();
    const mine = session;
    const forget = (): void => {
      if (session === mine) session = undefined;
    };
    const held = await mine.catch((error: Error) => {
      forget();
      throw error;
    });
    if (now() < held.until) return held;
    forget();
    return currentSession();
  }

  /** A token may end before its time, when the service starts anew with other keys: then once more with a new one. */
  async function request(method: string, path: string, body?: unknown): Promise<Reply> {
    const used = await currentSession();
    const reply = await used.request(method, path, body);
    if (reply.status !== 401) return reply;
    if (session && (await session) === used) session = undefined;
    return (await currentSession()).request(method, path, body);
  }

  /** What must be done, sooner or later: as often as the service asks for patience, within reason. */
  async function insist(method: string, path: string, body?: unknown): Promise<Reply> {
    for (let refusals = 1; ; refusals += 1) {
      const reply = await request(method, path, body);
      if (reply.status !== 429 || refusals >= MOST_REFUSALS) return reply;
      await rest(1000 * (reply.retryAfter ?? 1));
    }
  }

  /** Whether it is activated now. */
  async function activateOne(device: Device): Promise<boolean> {
    const { deviceId, events } = device;
    const status = await insist('GET', pathOf(deviceId));
    if (status.status === 200 && status.body['status'] === 'activated') {
      device.rememberActivation({ applicationId, clientId: String(status.body['clientId']) });
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<Answer>();
    // The device may answer before the request is answered: listen first.
    const seen = new Map<unknown, Answer>();
    let wanted: unknown;
    const listener = (answer: Answer): void => {
      seen.set(answer.transactionId, answer);
      if (answer.transactionId === wanted) resolve(answer);
    };
    events.on('acknowledged', listener);
    try {
      const reply = await insist('POST', pathOf(deviceId), {});
      if (reply.status !== 201) throw unexpected(`cannot activate ${deviceId}`, reply);
      wanted = reply.body['transactionId'];
      const { status: outcome } = seen.get(wanted) ?? (await promise);
      return outcome === 'succeeded';
    } finally {
      events.off('acknowledged', listener);
    }
  }

  return {
    async activate({ devices }) {
      const activated = await inParallel(devices, PARALLEL_REQUESTS, activateOne);
      return devices.filter((_, index) => activated[index]);
    },

    async setWifi(deviceId, ssid) {
      const body = [{ ssid, security: 'WPA2', password: 'simulated network' }];
      const reply = await request('PUT', `${pathOf(deviceId)}/settings/wifi`, body);
      const transactionId = reply.body['transactionId'];
      return reply.status === 201 && typeof transactionId === 'number' ? { transactionId } : { refusal: reply.status };
    },
  };
}
