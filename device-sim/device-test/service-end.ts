import type { IConnectPacket, ISubscribePacket, Packet } from 'mqtt-packet';
import type { Conditions } from '../mqtt/conditions.ts';
import type { Random } from '../random.ts';
import type { Timers } from '../timers.ts';
import { type Connection, openConnection } from './connection.ts';
import { type Door, openDoor } from './door.ts';
import type { Opened, Secured, Transport } from './entrance.ts';
import {
  boundsOf,
  connectFault,
  disconnectOf,
  isFive,
  keepsSession,
  packetFault,
  type Reason,
  reasonOfFilter,
  refusal,
  refusalOfFive,
  shownCode,
  welcome,
} from './five.ts';
import { createInflow } from './inflow.ts';
import type { Journal } from './journal.ts';
import { type Account, type LoginBy, loginFault, provenBy } from './login.ts';
import { createOutflow, type Outbound, type Sent } from './outflow.ts';
import type { Received } from './received.ts';
import type { Waits } from './waits.ts';
import type { Alarms } from './watch.ts';

const LISTENING: readonly Outbound[] = ['commands', 'responses', 'errors'];
/** The versions of MQTT by their protocol levels. */
const VERSIONS: Readonly<Record<number, string>> = { 3: '3.1', 4: '3.1.1', 5: '5' };
/** The most messages of one case that are kept. */
const MOST_RECEIVED = 20_000;
const REFUSED_SUBSCRIPTION = 0x80;
const NO_SUCH_SUBSCRIPTION = 0x11;

/** How a device is connected. */
export interface ConnectedBy {
  readonly transport: Transport;
  readonly version: string;
  readonly loginBy: LoginBy;
}

/** The MQTT side of a service with one device. It does everything that the protocol demands; cases let it misbehave. */
export interface ServiceEnd extends AsyncDisposable {
  readonly door: Door;
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
  /** Topics whose messages get a PUBACK with a reason code, with MQTT 5. */
  readonly refusing: Map<string, Reason>;
  /** The network between the service and the device; null: nothing is wrong with it. */
  network: Conditions | null;
  /** Sends messages in one piece. `isLast`: closes the connection behind them, and reads nothing more. */
  publish(topic: Outbound, payloads: readonly (string | Buffer)[], isLast?: boolean): Sent[];
  /** Closes the connection. */
  cut(): void;
  /** Swallows everything from now on, in both directions, and leaves the connection open. */
  freeze(): void;
  /** Closes the connection behind a DISCONNECT, with MQTT 5. */
  disconnect(reason: Reason): void;
  /** Cuts the connection when the PUBACK of this message arrives, before the device's next packet is read. */
  cutAfterPuback(sent: Sent): void;
  forget(): void;
  readonly until: Waits['until'];
}

export async function startServiceEnd({
  listen,
  transport,
  secured,
  account,
  journal,
  alarms,
  timers,
  random,
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
  random: Random;
  waits: Waits;
  onReceived: (message: Received) => void;
}): Promise<ServiceEnd> {
  const prefix = `devices/${account.deviceId}/`;
  const subscriptions = new Set<string>();
  const withheld = new Set<string>();
  const refusing = new Map<string, Reason>();
  const received: Received[] = [];
  const confirmations: number[] = [];
  let current: Connection | undefined;
  let logins = 0;
  let subscribes = 0;
  let hasSession = false;
  let refused: string | undefined;
  let connect: IConnectPacket | undefined;
  let cutAfter: Sent | undefined;
  let connectedBy: ConnectedBy | undefined;

  const keep = (message: Received): void => {
    if (received.length < MOST_RECEIVED) received.push(message);
  };

  const inflow = createInflow({ prefix, journal, alarms, withheld, refusing, keep, onReceived });
  const outflow = createOutflow({
    prefix,
    journal,
    failed: (transactionId, code) =>
      keep({ kind: 'acks', body: { transactionId, status: 'failed', error: { code, message: '' } } }),
    correlationOf: inflow.correlationOf,
  });

  /** Ends a connection at a fault of the device; MQTT 5 tells the reason. */
  function end(connection: Connection, reason: Reason): void {
    alarms.raise('mqtt', 'packets that the service takes', reason.text);
    if (connection.level === 5 && connection === current) connection.sendAndCut(disconnectOf(reason));
    else connection.cut();
  }

  /** The CONNACK that refuses a login; undefined for one that is accepted. */
  function refusalOf(packet: IConnectPacket, certificateName: string | undefined): Packet | undefined {
    const fault = loginFault(packet, account, certificateName);
    const ofFive = !fault && isFive(packet) ? connectFault(packet) : undefined;
    if (ofFive) alarms.raise('mqtt', 'a CONNECT that the service takes', ofFive.text);
    refused = fault?.text ?? ofFive?.text;
    if (refused !== undefined) journal.note('device', `sends CONNECT, which is refused: ${refused}`);
    if (fault) return refusal(packet, fault);
    return ofFive && refusalOfFive(ofFive);
  }

  function login(connection: Connection, packet: IConnectPacket, certificateName: string | undefined): void {
    const connack = refusalOf(packet, certificateName);
    if (connack) {
      connection.sendAndCut(connack);
      return;
    }
    current?.cut();
    current = connection;
    connect = packet;
    logins += 1;
    connectedBy = { transport, version: VERSIONS[packet.protocolVersion ?? 4] ?? '', loginBy: provenBy(packet) };
    const sessionPresent = hasSession && packet.clean === false;
    hasSession = keepsSession(packet);
    if (!sessionPresent) subscriptions.clear();
    outflow.begin(connection, boundsOf(packet));
    inflow.begin();
    const version = connection.level === 5 ? 'MQTT 5, ' : '';
    journal.note('device', `connects: ${version}clean ${packet.clean}, keep-alive ${packet.keepalive ?? 0} s`);
    alarms.connected(packet);
    connection.send(welcome(packet, sessionPresent));
  }

  function grant({ topic, qos }: { topic: string; qos: number }, isOfFive: boolean): number {
    const isOwn = LISTENING.some((name) => topic === prefix + name);
    if (!isOwn) alarms.raise('topics', 'subscriptions to its own topics', `a subscription to ${topic}`);
    else if (qos === 0) alarms.raise('topics', 'subscriptions with QoS 1', `a subscription to ${topic} with QoS 0`);
    if (isOwn && qos > 0) subscriptions.add(topic.slice(prefix.length));
    if (isOwn) return Math.min(qos, 1);
    return isOfFive ? reasonOfFilter(topic) : REFUSED_SUBSCRIPTION;
  }

  function subscribe(connection: Connection, { messageId = 0, subscriptions: wanted }: ISubscribePacket): void {
    subscribes += 1;
    journal.note('device', `subscribes to ${wanted.map(({ topic, qos }) => `${topic} (QoS ${qos})`).join(', ')}`);
    const granted = wanted.map((one) => grant(one, connection.level === 5));
    connection.send({ cmd: 'suback', messageId, granted });
  }

  function confirm(connection: Connection, messageId: number, reason: Reason): void {
    const sent = outflow.confirm(messageId, reason);
    if (!sent) {
      alarms.raise('mqtt', 'one PUBACK for each message', `a PUBACK for message id ${messageId}`);
      return;
    }
    confirmations.push(messageId);
    if (cutAfter !== sent) return;
    cutAfter = undefined;
    journal.note('service', 'cuts the connection right after the PUBACK');
    connection.cut();
  }

  /** Handles a packet of the connection that has logged in. */
  function handle(connection: Connection, packet: Packet): void {
    const messageId = packet.messageId ?? 0;
    const fault = connection.level === 5 ? packetFault(packet) : undefined;
    if (fault) end(connection, fault);
    else if (packet.cmd === 'subscribe') subscribe(connection, packet);
    else if (packet.cmd === 'publish') {
      const above = inflow.receive(connection, packet);
      if (above) end(connection, above);
    } else if (packet.cmd === 'puback')
      confirm(connection, messageId, { code: packet.reasonCode ?? 0, text: packet.properties?.reasonString ?? '' });
    else if (packet.cmd === 'pubrel') connection.send({ cmd: 'pubcomp', messageId });
    else if (packet.cmd === 'pingreq') connection.send({ cmd: 'pingresp' });
    else if (packet.cmd === 'unsubscribe') {
      const left = packet.unsubscriptions.map((topic) => subscriptions.delete(topic.slice(prefix.length)));
      const granted = connection.level === 5 ? left.map((was) => (was ? 0 : NO_SUCH_SUBSCRIPTION)) : [];
      connection.send({ cmd: 'unsuback', messageId, granted });
    } else {
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
    const connection = openConnection(stream, network, {
      onPacket: (packet) => dispatch(connection, packet, certificateName),
      onFault(reason) {
        if (connection !== current)
          refused = `its bytes are not MQTT${transport === 'mqtt' ? ' without TLS' : ''}: ${reason}`;
        end(connection, { code: 0x81, text: reason });
      },
      onClose(byDevice) {
        if (byDevice && connection === current) journal.note('device', 'closes the connection');
        waits.wake();
      },
    });
  }

  const network = { conditions: () => service.network, random, timers };

  const door = await openDoor({
    listen,
    transport,
    secured,
    journal,
    timers,
    waits,
    opened: open,
    refused: (reason) => (refused = reason),
  });

  const service: ServiceEnd = {
    door,
    network: null,
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
    refusing,
    publish: (kind, payloads, isLast = false) => outflow.publish(kind, payloads, isLast),
    cut() {
      journal.note('service', 'cuts the connection');
      current?.cut();
    },
    freeze() {
      journal.note('service', 'cannot be heard any more, and hears nothing');
      current?.freeze();
    },
    disconnect(reason) {
      journal.note('service', `sends DISCONNECT ${shownCode(reason.code)}: ${reason.text}`);
      current?.sendAndCut(disconnectOf(reason));
    },
    cutAfterPuback(sent) {
      cutAfter = sent;
    },
    forget() {
      received.length = 0;
      confirmations.length = 0;
      door.knocks.length = 0;
    },
    until: waits.until,
    [Symbol.asyncDispose]: () => door[Symbol.asyncDispose](),
  };
  return service;
}
