import type { IConnectPacket, IPublishPacket, ISubscribePacket, Packet } from 'mqtt-packet';
import { isRecord } from '../mqtt/messages.ts';
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
  LIMITS,
  packetFault,
  type Reason,
  reasonOfFilter,
  refusal,
  refusalOfFive,
  shownCode,
  welcome,
} from './five.ts';
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
/** The most requests whose Correlation Data is kept. */
const MOST_CORRELATIONS = 64;
/** The bytes of a message that the journal gets; it shows even fewer. */
const SHOWN_BYTES = 1000;
const REFUSED_SUBSCRIPTION = 0x80;
const SUCCESS: Reason = { code: 0, text: '' };
const NOT_AS_ITS_SCHEMA: Reason = { code: 0x99, text: 'the message is no JSON object' };
const FOREIGN_TOPIC: Reason = { code: 0x87, text: 'the topic is not one of the device' };
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
  /** Sends messages in one piece. `isLast`: closes the connection behind them, and reads nothing more. */
  publish(topic: Outbound, payloads: readonly (string | Buffer)[], isLast?: boolean): Sent[];
  /** Closes the connection. */
  cut(): void;
  /** Closes the connection behind a DISCONNECT, with MQTT 5. */
  disconnect(reason: Reason): void;
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
  const subscriptions = new Set<string>();
  const withheld = new Set<string>();
  const refusing = new Map<string, Reason>();
  const received: Received[] = [];
  const confirmations: number[] = [];
  const correlations = new Map<unknown, Buffer>();
  let current: Connection | undefined;
  let logins = 0;
  let subscribes = 0;
  let hasSession = false;
  let refused: string | undefined;
  let connect: IConnectPacket | undefined;
  let cutAfter: Sent | undefined;
  let connectedBy: ConnectedBy | undefined;
  /** The messages of this connection that have got no PUBACK. */
  let unanswered = 0;

  const keep = (message: Received): void => {
    if (received.length < MOST_RECEIVED) received.push(message);
  };

  const outflow = createOutflow({
    prefix,
    journal,
    failed: (transactionId, code) =>
      keep({ kind: 'acks', body: { transactionId, status: 'failed', error: { code, message: '' } } }),
    correlationOf(requestId) {
      const data = correlations.get(requestId);
      correlations.delete(requestId);
      return data;
    },
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
    correlations.clear();
    unanswered = 0;
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

  /** The reason code of the PUBACK of a message. */
  function reasonFor(kind: string, body: unknown): Reason {
    const wanted = refusing.get(kind);
    if (wanted) return wanted;
    if (kind.includes('/')) return FOREIGN_TOPIC;
    return isRecord(body) ? SUCCESS : NOT_AS_ITS_SCHEMA;
  }

  /** Keeps the Correlation Data of a request. A response goes to the topic of responses only. */
  function noteRequest(body: unknown, properties: IPublishPacket['properties']): Reason | undefined {
    const { responseTopic = `${prefix}responses`, correlationData } = properties ?? {};
    if (responseTopic !== `${prefix}responses`) {
      alarms.raise('requests', `the Response Topic ${prefix}responses, or none`, responseTopic);
      return { code: 0x90, text: `responses come on ${prefix}responses only` };
    }
    if (correlationData && isRecord(body) && correlations.size < MOST_CORRELATIONS)
      correlations.set(body['requestId'], Buffer.from(correlationData));
    return undefined;
  }

  function receive(connection: Connection, { topic, payload, qos, messageId, properties }: IPublishPacket): void {
    const kind = topic.startsWith(prefix) ? topic.slice(prefix.length) : topic;
    const isWithheld = withheld.has(kind);
    const bytes = Buffer.from(payload);
    const message = { kind, body: parsed(bytes) };
    const isOfFive = connection.level === 5;
    const ofRequest = isOfFive && kind === 'requests' ? noteRequest(message.body, properties) : undefined;
    const reason = ofRequest ?? (isOfFive ? reasonFor(kind, message.body) : SUCCESS);
    const answer = isWithheld ? ' (gets no PUBACK)' : reason.code > 0 ? ` (gets ${shownCode(reason.code)})` : '';
    journal.note('device', `sends ${kind}: ${bytes.toString('utf8', 0, SHOWN_BYTES)}${answer}`);
    alarms.received(message, bytes, qos);
    keep(message);
    if (messageId !== undefined && isWithheld) unanswered += 1;
    else if (messageId !== undefined) {
      const told = isOfFive && { reasonCode: reason.code };
      const words = isOfFive && reason.text !== '' && { properties: { reasonString: reason.text } };
      connection.send({ cmd: qos === 2 ? 'pubrec' : 'puback', messageId, ...told, ...words });
    }
    if (isOfFive && unanswered > LIMITS.receiveMaximum)
      end(connection, { code: 0x93, text: `more than ${LIMITS.receiveMaximum} messages without a PUBACK` });
    if (!ofRequest) onReceived(message);
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
    else if (packet.cmd === 'publish') receive(connection, packet);
    else if (packet.cmd === 'puback')
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
    const connection = openConnection(stream, {
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

  return {
    door,
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
}
