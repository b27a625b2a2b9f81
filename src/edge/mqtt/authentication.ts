import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Aedes, Client, ConnectPacket } from 'aedes';
import { isDeviceId } from '../../core/devices/device-id.ts';
import type { Proof } from '../../core/devices/login-proof.ts';
import type { Seen, Standing } from '../../core/sessions/takeover.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { dropWill, registeredClient } from './aedes-internals.ts';
import type { Certificate } from './certificates.ts';
import { inboundKind } from './topics.ts';

// CONNACK return codes [MQTT-3.2.2-4].
const IDENTIFIER_REJECTED = 2;
const SERVER_UNAVAILABLE = 3;
const BAD_CREDENTIALS = 4;
const NOT_AUTHORIZED = 5;

interface Refusal {
  code: number;
  reason: 'client_id' | 'unavailable' | 'credentials' | 'certificate' | 'blocked' | 'will';
}

// Milliseconds after the close of a connection, until the lock of its login is released even though Aedes has not
// reported the end of the login.
const LOST_MILLISECONDS = 30_000;

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /**
   * Checks that the device is registered, that the proof of identity is valid, and that the device may connect. With
   * `sql` the check runs in that unit of work.
   */
  authenticate(deviceId: string, proof: Proof, sql?: Seen): Promise<'good' | 'bad' | 'blocked'>;
  /** The client certificate; undefined without one. */
  certificateOf(client: Client): Omit<Certificate, 'raw'> | undefined;
  /** Opens the session of the device, and repeats the check `standing` in the same unit of work. */
  openSession(client: Client, standing: (sql: Seen) => Promise<Standing>): Promise<Standing>;
  /**
   * In a cluster, used instead of `openSession`: ends the connection of the device to any other node, and repeats the
   * check `standing` in the same unit of work.
   */
  enter?: ((client: Client, standing: (sql: Seen) => Promise<Standing>) => Promise<Standing>) | undefined;
  /**
   * Resolves when this login may go on, since logins are slowed down while there are many commands; undefined means at
   * once.
   */
  turn(): Promise<void> | undefined;
  /** Resolves when the refusal may be sent to the client, which is delayed after many refusals. */
  throttle(client: Client, deviceId: string | undefined, reason: Refusal['reason']): Promise<void>;
  /** Called before a connection is closed: a newer one replaces it, or its device may no longer connect. */
  ending(client: Client, reason: 'replaced' | 'revoked'): void;
  /** Sends a CONNACK with a code other than 0 and ends the connection. */
  refuse(client: Client, code: number): void;
}

/**
 * Decides which clients may log in: devices with their own identifier and credential, each with one connection at a
 * time. A lock per device is locked from the last check of the credential to the end of the login. So of several
 * simultaneous CONNECTs exactly the last one remains, and a credential that is replaced meanwhile is noticed.
 */
export function createAuthentication(parts: Parts) {
  const { clock, log, metrics, authenticate, certificateOf, openSession, enter, turn, throttle, ending, refuse } =
    parts;
  const connects = new WeakMap<Client, ConnectPacket>();
  const locks = new Map<string, Promise<void>>();
  const logins = new WeakMap<Client, () => void>();
  /** The newest client that waits for the lock of its device, by deviceId. */
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

  const closeClient = async (client: Client | undefined, reason: 'replaced' | 'revoked'): Promise<void> => {
    if (!client) return;
    ending(client, reason);
    await new Promise<void>((resolve) => client.close(resolve));
  };

  /**
   * The proof of a client: its password, or its certificate when it has sent no password, or an empty one, as some libraries
   * do. A certificate of another name is none.
   */
  function proofOf(client: Client, password: Buffer | undefined): Proof | undefined {
    if (password && password.length > 0) return { credential: password };
    const certificate = certificateOf(client);
    if (certificate?.name !== client.id) return undefined;
    return { certificateFingerprint: certificate.fingerprint, isTrusted: certificate.isTrusted };
  }

  /** Checks the password against the device's credential, or the certificate against those of the device. */
  async function standing(client: Client, password: Buffer | undefined, sql?: Seen): Promise<Standing> {
    const proof = proofOf(client, password);
    return proof ? authenticate(client.id, proof, sql) : 'bad';
  }

  function refusalOf(found: Standing, client: Client, password: Buffer | undefined): Refusal | undefined {
    if (found === 'good') return undefined;
    if (found === 'blocked') return { code: NOT_AUTHORIZED, reason: 'blocked' };
    const proof = proofOf(client, password);
    return { code: BAD_CREDENTIALS, reason: !proof || 'credential' in proof ? 'credentials' : 'certificate' };
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

  async function refuseLogin(client: Client, { code, reason }: Refusal): Promise<void> {
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
    if (refused) return refuseLogin(client, refused);
    const itsTurn = turn();
    if (itsTurn) await itsTurn;
    if (client.closed) return;
    // Only the newest of several waiting clients of one device will remain. Earlier ones are closed now, so that they
    // use no resources.
    waiting.get(client.id)?.conn.destroy();
    waiting.set(client.id, client);
    const waited = itsTurn !== undefined || locks.has(client.id);
    await withLock(client.id, async () => {
      if (waiting.get(client.id) === client) waiting.delete(client.id);
      if (client.closed || client.conn.destroyed) return;
      // The check is repeated under the lock: the credential may have been replaced while the client waited. It comes
      // before the older connection is closed, so that a revoked credential ends no connection.
      if (waited && !enter) refused = refusalOf(await standing(client, password), client, password);
      if (refused) return;
      await closeClient(registeredClient(broker, client.id), 'replaced'); // an older connection of the same device must be closed [MQTT-3.1.4-2]
      const check = (sql: Seen): Promise<Standing> => standing(client, password, sql);
      if (enter) refused = refusalOf(await enter(client, check), client, password);
      else if (client.clean === false) refused = refusalOf(await openSession(client, check), client, password);
      if (refused) return;
      if (client.closed) return;
      // The lock is held until Aedes has finished its work for this login, even if the connection has ended meanwhile.
      // Otherwise a late write of this login could overwrite the data of the next one.
      const { promise, resolve } = Promise.withResolvers<void>();
      logins.set(client, resolve);
      const lost = (): void => void clock.after(LOST_MILLISECONDS, resolve);
      client.conn.once('close', lost);
      accept();
      await promise;
      client.conn.off('close', lost);
    });
    if (refused) await refuseLogin(client, refused);
  }

  return {
    /** Remembers the CONNECT packet; its will is checked during authentication. */
    preConnect(client: Client, packet: ConnectPacket, callback: (error: Error | null, success: boolean) => void): void {
      connects.set(client, packet);
      callback(null, true);
    },

    /**
     * Decides about a login for Aedes. Aedes is only answered when the login is accepted; otherwise `refuse` sends the
     * CONNACK and ends the connection.
     */
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

    /** Called when a login has ended, successfully or not: the next login of the same device may go on. */
    loginEnded(client: Client): void {
      logins.get(client)?.();
    },

    /**
     * Closes the connection of a device, after any login of the device that is in progress. Its will is published, or
     * dropped.
     */
    disconnect: (broker: Aedes, deviceId: string, will: 'kept' | 'dropped'): Promise<void> =>
      withLock(deviceId, () => {
        const client = registeredClient(broker, deviceId);
        if (client && will === 'dropped') dropWill(client);
        return closeClient(client, 'revoked');
      }),
  };
}
