import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { IConnectPacket, IPublishPacket, ISubscribePacket, Packet } from 'mqtt-packet';
import type { Timers } from '../timers.ts';
import { UsageError } from '../usage-error.ts';
import { type Connection, openConnection } from './connection.ts';
import { createEntrance, type Opened, type Secured, type Transport } from './entrance.ts';
import type { Journal } from './journal.ts';
import { type Account, type LoginBy, loginFault, provenBy } from './login.ts';
import type { Received } from './received.ts';
import type { Waits } from './waits.ts';
import type { Alarms } from './watch.ts';

const LISTENING = ['commands', 'responses', 'errors'] as const;
/** The topics on which the service sends. */
export type Outbound = (typeof LISTENING)[number];

const MOST_CONNECTIONS = 100;
/** The most messages of one case that are kept. */
const MOST_RECEIVED = 20_000;
/** The bytes of a message that the journal gets; it shows even fewer. */
const SHOWN_BYTES = 1000;
/** The versions of MQTT by their protocol levels. */
const VERSIONS: Readonly<Record<number, string>> = { 3: '3.1', 4: '3.1.1', 5: '5' };
const REFUSED_SUBSCRIPTION = 0x80;

/** A message of the service, and whether the device has sent its PUBACK. */
export interface Sent {
  readonly messageId: number;
  confirmed: boolean;
}

/** How a device is connected. */
export interface ConnectedBy {
  readonly transport: Transport;
  readonly version: string;
  readonly loginBy: LoginBy;
}

/** Somebody on the way, who offers a certificate of another CA in place of the service. */
export interface Stranger {
  /** The connections with a CONNECT, and those that have ended without one. */
  readonly logins: number;
  readonly ended: number;
  /** The service takes the connections again. */
  leave(): void;
}

/** The MQTT side of a service with one device. It does everything that the protocol demands; cases let it misbehave. */
export interface ServiceEnd extends AsyncDisposable {
  readonly port: number;
  /** The number of connections with an accepted login so far, and whether the last one is open. */
  readonly logins: number;
  readonly isOnline: boolean;
  /** The number of SUBSCRIBE packets so far. */
  readonly subscribes: number;
  /** Why the last connection without a login was refused. */
  readonly refused: string | undefined;
  /** The last accepted CONNECT. */
  readonly connect: IConnectPacket | undefined;
  /** How the device was connected at its last accepted login; undefined before the first one. */
  readonly connectedBy: ConnectedBy | undefined;
  /** The topics to which the device has subscribed with QoS 1. */
  readonly subscriptions: ReadonlySet<string>;
  /** The messages of the device since the last call of `forget`. */
  readonly received: readonly Received[];
  /** The ids of the PUBACKs of the device since then, in their order. */
  readonly confirmations: readonly number[];
  /** Topics whose messages get no PUBACK. */
  readonly withheld: Set<string>;
  /** During an outage: called at each attempt to connect. False: the connection is closed at once. */
  accepts: (() => boolean) | undefined;
  /** The times of the attempts to connect during an outage, in milliseconds of the timers. */
  readonly knocks: readonly number[];
  /** Gives the connections from now on to a stranger, until it leaves. Only with TLS. */
  offerStranger(): Stranger;
  /** Sends messages in one piece. `isLast`: closes the connection behind them, and reads nothing more. */
  publish(topic: Outbound, payloads: readonly (string | Buffer)[], isLast?: boolean): Sent[];
  /** Closes the connection. */
  cut(): void;
  /** Cuts the connection when the PUBACK of this message arrives, before the device's next packet is read. */
  cutAfterPuback(sent: Sent): void;
  forget(): void;
  readonly until: Waits['until'];
}

const parsed = (payload: Buffer): unknown => {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
};

export async function startServiceEnd({
  listen,
  transport,
  secured,
  account,
  journal,
  alarms,
  timers,
  waits,
  onReceived,
}: {
  listen: { host: string; port: number };
  transport: Transport;
  secured: Secured | null;
  account: Account;
  journal: Journal;
  alarms: Alarms;
  timers: Timers;
  waits: Waits;
  onReceived: (message: Received) => void;
}): Promise<ServiceEnd> {
  const prefix = `devices/${account.deviceId}/`;
  const sockets = new Set<Socket>();
  const subscriptions = new Set<string>();
  const withheld = new Set<string>();
  const received: Received[] = [];
  const confirmations: number[] = [];
  const knocks: number[] = [];
  const waiting = new Map<number, Sent>();
  let current: Connection | undefined;
  let logins = 0;
  let subscribes = 0;
  let hasSession = false;
  let refused: string | undefined;
  let connect: IConnectPacket | undefined;
  let lastMessageId = 0;
  let cutAfter: Sent | undefined;
  let connectedBy: ConnectedBy | undefined;
  let stranger: { logins: number; ended: number } | undefined;

  function login(connection: Connection, packet: IConnectPacket, certificateName: string | undefined): void {
    const fault = loginFault(packet, account, certificateName);
    if (fault) {
      refused = fault.text;
      journal.note('device', `sends CONNECT, which is refused: ${fault.text}`);
      connection.sendAndCut({ cmd: 'connack', returnCode: fault.returnCode, sessionPresent: false });
      return;
    }
    current?.cut();
    current = connection;
    connect = packet;
    logins += 1;
    connectedBy = { transport, version: VERSIONS[packet.protocolVersion ?? 4] ?? '', loginBy: provenBy(packet) };
    const sessionPresent = hasSession && packet.clean === false;
    hasSession = packet.clean === false;
    if (!sessionPresent) subscriptions.clear();
    waiting.clear();
    journal.note('device', `connects: clean ${packet.clean}, keep-alive ${packet.keepalive ?? 0} s`);
    alarms.connected(packet);
    connection.send({ cmd: 'connack', returnCode: 0, sessionPresent });
  }

  function subscribe(connection: Connection, { messageId = 0, subscriptions: wanted }: ISubscribePacket): void {
    subscribes += 1;
    const granted = wanted.map(({ topic, qos }) => {
      const isOwn = LISTENING.some((name) => topic === prefix + name);
      if (!isOwn) alarms.raise('topics', 'subscriptions to its own topics', `a subscription to ${topic}`);
      else if (qos === 0) alarms.raise('topics', 'subscriptions with QoS 1', `a subscription to ${topic} with QoS 0`);
      if (isOwn && qos > 0) subscriptions.add(topic.slice(prefix.length));
      return isOwn ? (Math.min(qos, 1) as 0 | 1) : REFUSED_SUBSCRIPTION;
    });
    journal.note('device', `subscribes to ${wanted.map(({ topic, qos }) => `${topic} (QoS ${qos})`).join(', ')}`);
    connection.send({ cmd: 'suback', messageId, granted });
  }

  function receive(connection: Connection, { topic, payload, qos, messageId }: IPublishPacket): void {
    const kind = topic.startsWith(prefix) ? topic.slice(prefix.length) : topic;
    const isWithheld = withheld.has(kind);
    const bytes = Buffer.from(payload);
    journal.note(
      'device',
      `sends ${kind}: ${bytes.toString('utf8', 0, SHOWN_BYTES)}${isWithheld ? ' (gets no PUBACK)' : ''}`,
    );
    const message = { kind, body: parsed(bytes) };
    alarms.received(message, bytes, qos);
    if (received.length < MOST_RECEIVED) received.push(message);
    if (messageId !== undefined && !isWithheld) connection.send({ cmd: qos === 2 ? 'pubrec' : 'puback', messageId });
    onReceived(message);
  }

  function confirm(connection: Connection, messageId: number): void {
    const sent = waiting.get(messageId);
    if (!sent) {
      alarms.raise('mqtt', 'one PUBACK for each message', `a PUBACK for message id ${messageId}`);
      return;
    }
    waiting.delete(messageId);
    sent.confirmed = true;
    confirmations.push(messageId);
    if (cutAfter !== sent) return;
    cutAfter = undefined;
    journal.note('service', 'cuts the connection right after the PUBACK');
    connection.cut();
  }

  /** Handles a packet of the connection that has logged in. */
  function handle(connection: Connection, packet: Packet): void {
    const messageId = packet.messageId ?? 0;
    if (packet.cmd === 'subscribe') subscribe(connection, packet);
    else if (packet.cmd === 'publish') receive(connection, packet);
    else if (packet.cmd === 'puback') confirm(connection, messageId);
    else if (packet.cmd === 'pubrel') connection.send({ cmd: 'pubcomp', messageId });
    else if (packet.cmd === 'pingreq') connection.send({ cmd: 'pingresp' });
    else if (packet.cmd === 'unsubscribe') connection.send({ cmd: 'unsuback', messageId, granted: [] });
    else {
      if (packet.cmd === 'disconnect') journal.note('device', 'sends DISCONNECT');
      else alarms.raise('mqtt', 'packets that a client may send', packet.cmd.toUpperCase());
      connection.cut();
    }
  }

  function dispatch(connection: Connection, packet: Packet, certificateName: string | undefined): void {
    if (connection === current) {
      alarms.packet();
      handle(connection, packet);
    } else if (packet.cmd === 'connect') login(connection, packet, certificateName);
    else {
      alarms.raise('mqtt', 'CONNECT as the first packet [MQTT-3.1.0-1]', packet.cmd.toUpperCase());
      connection.cut();
    }
    waits.wake();
  }

  function open({ stream, certificateName }: Opened): void {
    const connection = openConnection(stream, {
      onPacket: (packet) => dispatch(connection, packet, certificateName),
      onFault(reason) {
        if (connection !== current)
          refused = `its bytes are not MQTT${transport === 'mqtt' ? ' without TLS' : ''}: ${reason}`;
        alarms.raise('mqtt', 'packets of MQTT 3.1.1', reason);
      },
      onClose(byDevice) {
        if (byDevice && connection === current) journal.note('device', 'closes the connection');
        waits.wake();
      },
    });
  }

  /** The stranger reads the first packet, and answers nothing. */
  function openStrange({ stream }: Opened): void {
    const connection = openConnection(stream, {
      onPacket(packet) {
        journal.note('device', `sends ${packet.cmd.toUpperCase()} to a stranger`);
        if (stranger) stranger.logins += 1;
        connection.cut();
        waits.wake();
      },
      onFault: (reason) => journal.note('device', `sends a stranger bytes that are not MQTT: ${reason}`),
      onClose: () => {},
    });
  }

  const entrance = createEntrance({
    transport,
    secured,
    opened: (one) => (one.isStranger ? openStrange(one) : open(one)),
    refused(reason, isStranger) {
      if (!isStranger) refused = reason;
      journal.note('device', `gets no connection${isStranger ? ' to a stranger' : ''}: ${reason}`);
    },
  });

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    const met = stranger;
    socket.once('close', () => {
      sockets.delete(socket);
      if (met) met.ended += 1;
      waits.wake();
    });
    if (end.accepts) knocks.push(timers.now());
    if (end.accepts && !end.accepts()) {
      journal.note('device', 'tries to connect, and finds no service');
      socket.on('error', () => {});
      socket.destroy();
      return waits.wake();
    }
    entrance.enter(socket, met !== undefined);
  });
  server.maxConnections = MOST_CONNECTIONS;

  const end: ServiceEnd = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    get logins() {
      return logins;
    },
    get isOnline() {
      return current?.isOpen ?? false;
    },
    get subscribes() {
      return subscribes;
    },
    get refused() {
      return refused;
    },
    get connect() {
      return connect;
    },
    get connectedBy() {
      return connectedBy;
    },
    subscriptions,
    received,
    confirmations,
    withheld,
    accepts: undefined,
    knocks,
    offerStranger() {
      journal.note('service', 'is away: a stranger offers a certificate of another CA');
      const mine = { logins: 0, ended: 0 };
      stranger = mine;
      return Object.assign(mine, {
        leave() {
          if (stranger === mine) stranger = undefined;
        },
      });
    },
    publish(kind, payloads, isLast = false) {
      const packets = payloads.map((payload): IPublishPacket => {
        lastMessageId = (lastMessageId % 65_535) + 1;
        const mine = { topic: prefix + kind, payload, qos: 1, messageId: lastMessageId } as const;
        return { cmd: 'publish', dup: false, retain: false, ...mine };
      });
      const sent = packets.map(({ messageId = 0 }): Sent => ({ messageId, confirmed: false }));
      for (const [index, one] of sent.entries()) {
        waiting.set(one.messageId, one);
        journal.note('service', `sends ${kind}: ${String(payloads[index])}`);
      }
      if (isLast) {
        journal.note('service', 'cuts the connection right behind it');
        current?.sendAndCut(...packets);
      } else current?.send(...packets);
      return sent;
    },
    cut() {
      journal.note('service', 'cuts the connection');
      current?.cut();
    },
    cutAfterPuback(sent) {
      cutAfter = sent;
    },
    forget() {
      received.length = 0;
      confirmations.length = 0;
      knocks.length = 0;
    },
    until: waits.until,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };

  server.listen(listen.port, listen.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError('--listen', (error as Error).message);
  }
  return end;
}
