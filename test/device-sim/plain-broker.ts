import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Command } from '@lapel/device-sim/mqtt/messages';
import { Aedes, type Client } from 'aedes';

interface Ack {
  deviceId: string;
  transactionId: number;
  status: string;
  [field: string]: unknown;
}

/** A broker of the library alone, on a free port, to test devices against any broker. */
export async function startBroker({ password }: { password?: string } = {}) {
  const broker = await Aedes.createBroker();
  if (password !== undefined) {
    broker.authenticate = (_client, _user, given, done) => {
      if (given?.toString() === password) return done(null, true);
      done(Object.assign(new Error('refused'), { returnCode: 4 }), null);
    };
  }
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    broker.handle(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clients = new Set<Client>();
  broker.on('client', (client) => clients.add(client));
  const acks: Ack[] = [];
  /** All messages of devices, in their order. */
  const published: { kind: string; body: Record<string, unknown> }[] = [];
  const subscriptions: string[] = [];
  const arrived: (() => void)[] = [];
  broker.on('subscribe', (list) => subscriptions.push(...list.map(({ topic }) => topic)));
  broker.on('publish', (packet, client: Client | null) => {
    const [, deviceId = '', kind] = packet.topic.split('/');
    if (!client || kind === undefined) return;
    const body = JSON.parse(packet.payload.toString());
    published.push({ kind, body });
    if (kind === 'acks') acks.push({ deviceId, ...body });
    for (const wake of arrived.splice(0)) wake();
  });

  /** Resolves when `holds`, called after each message, returns a value. */
  async function until<Found>(holds: () => Found | undefined | false): Promise<Found> {
    for (;;) {
      const found = holds();
      if (found) return found;
      await new Promise<void>((resolve) => arrived.push(resolve));
    }
  }

  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    broker,
    clients: (): Client[] => [...clients],
    acks,
    published,
    until,
    subscriptions,
    sockets,
    /** Resolves when `count` acks have arrived in total. */
    async acksAre(count: number): Promise<Ack[]> {
      return until(() => acks.length >= count && acks);
    },
    send(deviceId: string, command: object, topic = 'commands'): void {
      const payload = Buffer.from(JSON.stringify(command));
      const target = `devices/${deviceId}/${topic}`;
      broker.publish({ cmd: 'publish', topic: target, payload, qos: 1, retain: false, dup: false }, () => {});
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await new Promise<void>((resolve) => broker.close(() => resolve()));
    },
  };
}

/** A command in the form of the service. */
export function command(
  transactionId: number,
  operation: string,
  parameters: Record<string, unknown> = {},
  attempt = 1,
): Command {
  return { transactionId, operation, parameters, issuedAt: '2026-11-20T09:30:00.123456Z', attempt };
}

export const wifi = (ssid: string) => ({ networks: [{ ssid, security: 'WPA2', password: 'long enough' }] });
