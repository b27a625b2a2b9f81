import {
  createServiceClient,
  type Reply,
  type ServiceClient,
  send,
  unexpected,
} from '@lapel/device-sim/customer/service-client';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import type { DeviceAccount } from '@lapel/device-sim/fleet/member';
import type { Timeline } from './timeline.ts';

export const DEVELOPER = 'demo';
export const APPLICATION = 'demo-app';
// Differs from the seed of `npm run sim`, so that the devices are different ones.
const SEED = 1883;
const SCOPES = 'svc:application:read svc:application:write svc:device:read svc:device:write';

function expectStatus(reply: Reply, status: number, what: string): Reply['body'] {
  if (reply.status !== status) throw unexpected(what, reply);
  return reply.body;
}

/** Does what a person does in the developer console: makes a developer with a contract, an application, and cameras. */
export async function setUpTenant({
  adminUrl,
  adminToken,
  cameras,
  timeline,
}: {
  adminUrl: string;
  adminToken: string;
  cameras: number;
  timeline: Timeline;
}): Promise<{ secret: string; accounts: DeviceAccount[] }> {
  const admin = createServiceClient({ baseUrl: adminUrl, token: adminToken });
  const create = async (path: string, body: object): Promise<Reply['body']> =>
    expectStatus(await admin('POST', `/admin/v1/${path}`, body), 201, `POST ${path}`);
  const tell = (text: string): void => timeline.arrow({ from: 'console', to: 'lapel', text });

  await create('developers', { developerId: DEVELOPER, name: 'Demo developer', deviceLimit: 10 });
  tell(`developer "${DEVELOPER}", with a contract for 10 devices`);
  const made = await create(`developers/${DEVELOPER}/applications`, { applicationId: APPLICATION, name: 'Demo' });
  tell(`application "${APPLICATION}", with a secret`);
  const accounts: DeviceAccount[] = [];
  for (let index = 0; index < cameras; index += 1) {
    const deviceId = deviceIdFor(SEED, index);
    const registered = await create(`developers/${DEVELOPER}/devices`, { deviceId });
    accounts.push({ deviceId, credential: String(registered['credential']) });
  }
  tell(`${cameras} cameras, each with a credential`);
  return { secret: String(made['secret']), accounts };
}

/** Gets an access token of the application, for all scopes. */
export async function fetchToken(apiUrl: string, secret: string): Promise<string> {
  const reply = await send(apiUrl, '/api/v1/authenticate', {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${APPLICATION}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPES }),
  });
  return String(expectStatus(reply, 200, 'no access token')['access_token']);
}

export type App = ReturnType<typeof createApp>;

/** The developer's application: each of its requests is a line of the timeline, and any unexpected answer throws. */
export function createApp({ apiUrl, token, timeline }: { apiUrl: string; token: string; timeline: Timeline }) {
  const request: ServiceClient = createServiceClient({ baseUrl: apiUrl, token });
  const base = `/v1/applications/${APPLICATION}`;
  const transactionIds: number[] = [];

  /** Sends a request and prints it in the timeline; `tell` makes the text of the line from the answer. */
  async function call(
    method: string,
    path: string,
    wanted: number,
    tell: (body: Reply['body']) => string,
    { body, transactionId }: { body?: unknown; transactionId?: number } = {},
  ): Promise<Reply['body']> {
    if (transactionId !== undefined) timeline.withhold(transactionId);
    const at = performance.now();
    const answer = expectStatus(await request(method, base + path, body), wanted, `${method} ${path}`);
    const arrow = { from: 'app', to: 'lapel', text: `${method} ${tell(answer)} -> ${wanted}` };
    if (transactionId === undefined) timeline.arrow(arrow);
    else timeline.announce({ ...arrow, transactionId }, at);
    return answer;
  }

  return {
    call,
    /** Sends a request that makes a transaction. */
    async submit(method: string, path: string, what: string, body?: unknown): Promise<number> {
      const at = performance.now();
      const answer = expectStatus(await request(method, base + path, body), 201, `${method} ${path}`);
      const transactionId = Number(answer['transactionId']);
      transactionIds.push(transactionId);
      const text = `${method} ${what} -> 201`;
      timeline.announce({ from: 'app', to: 'lapel', text, transactionId }, at);
      return transactionId;
    },
    /** All transactions that were made with `submit`. */
    transactionIds: (): readonly number[] => transactionIds,
  };
}
