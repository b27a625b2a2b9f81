import type { Aedes, AuthenticateError, Client, ConnectPacket } from 'aedes';
import { isDeviceId } from '../devices/device-id.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { inboundKind } from './topics.ts';

// CONNACK return codes [MQTT-3.2.2-4].
const IDENTIFIER_REJECTED = 2;
const SERVER_UNAVAILABLE = 3;
const BAD_CREDENTIALS = 4;
const NOT_AUTHORIZED = 5;

const REASONS: Record<number, string> = {
  [IDENTIFIER_REJECTED]: 'client_id',
  [SERVER_UNAVAILABLE]: 'unavailable',
  [BAD_CREDENTIALS]: 'credentials',
  [NOT_AUTHORIZED]: 'will',
};

interface Parts {
  log: Log;
  metrics: Metrics;
  authenticate(deviceId: string, credential: Buffer): Promise<boolean>;
  isRegistered(deviceId: string): Promise<boolean>;
  /** The common name of the certificate that the client has shown; undefined without one. */
  certifiedName(client: Client): string | undefined;
  openSession(deviceId: string): Promise<void>;
  /** The connection has shown who it is: larger packets are allowed. */
  accepted(client: Client): void;
}

/**
 * Who may connect: a device under its own identifier with its own credential, once. Between the check and the moment
 * that Aedes has registered the client, a lock per device makes everybody else who connects under that identifier wait,
 * so that of several CONNECTs at once exactly the last stays; and a credential that is replaced meanwhile is noticed.
 */
export function createAuthentication(parts: Parts) {
  const { log, metrics, authenticate, isRegistered, certifiedName, openSession, accepted } = parts;
  const connects = new WeakMap<Client, ConnectPacket>();
  const locks = new Map<string, Promise<void>>();
  const registered = new WeakMap<Client, () => void>();

  async function withLock(deviceId: string, task: () => Promise<void>): Promise<void> {
    const before = locks.get(deviceId);
    const mine = (before ?? Promise.resolve()).then(task, task);
    locks.set(deviceId, mine);
    try {
      await mine;
    } finally {
      if (locks.get(deviceId) === mine) locks.delete(deviceId);
    }
  }

  const closeClient = (client: Client | undefined): Promise<void> =>
    client ? new Promise((resolve) => client.close(resolve)) : Promise.resolve();

  /** A password must be the device's credential; without one a certificate must say that it is the device. */
  function knows(client: Client, password: Buffer | undefined): Promise<boolean> {
    if (password) return authenticate(client.id, password);
    return certifiedName(client) === client.id ? isRegistered(client.id) : Promise.resolve(false);
  }

  /** The CONNACK code that refuses a CONNECT, or 0. */
  async function refusal(client: Client, username: string | undefined, password: Buffer | undefined): Promise<number> {
    if (!isDeviceId(client.id)) return IDENTIFIER_REJECTED;
    if (username !== client.id || !(await knows(client, password))) return BAD_CREDENTIALS;
    const will = connects.get(client)?.will;
    if (will && !inboundKind(client.id, will.topic)) return NOT_AUTHORIZED;
    return 0;
  }

  const refuse = (code: number): AuthenticateError => {
    metrics.mqttRefused.inc({ reason: REASONS[code] ?? 'other' });
    return Object.assign(new Error(`connection refused: ${REASONS[code]}`), { returnCode: code }) as AuthenticateError;
  };

  type Answer = Parameters<Aedes['authenticate']>[3];

  async function admit(
    broker: Aedes,
    client: Client,
    username: string | undefined,
    password: Buffer | undefined,
    answer: Answer,
  ): Promise<void> {
    const code = await refusal(client, username, password);
    if (code !== 0) return answer(refuse(code), false);
    await withLock(client.id, async () => {
      if (client.closed) return;
      const others = (broker as unknown as { clients: Record<string, Client | undefined> }).clients;
      // Again, inside the lock: the credential may have been replaced while this connection waited.
      if (!(await knows(client, password))) return answer(refuse(BAD_CREDENTIALS), false);
      await closeClient(others[client.id]); // [MQTT-3.1.4-2]
      if (client.clean === false) await openSession(client.id);
      if (client.closed) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      registered.set(client, resolve);
      client.conn.once('close', resolve);
      accepted(client);
      answer(null, true);
      await promise;
    });
  }

  return {
    /** Remembers the CONNECT packet, whose will is judged with the rest. */
    preConnect(client: Client, packet: ConnectPacket, callback: (error: Error | null, success: boolean) => void): void {
      connects.set(client, packet);
      callback(null, true);
    },

    authenticate(
      this: Aedes,
      client: Client,
      username: string | undefined,
      password: Buffer | undefined,
      answer: Answer,
    ) {
      admit(this, client, username, password, answer).catch((err: unknown) => {
        log.error({ err }, 'a login could not be checked');
        answer(refuse(SERVER_UNAVAILABLE), false);
      });
    },

    /** The client is registered with the broker: the next one under its identifier may go on. */
    ready(client: Client): void {
      registered.get(client)?.();
    },

    /** Closes the device's connection, after any login that is on its way; its will is carried out, or dropped. */
    disconnect: (broker: Aedes, deviceId: string, will: 'kept' | 'dropped'): Promise<void> =>
      withLock(deviceId, () => {
        const { clients } = broker as unknown as { clients: Record<string, (Client & { will: unknown }) | undefined> };
        const client = clients[deviceId];
        if (client && will === 'dropped') client.will = null;
        return closeClient(client);
      }),
  };
}
