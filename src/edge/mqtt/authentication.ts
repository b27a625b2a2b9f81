import type { Aedes, Client, ConnectPacket } from 'aedes';
import { isDeviceId } from '../../core/devices/device-id.ts';
import type { Seen } from '../../core/sessions/takeover.ts';
import { isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { dropWill, registeredClient } from './aedes-internals.ts';
import { inboundKind } from './topics.ts';

// CONNACK return codes [MQTT-3.2.2-4].
const IDENTIFIER_REJECTED = 2;
const SERVER_UNAVAILABLE = 3;
const BAD_CREDENTIALS = 4;
const NOT_AUTHORIZED = 5;

type Standing = 'good' | 'bad' | 'blocked';

interface Refusal {
  code: number;
  reason: 'client_id' | 'unavailable' | 'credentials' | 'certificate' | 'blocked' | 'will';
}

/** What a client shows besides its identifier: its password, or its certificate when it has sent none. */
export type Proof = { credential: Buffer } | { certificateFingerprint: string };

// A login whose connection has ended, and whose end Aedes never told: nobody waits for it longer than this.
const LOST_MILLISECONDS = 30_000;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Whether the device is registered and the proof its own; and whether it may connect. Inside of a unit: `sql`. */
  authenticate(deviceId: string, proof: Proof, sql?: Seen): Promise<'good' | 'bad' | 'blocked'>;
  /** What the certificate of a client says, when it is one of ours; undefined without one. */
  certificateOf(client: Client): { name: string; fingerprint: string } | undefined;
  openSession(deviceId: string): Promise<void>;
  /** Where there are other nodes, instead of that: the device comes here from wherever it was. */
  enter?: ((client: Client, standing: (sql: Seen) => Promise<Standing>) => Promise<Standing>) | undefined;
  /** Resolves when it is time for one more login; undefined: at once. */
  turn(): Promise<void> | undefined;
  /** Resolves when the client may be told that it is refused. */
  throttle(client: Client, deviceId: string | undefined, reason: string): Promise<void>;
  /** Answers CONNACK with a code other than 0 and ends the connection. */
  refuse(client: Client, code: number): void;
}

/**
 * Who may connect: a device under its own identifier with its own credential, once. Between the check and the end of the
 * login, a lock per device makes everybody else who connects under that identifier wait, so that of several CONNECTs at
 * once exactly the last stays; and a credential that is replaced meanwhile is noticed.
 */
export function createAuthentication(parts: Parts) {
  const { clock, log, metrics, authenticate, certificateOf, openSession, enter, turn, throttle, refuse } = parts;
  const connects = new WeakMap<Client, ConnectPacket>();
  const locks = new Map<string, Promise<void>>();
  const logins = new WeakMap<Client, () => void>();
  /** By deviceId: the last one that waits for the lock. */
  const waiting = new Map<string, Client>();

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
  async function standing(client: Client, password: Buffer | undefined, sql?: Seen): Promise<Standing> {
    const certificate = certificateOf(client);
    if (!password && certificate?.name !== client.id) return 'bad';
    const proof = password ? { credential: password } : { certificateFingerprint: certificate?.fingerprint ?? '' };
    return authenticate(client.id, proof, sql);
  }

  function refusalOf(found: Standing, client: Client, password: Buffer | undefined): Refusal | undefined {
    if (found === 'good') return undefined;
    if (found === 'blocked') return { code: NOT_AUTHORIZED, reason: 'blocked' };
    const foreign = !password && certificateOf(client)?.name !== client.id;
    return { code: BAD_CREDENTIALS, reason: password || foreign ? 'credentials' : 'certificate' };
  }

  async function refusal(
    client: Client,
    username: string | undefined,
    password: Buffer | undefined,
  ): Promise<Refusal | undefined> {
    if (!isDeviceId(client.id)) return { code: IDENTIFIER_REJECTED, reason: 'client_id' };
    if (username !== client.id) return { code: BAD_CREDENTIALS, reason: 'credentials' };
    const refused = refusalOf(await standing(client, password), client, password);
    if (refused) return refused;
    const will = connects.get(client)?.will;
    if (will && !inboundKind(client.id, will.topic)) return { code: NOT_AUTHORIZED, reason: 'will' };
    return undefined;
  }

  async function turnAway(client: Client, { code, reason }: Refusal): Promise<void> {
    metrics.mqttRefused.inc({ reason });
    if (client.closed) return;
    await throttle(client, isDeviceId(client.id) ? client.id : undefined, reason);
    refuse(client, code);
  }

  async function admit(
    broker: Aedes,
    client: Client,
    username: string | undefined,
    password: Buffer | undefined,
    accept: () => void,
  ): Promise<void> {
    let refused = await refusal(client, username, password);
    if (refused) return turnAway(client, refused);
    const itsTurn = turn();
    if (itsTurn) await itsTurn;
    if (client.closed) return;
    // Of those that wait the last one would replace the others: they need not wait, nor hold a place.
    waiting.get(client.id)?.conn.destroy();
    waiting.set(client.id, client);
    const waited = itsTurn !== undefined || locks.has(client.id);
    await withLock(client.id, async () => {
      if (waiting.get(client.id) === client) waiting.delete(client.id);
      if (client.closed || client.conn.destroyed) return;
      // Again, inside the lock: the credential may have been replaced while this connection waited.
      if (waited && !enter) refused = refusalOf(await standing(client, password), client, password);
      if (refused) return;
      await closeClient(registeredClient(broker, client.id)); // [MQTT-3.1.4-2]
      if (enter) {
        refused = refusalOf(await enter(client, (sql) => standing(client, password, sql)), client, password);
        if (refused) return;
      } else if (client.clean === false) await openSession(client.id);
      if (client.closed) return;
      // Until Aedes has done all that it does for a login, also for one whose connection has ended: what it stores late
      // would else be stored over what the next one has.
      const { promise, resolve } = Promise.withResolvers<void>();
      logins.set(client, resolve);
      const lost = (): void => void clock.after(LOST_MILLISECONDS, resolve);
      client.conn.once('close', lost);
      accept();
      await promise;
      client.conn.off('close', lost);
    });
    if (refused) await turnAway(client, refused);
  }

  return {
    /** Remembers the CONNECT packet, whose will is judged with the rest. */
    preConnect(client: Client, packet: ConnectPacket, callback: (error: Error | null, success: boolean) => void): void {
      connects.set(client, packet);
      callback(null, true);
    },

    /** Aedes gets an answer for those who are let in; the others are told by us, and their connection ended. */
    authenticate(
      this: Aedes,
      client: Client,
      username: string | undefined,
      password: Buffer | undefined,
      answer: Parameters<Aedes['authenticate']>[3],
    ) {
      admit(this, client, username, password, () => answer(null, true)).catch((err: unknown) => {
        if (!isDatabaseAway(err)) log.error({ err }, 'a login could not be checked');
        metrics.mqttRefused.inc({ reason: 'unavailable' });
        refuse(client, SERVER_UNAVAILABLE);
      });
    },

    /** The login has come to its end, well or not: the next one under its identifier may go on. */
    loginEnded(client: Client): void {
      logins.get(client)?.();
    },

    /** Closes the device's connection, after any login that is on its way; its will is carried out, or dropped. */
    disconnect: (broker: Aedes, deviceId: string, will: 'kept' | 'dropped'): Promise<void> =>
      withLock(deviceId, () => {
        const client = registeredClient(broker, deviceId);
        if (client && will === 'dropped') dropWill(client);
        return closeClient(client);
      }),
  };
}
