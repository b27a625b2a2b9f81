import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { type Config, readConfig } from '../src/config.ts';
import type { ClusterOverrides } from '../src/platform/cluster/open-peers.ts';
import type { Clock } from '../src/runtime/clock.ts';
import type { TimeWitness } from '../src/runtime/clock-trust.ts';
import { type Ids, randomIds } from '../src/runtime/ids.ts';
import { createLog, type Log } from '../src/runtime/log.ts';
import { createService, type Service } from '../src/service.ts';
import {
  type CheckedAnswer,
  type CheckedClient,
  createClient,
  type UnreadRefusals,
} from './contract/checked-client.ts';
import { checkWebhook } from './contract/checked-messages.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { writeNewDatabase } from './new-database.ts';
import { createDatabase, type DatabaseKind, databaseOf, usualDatabase } from './postgres/databases.ts';
import { openRaw } from './raw-database.ts';
import { openRawDevice, type RawDevice, type RawDeviceOptions } from './raw-device.ts';
import { until } from './until.ts';
import { createTestReceiver, type TestReceiver } from './webhooks/test-receiver.ts';

export const ALL_SCOPES = 'svc:application:read svc:application:write svc:device:read svc:device:write';

interface WorldOptions {
  clock?: FakeClock;
  ids?: Ids;
  dataDir?: string;
  env?: Record<string, string>;
  /** SQLite, unless LAPEL_TEST_DATABASE says otherwise; `env.LAPEL_DATABASE_URL` names an existing database. */
  database?: DatabaseKind;
  /** The log; silent by default. */
  log?: Log;
  /** The number of nodes; more than one needs PostgreSQL. `world.service` is the first. */
  nodes?: number;
  /** Whether nodes store figures of the fleet every ten seconds; by default not. */
  keepsHistory?: boolean;
  /** Whether `/metrics` may answer with a text that is up to a second old; by default not. */
  keepsMetrics?: boolean;
  /** Whether the service reads its SQLite database whole, to find damage; by default not. */
  checksDatabase?: boolean;
  /** Whether retention and removals make their pauses, which are 19 times as long as their steps; by default not. */
  makesPauses?: boolean;
  /**
   * Whether calls are repeated while the service answers 503, as customers repeat them; by default with PostgreSQL, which is
   * too late for an answer now and then on a busy machine. Calls that set up are always repeated.
   */
  insists?: boolean;
  /** Settings that differ from node to node. */
  settings?: (node: number) => Partial<Config>;
  /** Overrides for the cluster of each node. */
  cluster?: (node: number) => ClusterOverrides;
  /** The clock of the database's server; by default it is that of the test. */
  timeWitness?: TimeWitness;
}

const serverOf = (clock: Clock): TimeWitness => ({
  hasClock: true,
  seen: async () => clock.now(),
  note: async () => undefined,
});

/** The node to use, the first one by default. */
interface AtNode {
  node?: number;
}

/** The settings that all nodes of a cluster need. */
const IN_COMMON = {
  LAPEL_ADMIN_TOKEN: 'a token of administrators that all nodes know',
  LAPEL_PUBLIC_URL: 'https://lapel.test',
  LAPEL_S3_ENDPOINT: 'http://127.0.0.1:9',
};

/** A valid device identifier for a number: 13 digits of the number and the Luhn check digit. */
export function deviceIdOf(number: number): string {
  const body = `35${String(number).padStart(12, '0')}`;
  const sum = Array.from(body).reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${body}${(10 - (sum % 10)) % 10}`;
}

/** A return code of CONNACK [MQTT-3.2.2.3]. */
const UNAVAILABLE = 3;
/** The most calls for one thing, while the service is overloaded. */
const MOST_TRIES = 40;

/** Asks again while the service is overloaded, or its database is away: a busy machine makes both so for a moment. */
export async function insist<Answer extends { status: number }>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (answer.status !== 503 || tries === MOST_TRIES) return answer;
    await pause(50);
  }
}

const insisting = (client: CheckedClient): CheckedClient => ({
  ...client,
  get: (...call) => insist(() => client.get(...call)),
  post: (...call) => insist(() => client.post(...call)),
  put: (...call) => insist(() => client.put(...call)),
  patch: (...call) => insist(() => client.patch(...call)),
  delete: (...call) => insist(() => client.delete(...call)),
});

/**
 * Starts the real service on free ports, with a temporary folder and a clock that stands still, and the helpers around
 * it. All of it ends with the test.
 */
export async function startWorld(t: Test, options: WorldOptions = {}) {
  const { clock = createFakeClock(), ids = randomIds, dataDir = t.testdir(), nodes: wanted = 1, cluster } = options;
  const { database = wanted > 1 ? 'postgres' : usualDatabase } = options;
  const isServer = database === 'postgres' || options.env?.['LAPEL_DATABASE_URL'] !== undefined;
  const { insists = isServer } = options;
  const own = options.env?.['LAPEL_DATABASE_URL'] === undefined && database === 'postgres';
  const config = readConfig({
    env: {
      LAPEL_DATA_DIR: dataDir,
      LAPEL_HTTP_PORT: '0',
      LAPEL_ADMIN_PORT: '0',
      LAPEL_MQTT_PORT: '0',
      LAPEL_OBJECTS_PORT: '0',
      LAPEL_TIME_ZONE: 'Asia/Tokyo',
      LAPEL_RATE_LIMIT: '0', // the clock stands still, so a bucket would never fill again
      LAPEL_TOKEN_RATE_LIMIT: '0',
      LAPEL_FAILED_LOGIN_LIMIT: '0',
      LAPEL_ENROLMENT_RATE_LIMIT: '0',
      LAPEL_DEVICE_RATE_LIMIT: '0',
      LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
      ...(own && {
        LAPEL_DATABASE_URL: await (options.dataDir === undefined ? createDatabase(t) : databaseOf(t, dataDir)),
      }),
      ...(wanted > 1 && IN_COMMON),
      ...options.env,
    },
  });
  if (options.dataDir === undefined && config.databaseUrl === null) writeNewDatabase(dataDir);
  const log = options.log ?? createLog({ level: 'silent' });
  // The server of a test's database has the time of today, and the clock of the test another.
  const witness = options.timeWitness ?? (config.databaseUrl === null ? undefined : serverOf(clock));
  const start = (node: number): Promise<Service> => {
    const folder = node === 0 ? dataDir : join(dataDir, `node${node}`);
    const own = { ...config, dataDir: folder, ...options.settings?.(node) };
    return createService(own, {
      log,
      clock,
      ids,
      keepsHistory: options.keepsHistory ?? false,
      keepsMetrics: options.keepsMetrics ?? false,
      checksDatabase: options.checksDatabase ?? false,
      ...(!options.makesPauses && { pauseFactor: 0 }),
      ...(cluster && { cluster: cluster(node) }),
      ...(witness && { timeWitness: witness }),
    });
  };
  const nodes = [await start(0)];
  t.teardown(() => Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())));
  while (nodes.length < wanted) nodes.push(await start(nodes.length));
  // Hints go to nodes that are known, and a test whose clock stands still waits for ever for a lost one.
  if (wanted > 1)
    for (const { metrics } of nodes)
      await until(async () => (await metrics.clusterNodes.get()).values[0]?.value === wanted);
  const serviceOf = ({ node = 0 }: AtNode = {}): Service => nodes[node] as Service;
  const clients: CheckedClient[] = [];
  const unread: UnreadRefusals = new Set();
  t.teardown(() => Promise.all(clients.map((client) => client[Symbol.asyncDispose]())));
  let devices = 0;

  function client(baseUrl: string, token?: string): CheckedClient {
    const made = createClient({ baseUrl, unread, ...(token !== undefined && { token }) });
    clients.push(made);
    return insists ? insisting(made) : made;
  }
  const admin = (at?: AtNode): CheckedClient => client(serviceOf(at).addresses.admin, serviceOf(at).adminToken);
  const anonymous = (): CheckedClient => client(serviceOf().addresses.http);
  /** A client of the administration listener without a token, like a probe or Prometheus. */
  const anonymousAdmin = (): CheckedClient => client(serviceOf().addresses.admin);

  async function tokenOf(applicationId: string, secret: string, scope = ALL_SCOPES): Promise<string> {
    const answer = await anonymous().post('/api/v1/authenticate', {
      headers: { authorization: `Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}` },
      form: { grant_type: 'client_credentials', scope },
    });
    t.equal(answer.status, 200, 'a token is issued');
    return answer.body.access_token;
  }
  const clientOf = async (applicationId: string, secret: string, scope?: string): Promise<CheckedClient> =>
    client(serviceOf().addresses.http, await tokenOf(applicationId, secret, scope));

  /** Creates a developer with a contract, an application with a key, and a webhook receiver. */
  async function createTenant(
    name = 'dev',
    wanted: { deviceLimit?: number | null; key?: boolean; deviceEvent?: boolean } = {},
  ) {
    const { deviceLimit = 100, key = true, deviceEvent = true } = wanted;
    const receiver: TestReceiver = await createTestReceiver(t);
    const contract = deviceLimit === null ? {} : { deviceLimit };
    await insist(() => admin().post('/admin/v1/developers', { json: { developerId: name, name, ...contract } }));
    const json = { applicationId: `${name}-app`, name };
    const made = await insist(() => admin().post(`/admin/v1/developers/${name}/applications`, { json }));
    const { applicationId, secret } = made.body as { applicationId: string; secret: string };
    const tenant = {
      developerId: name,
      applicationId,
      secret,
      receiver,
      authenticationKey: '',
      /** The base path of the application. */
      path: `/v1/applications/${applicationId}`,
      api: await clientOf(applicationId, secret),
      /** A client of the same application at another node. */
      at: async (node: number): Promise<CheckedClient> =>
        client(serviceOf({ node }).addresses.http, await tokenOf(applicationId, secret)),
      /** Gets a new token for the same application, as after a restart on other ports. */
      async renew(): Promise<void> {
        tenant.api = await clientOf(applicationId, secret);
      },
      /** Resolves to the next webhook, checked against its schema. */
      async event() {
        const { body, headers } = await receiver.next();
        const { type, timestamp, data } = checkWebhook(body) as {
          type: string;
          timestamp: string;
          data: { applicationId: string; deviceId: string; transaction: Record<string, unknown> };
        };
        return { type, timestamp, data, headers, body };
      },
    };
    if (key) {
      const issued = await insist(() => tenant.api.post(`${tenant.path}/refresh_authkey`));
      tenant.authenticationKey = issued.body.authenticationKey;
    }
    if (deviceEvent) await insist(() => tenant.api.patch(tenant.path, { json: { deviceEvent: receiver.url } }));
    return tenant;
  }

  /** Registers a device of a developer. */
  async function registerDevice(developerId = 'dev'): Promise<{ deviceId: string; credential: string }> {
    devices += 1;
    const deviceId = deviceIdOf(devices);
    const made = await insist(() =>
      admin().post(`/admin/v1/developers/${developerId}/devices`, { json: { deviceId } }),
    );
    return { deviceId, credential: made.body.credential };
  }

  /** Opens a connection of a device without login; it ends with the test. */
  async function open(device: Omit<RawDeviceOptions, 'url'> & AtNode): Promise<RawDevice> {
    // The service carries out a message again, after a pause, for which PostgreSQL was too late on a busy machine.
    const late = isServer ? () => clock.advance(1_000) : undefined;
    const opened = await openRawDevice({ url: serviceOf(device).addresses.mqtt, ...(late && { late }), ...device });
    t.teardown(() => opened.socket.destroy());
    return opened;
  }

  /** Opens a connection, logs in, and subscribes to the device's topics (unless the session has the subscriptions). */
  async function connect(device: Omit<RawDeviceOptions, 'url'> & AtNode): Promise<RawDevice> {
    let opened = await open(device);
    let connack = await opened.login();
    // A node of several answers "unavailable" while its lease is late, as on a busy machine; devices then try again.
    for (let tries = 1; connack.returnCode === UNAVAILABLE && wanted > 1 && tries < 20; tries += 1) {
      opened = await open(device);
      connack = await opened.login();
    }
    t.equal(connack.returnCode, 0, 'the device is let in');
    if (!connack.sessionPresent) {
      const topics = ['commands', 'responses', 'errors'].map((kind) => `devices/${device.deviceId}/${kind}`);
      t.same(await opened.subscribe(...topics), [1, 1, 1], 'its topics are granted');
    }
    return opened;
  }

  /** Registers, connects and activates a device; takes its activation event. */
  async function activatedDevice(
    tenant: Awaited<ReturnType<typeof createTenant>>,
    wanted: Pick<RawDeviceOptions, 'clean' | 'level' | 'connect'> & AtNode = {},
  ) {
    const device = await registerDevice(tenant.developerId);
    const link = await connect({ ...device, ...wanted });
    const answer = await tenant.api.post(`${tenant.path}/devices/${device.deviceId}`, { json: {} });
    t.equal(answer.status, 201);
    const command = await link.command();
    link.puback(command.packet);
    await link.ack({ transactionId: command.transactionId, status: 'succeeded' });
    t.equal((await tenant.event()).type, 'transaction.succeeded');
    return { ...device, link, path: `${tenant.path}/devices/${device.deviceId}` };
  }

  return {
    clock,
    dataDir,
    /** Whether its database is a server, which is too late now and then. */
    isServer,
    /** Opens the database of the service directly. */
    raw: () => openRaw(t, dataDir, config.databaseUrl),
    admin,
    anonymous,
    anonymousAdmin,
    tokenOf,
    clientOf,
    /** A client of the API with a token. */
    clientWith: (token: string): CheckedClient => client(serviceOf().addresses.http, token),
    createTenant,
    registerDevice,
    open,
    connect,
    activatedDevice,
    get service() {
      return serviceOf();
    },
    nodes,
    async idle(): Promise<void> {
      for (const node of nodes) await node.idle();
    },
    /** The PostgreSQL database of the service; null for SQLite in the data folder. */
    databaseUrl: config.databaseUrl,
    /**
     * Stops the service in order and starts it again on the same data. Clients that were made before have
     * the old ports.
     */
    async restart(between?: () => void | Promise<void>): Promise<void> {
      await serviceOf()[Symbol.asyncDispose]();
      await between?.();
      nodes[0] = await start(0);
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
export type Tenant = Awaited<ReturnType<World['createTenant']>>;

export const WIFI = [{ ssid: 'office', password: 'correct horse', security: 'WPA2' }];

/** The transactionId of a transaction response. */
export const transactionIdOf = ({ body }: CheckedAnswer): number => body.transactionId;
