import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Test } from 'tap';
import { Agent, request } from 'undici';
import { connectBytes } from '../raw-device.ts';
import { deviceIdOf } from '../world.ts';

export const DEVICES = Array.from({ length: 120 }, (_, index) => deviceIdOf(7_000 + index));
const HOST = 'api.example.com';

/** The ways to ask a balancer which node a device or a call gets. With `ca` it has certificates. */
export function openSite(t: Test, { http, mqtt }: { http: number; mqtt: number }, ca?: Buffer) {
  const tls = { ca, servername: HOST, checkServerIdentity: () => undefined };
  const agent = new Agent({ connections: 4, connect: tls as object });
  t.teardown(() => agent.destroy());
  const origin = `${ca ? 'https' : 'http'}://127.0.0.1:${http}`;
  async function nodeOfBytes(...parts: readonly Buffer[]): Promise<string> {
    const at = { host: '127.0.0.1', port: mqtt, noDelay: true };
    const socket = ca ? connectTls({ ...at, ...tls }) : connectTcp(at);
    for (const part of parts) {
      // Each part is a piece of its own, because the next one is sent only in a later turn.
      socket.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString();
  }
  return {
    nodeOfBytes,
    nodeOfDevice: (deviceId: string) => nodeOfBytes(connectBytes({ deviceId, credential: 'secret' })),
    async nodeOfCall(path: string, method: 'GET' | 'PUT' = 'GET'): Promise<string> {
      const body = method === 'PUT' ? '[]' : null;
      const answer = await request(`${origin}${path}`, { method, body, dispatcher: agent, headers: { host: HOST } });
      return answer.body.text();
    },
  };
}
type Site = ReturnType<typeof openSite>;

export const callOf = (deviceId: string): string => `/v1/applications/app/devices/${deviceId}/settings/wifi`;
/** The nodes of all devices, and of the calls about them, in the same order. */
export const placesOf = ({ nodeOfDevice }: Site): Promise<string[]> => Promise.all(DEVICES.map(nodeOfDevice));
export const callsOf = ({ nodeOfCall }: Site): Promise<string[]> =>
  Promise.all(DEVICES.map((deviceId) => nodeOfCall(callOf(deviceId), 'PUT')));
