import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { startWorld } from '../world.ts';
import { createAuthority } from './authority.ts';

/** The service with MQTT over TLS and WebSocket, and the authority whose client certificates it accepts. */
export async function startSecured(t: Test, env: Record<string, string> = {}) {
  const folder = t.testdir({ data: {}, tls: {} });
  const authority = createAuthority(join(folder, 'tls'), 'fleet');
  const server = authority.sign('server');
  const crl = authority.revoke();
  const world = await startWorld(t, {
    dataDir: join(folder, 'data'),
    env: {
      LAPEL_MQTTS_PORT: '0',
      LAPEL_MQTT_WS_PORT: '0',
      LAPEL_TLS_CERT: server.certFile,
      LAPEL_TLS_KEY: server.keyFile,
      LAPEL_MQTT_CLIENT_CA: authority.ca,
      LAPEL_MQTT_CLIENT_CRL: crl,
      ...env,
    },
  });
  const { mqtts = '', mqttWs = '' } = world.service.addresses;
  return { world, folder, authority, server, crl, ca: readFileSync(authority.ca), mqtts, mqttWs };
}

/** The settings of MQTT over TLS with a certificate for some days, whose files are put into a folder. */
export function tlsSettings(folder: string, days: number): Record<string, string> {
  const { certFile, keyFile } = createAuthority(folder, 'site').sign('mqtt', 'mqtt', days);
  return { LAPEL_MQTTS_PORT: '0', LAPEL_TLS_CERT: certFile, LAPEL_TLS_KEY: keyFile };
}
