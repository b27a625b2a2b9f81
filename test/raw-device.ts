import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { createWebSocketStream, WebSocket } from 'ws';
import { checkMessage } from './contract/checked-messages.ts';
import { codeOfText } from './contract/error-reasons.ts';
import { noteCode } from './runs/received-codes.ts';

type Sent<Cmd extends Packet['cmd']> = Extract<Packet, { cmd: Cmd }>;

/** The protocol level of devices that ask for none: `npm test -- --mqtt-5` runs tests of MQTT 3.1.1 with 5. */
export const USUAL_LEVEL = process.env['LAPEL_TEST_MQTT'] === '5' ? 5 : 4;
/** The return codes of MQTT 3.1.1 for reason codes of MQTT 5, so that a test knows them in both. */
const RETURN_CODES: Readonly<Record<number, number>> = { 0: 0, 132: 1, 133: 2, 134: 4, 135: 5, 136: 3 };
const FAILURE = 0x80;

export interface RawDeviceOptions {
  /** `mqtt://host:port` of the service; also `mqtts`, `ws` and `wss`. */
  url: string;
  deviceId: string;
  credential?: string;
  clean?: boolean;
  /** The protocol level of all packets; 4 is MQTT 3.1.1. Without it, that of the run, with the codes of 3.1.1. */
  level?: 4 | 5;
  /** The trusted authorities, and the client certificate. */
  tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'session'>;
  /** Overrides of the CONNECT packet. */
  connect?: Record<string, unknown>;
  /** Called every two seconds while a packet is waited for: lets time pass where a clock stands still. */
  late?(): void;
}

/** Milliseconds after which a packet is late: longer than any takes unless the service tries something again. */
const LATE_MS = 2_000;

function openSocket(url: string, tls: ConnectionOptions): Duplex {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === 'mqtt:') return connectTcp({ host: hostname, port: Number(port), noDelay: true });
  if (protocol === 'mqtts:') return connectTls({ host: hostname, port: Number(port), ...tls });
  return createWebSocketStream(new WebSocket(url, 'mqtt', tls), { allowHalfOpen: false });
}

/** The event with which each kind of connection reports that it is open. */
const OPENED: Record<string, string> = { 'mqtt:': 'connect', 'mqtts:': 'secureConnect' };

/** The bytes of a device's CONNECT, for a test that sends them itself. */
export const connectBytes = (device: { deviceId: string; credential: string }, clean = false): Buffer =>
  mqttPacket.generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clientId: device.deviceId,
    username: device.deviceId,
    password: Buffer.from(device.credential),
    clean,
    keepalive: 0,
  });

/**
 * A device on a plain socket. It does nothing by itself, so the test decides every packet, also wrong ones. Packets
 * that arrive are kept until `next` takes them; `next` rejects if the connection ends first.
 */
export async function openRawDevice({
  url,
  deviceId,
  credential,
  clean = false,
  level: asked,
  tls = {},
  connect: overrides,
  late,
}: RawDeviceOptions) {
  const level = asked ?? USUAL_LEVEL;
  const socket = openSocket(url, tls);
  const parser = mqttPacket.parser({ protocolVersion: level });
  const arrived: Packet[] = [];
  let waiting: { cmd: string; resolve: (packet: never) => void; reject: (error: Error) => void }[] = [];
  const closed = Promise.withResolvers<void>();
  let isClosed = false;

  parser.on('packet', (packet) => {
    if (packet.cmd === 'publish' && packet.topic === `devices/${deviceId}/errors`) {
      const code = codeOfText(String(checkMessage(packet.topic, packet.payload)['reason']));
      if (code !== undefined) noteCode(code);
    }
    const index = waiting.findIndex(({ cmd }) => cmd === packet.cmd);
    const [waiter] = index < 0 ? [] : waiting.splice(index, 1);
    if (waiter) waiter.resolve(packet as never);
    else arrived.push(packet);
  });
  socket.on('data', (chunk: Buffer) => parser.parse(chunk));
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    for (const { cmd, reject } of waiting) reject(new Error(`the connection ended before a ${cmd} came`));
    waiting = [];
    closed.resolve();
  });
  await new Promise<void>((resolve, reject) => {
    const opened = OPENED[new URL(url).protocol];
    if (opened) socket.once(opened, resolve);
    else resolve(); // a WebSocket keeps written data until it is open
    socket.once('error', reject);
  });

  const send = (packet: Record<string, unknown>): void => {
    socket.write(mqttPacket.generate(packet as unknown as Packet, { protocolVersion: level }));
  };
  const next = <Cmd extends Packet['cmd']>(cmd: Cmd): Promise<Sent<Cmd>> => {
    const index = arrived.findIndex((packet) => packet.cmd === cmd);
    if (index >= 0) return Promise.resolve(arrived.splice(index, 1)[0] as Sent<Cmd>);
    if (isClosed) return Promise.reject(new Error(`the connection has ended; no ${cmd} came`));
    const packet = new Promise<Sent<Cmd>>((resolve, reject) => waiting.push({ cmd, resolve, reject }));
    if (!late) return packet;
    const timer = setInterval(late, LATE_MS);
    return packet.finally(() => clearInterval(timer));
  };
  let messageId = 0;

  const device = {
    socket,
    send,
    next,
    /** Resolves when the connection has ended. */
    closed: closed.promise,
    /** The packets that arrived and were not taken by `next`. */
    pending: (cmd: string): Packet[] => arrived.filter((packet) => packet.cmd === cmd),
    nextMessageId: (): number => (messageId += 1),

    /** Sends CONNECT; resolves to the CONNACK. */
    async login() {
      send({
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: level,
        clean,
        clientId: deviceId,
        keepalive: 0,
        ...(credential === undefined ? {} : { username: deviceId, password: Buffer.from(credential) }),
        ...(asked === undefined && level === 5 && !clean && { properties: { sessionExpiryInterval: 3600 } }),
        ...overrides,
      });
      const connack = await next('connack');
      return { ...connack, returnCode: connack.returnCode ?? RETURN_CODES[connack.reasonCode ?? 0] };
    },

    /** Sends SUBSCRIBE; resolves to the granted codes. */
    async subscribe(...topics: (string | { topic: string; qos: number })[]) {
      const subscriptions = topics.map((topic) => (typeof topic === 'string' ? { topic, qos: 1 } : topic));
      send({ cmd: 'subscribe', messageId: device.nextMessageId(), subscriptions });
      const { granted } = await next('suback');
      return asked === undefined ? granted.map((code) => Math.min(Number(code), FAILURE)) : granted;
    },

    /** The next command, decoded; sends no PUBACK for it. */
    async command() {
      const packet = await next('publish');
      const body = checkMessage(packet.topic, packet.payload) as {
        transactionId: number;
        operation: string;
        parameters: Record<string, unknown>;
        issuedAt: string;
        attempt: number;
      };
      return { ...body, packet };
    },

    puback(packet: { messageId?: number | undefined }): void {
      send({ cmd: 'puback', messageId: packet.messageId });
    },

    /** Publishes to one of the device's topics, or to a whole topic name; returns the message id. */
    publish(kind: string, body: unknown, options: Record<string, unknown> = {}): number {
      const topic = kind.includes('/') ? kind : `devices/${deviceId}/${kind}`;
      const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const id = device.nextMessageId();
      send({ cmd: 'publish', topic, payload, qos: 1, messageId: id, dup: false, retain: false, ...options });
      return id;
    },

    /** Publishes an acknowledgement of a command and waits for its PUBACK. */
    async ack(body: Record<string, unknown>): Promise<void> {
      device.publish('acks', body);
      await next('puback');
    },

    /** Ends the connection without DISCONNECT. */
    async drop(): Promise<void> {
      socket.destroy();
      await closed.promise;
    },
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      await closed.promise;
    },
  };
  return device;
}

export type RawDevice = Awaited<ReturnType<typeof openRawDevice>>;
