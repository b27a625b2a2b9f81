import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { AHEAD_MS } from '../applications/certificate-world.ts';
import { createAuthority } from '../broker/authority.ts';
import { createFakeClock } from '../fake-clock.ts';
import { openRawDevice, type RawDevice } from '../raw-device.ts';
import { startWorld } from '../world.ts';
import { keyLine, newRequest } from './device-keys.ts';
import { startEnrolment } from './enrolment-world.ts';

export interface Shown {
  cert: string | Buffer;
  key: Buffer;
}

interface At {
  node?: number;
  listener?: 'mqtts' | 'mqttWs';
  credential?: string;
}

/** A service that signs certificates for devices, and the tests' part in it. */
export async function startIssuing(
  t: Test,
  { env = {}, isHttps = false, ...options }: Parameters<typeof startWorld>[1] & { isHttps?: boolean } = {},
) {
  const folder = t.testdir({ data: {}, tls: {}, keys: '' });
  const tls = join(folder, 'tls');
  const site = createAuthority(tls, 'site');
  const server = site.sign('server');
  const keys = join(folder, 'keys');
  writeFileSync(keys, keyLine('first'));
  const { cert: ca } = site.own();
  const world = await startWorld(t, {
    dataDir: join(folder, 'data'),
    clock: createFakeClock((Date.now() + AHEAD_MS) * 1000),
    ...options,
    env: {
      LAPEL_MQTTS_PORT: '0',
      LAPEL_MQTT_WS_PORT: '0',
      LAPEL_TLS_CERT: server.certFile,
      LAPEL_TLS_KEY: server.keyFile,
      ...(isHttps && { LAPEL_HTTP_TLS_CERT: server.certFile, LAPEL_HTTP_TLS_KEY: server.keyFile }),
      LAPEL_DEVICE_CERTIFICATES: 'true',
      LAPEL_ENCRYPTION_KEY_FILE: keys,
      ...env,
    },
  });
  const enrolment = await startEnrolment(world);

  const makeAuthority = async (json: object = {}, developerId = 'dev') => {
    const answer = await world
      .admin()
      .post(`/admin/v1/developers/${developerId}/device-authorities`, { json: { name: 'a CA', ...json } });
    if (answer.status !== 201) throw new Error(`no device CA: ${JSON.stringify(answer.body)}`);
    return answer.body as { authorityId: string; certificate: string } & Record<string, unknown>;
  };

  /** Opens a connection with a certificate, and logs in. */
  async function login(
    deviceId: string,
    shown: object | undefined,
    { node = 0, listener = 'mqtts', ...more }: At = {},
  ): Promise<{ code: number | undefined; link: RawDevice }> {
    const { mqtts = '', mqttWs = '' } = world.nodes[node]?.addresses ?? {};
    const link = await openRawDevice({
      url: listener === 'mqtts' ? mqtts : mqttWs,
      deviceId,
      connect: { username: deviceId },
      tls: { ca, ...shown },
      ...more,
    });
    t.teardown(() => link.socket.destroy());
    return { link, code: (await link.login()).returnCode };
  }

  /** Enrols a device with a new key; the answer is its certificate. */
  async function enrolled(deviceId: string, code: string, more: object = {}): Promise<Shown> {
    const { key, csr } = newRequest();
    const { status, body } = await enrolment.ask({ deviceId, code, csr, ...more });
    if (status !== 201) throw new Error(`not enrolled: ${status} ${JSON.stringify(body)}`);
    return { cert: body.certificate, key };
  }

  return { ...enrolment, world, tls, ca, caFile: site.ca, keys, server, makeAuthority, login, enrolled };
}
