// The parts that each peer needs: the route of Fastify, the clients of MQTT, and the signed webhook.
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import mqtt from 'mqtt';
import { Webhook } from 'standardwebhooks';
import { Pool } from 'undici';

/** The argument of each service, as JSON. */
export interface Config {
  /** The port of its HTTP listener. */
  port: number;
  /** The port of Mosquitto. */
  mqtt: number;
  /** The URL of Redis or of a database of PostgreSQL. */
  store: string;
  /** The URL of the receiver of webhooks, and the key of their signature (`whsec_...`). */
  receiver: string;
  secret: string;
}

/** The command that a caller wants a device to carry out. */
export interface Command {
  deviceId: string;
  networks: unknown[];
}

/** The answer of a device. */
export interface Result {
  transactionId: string;
  status: string;
  error?: unknown;
}

export const config = JSON.parse(process.argv[2] ?? '{}') as Config;

/** A command without an acknowledgement is published again after this time. */
export const AGAIN_SECONDS = 2;
/** The webhooks that are sent at the same time. */
export const WEBHOOKS_AT_ONCE = 64;

/** Serves `PUT /v1/applications/:app/devices/:deviceId/settings/wifi`: 201 with the id that `accept` resolves with. */
export async function serve(accept: (command: Command) => Promise<string>): Promise<void> {
  const app = Fastify();
  app.put(
    '/v1/applications/:application/devices/:deviceId/settings/wifi',
    {
      schema: {
        body: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            required: ['ssid'],
            properties: { ssid: { type: 'string' }, password: { type: 'string' }, security: { type: 'string' } },
          },
        },
      },
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const { deviceId } = request.params as { deviceId: string };
      const transactionId = await accept({ deviceId, networks: request.body as unknown[] });
      return reply.code(201).send({ transactionId });
    },
  );
  await app.listen({ port: config.port, host: '127.0.0.1' });
}

const ignore = (): void => undefined;
const client = (clientId: string): mqtt.MqttClient =>
  mqtt.connect({
    host: '127.0.0.1',
    port: config.mqtt,
    clientId,
    clean: false,
    resubscribe: false,
    reconnectPeriod: 100,
  });

/** Connects the client that publishes commands; it resolves with the PUBACK of the broker. */
export function createPublisher(): (transactionId: string, command: Command) => Promise<void> {
  const publisher = client('service');
  publisher.on('error', ignore); // it connects again
  return async (transactionId, { deviceId, networks }) => {
    const payload = JSON.stringify({ transactionId, operation: 'setWifi', parameters: { networks } });
    await publisher.publishAsync(`devices/${deviceId}/commands`, payload, { qos: 1 });
  };
}

// MQTT.js handles the next message of a connection only after the PUBACK of the last one. With several connections and a
// shared subscription, several answers are stored at the same time.
const CONNECTIONS = 32;

/** Subscribes to the answers of devices. The broker gets the PUBACK of an answer after `store` has resolved. */
export async function onAnswers(store: (result: Result) => Promise<void>): Promise<void> {
  const untilStored = async (result: Result): Promise<void> => {
    for (;;) {
      try {
        return await store(result);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100)); // the store is away
      }
    }
  };
  const connect = async (index: number): Promise<void> => {
    const subscriber = client(`service-answers-${index}`);
    // MQTT.js sends the PUBACK when `done` is called.
    subscriber.handleMessage = (packet, done) => {
      const result = JSON.parse((packet as { payload: Buffer }).payload.toString()) as Result;
      void (async () => {
        await untilStored(result);
        done();
      })();
    };
    subscriber.on('error', ignore); // it connects again
    // At each connection, because Mosquitto 2.0.11 restores the session from its file without the shared subscription.
    const subscribe = () => subscriber.subscribeAsync('$share/service/devices/+/acks', { qos: 1 });
    await new Promise<void>((resolve) => {
      subscriber.on('connect', () => void subscribe().then(() => resolve(), ignore));
    });
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => connect(index)));
}

const target = new URL(config.receiver);
const pool = new Pool(target.origin, { connections: WEBHOOKS_AT_ONCE });
const signer = new Webhook(config.secret);

/** Sends the signed webhook of a result once; throws unless the receiver has taken it. Each repetition has the same id. */
export async function sendWebhook(result: Result): Promise<void> {
  const id = `result-${result.transactionId}`;
  const now = new Date();
  const body = JSON.stringify({
    type: `transaction.${result.status}`,
    timestamp: now.toISOString(),
    data: { transaction: result },
  });
  const { statusCode, body: answer } = await pool.request({
    method: 'POST',
    path: target.pathname,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': signer.sign(id, now, body),
    },
    body,
  });
  await answer.dump();
  if (statusCode >= 300) throw new Error(`the receiver answered ${statusCode}`);
}
