import type { Pool } from 'undici';
import { call, type LapelTarget } from '../lapel-target.ts';
import type { Sink } from './sink.ts';

const SINCE = '2000-01-01T00:00:00.000000';
const UNTIL = '2199-12-31T00:00:00Z';
const SCOPE = 'svc:application:read svc:application:write';

/** An application of the developer of the bench, with a receiver of its own. */
export interface Application {
  /** Lets the service send it a `test` event. */
  send(): Promise<void>;
  /** Lets the service send it everything again that was delivered. */
  sendAgain(): Promise<void>;
  /** Makes a call about the application. */
  call(method: string, path: string, body?: object): Promise<string>;
}

/** Makes an application whose setting `deviceEvent` is the URL of the receiver. */
export async function makeApplication(target: LapelTarget, pool: Pool, name: string, sink: Sink): Promise<Application> {
  const { admin, root } = target;
  const origin = target.origins[0] ?? '';
  const made = await call(`${admin}/admin/v1/developers/bench/applications`, {
    method: 'POST',
    token: root,
    body: { applicationId: name, name },
  });
  const basic = Buffer.from(`${name}:${(JSON.parse(made) as { secret: string }).secret}`).toString('base64');
  const form = new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPE }).toString();
  const type = 'application/x-www-form-urlencoded';
  const issued = await call(`${origin}/api/v1/authenticate`, {
    method: 'POST',
    token: `Basic ${basic}`,
    body: form,
    type,
  });
  const token = `Bearer ${(JSON.parse(issued) as Record<string, string>)['access_token']}`;
  const base = `/v1/applications/${name}`;
  await call(`${origin}${base}/refresh_authkey`, { method: 'POST', token });
  await call(`${origin}${base}`, { method: 'PATCH', token, body: { deviceEvent: `${sink.url}/${name}` } });
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await pool.request({
      method: 'POST',
      path: `${base}/webhooks/${path}`,
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 202) throw new Error(`${answer.statusCode} ${text}`);
  };
  return {
    call: (method, path, body) => call(`${origin}${base}${path}`, { method, token, body }),
    send: () => post('test', { setting: 'deviceEvent' }),
    sendAgain: () => post('deliveries/redeliver', { status: 'delivered', since: SINCE, until: UNTIL }),
  };
}

/** Calls `work` for each number below `count`, for `atATime` numbers at the same time. */
export async function forEach(count: number, atATime: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const own = next;
      next += 1;
      await work(own);
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}
