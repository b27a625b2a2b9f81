import type { IPublishPacket, Packet } from 'mqtt-packet';
import type { Timers } from '../timers.ts';
import { createOutbox } from './outbox.ts';
import { packetBytes, type Rest, readPackets } from './packets.ts';
import { type Wire, wireTo } from './wire.ts';

/** The topics that a device listens to, below `devices/{deviceId}/`. */
const LISTENING = ['commands', 'responses', 'errors'] as const;
export type Inbound = (typeof LISTENING)[number];

/** How long a polite disconnect waits for acknowledgements, and then for the service to close the socket. */
const FAREWELL_MILLISECONDS = 2000;
/** From opening the socket until connected and subscribed. */
const OPENING_MILLISECONDS = 30_000;
const KEEPALIVE_SECONDS = 60;
/** Between two pings: well within what CONNECT says [MQTT-3.1.2-23]. Nothing heard from one to the next: nobody is there. */
const PING_MILLISECONDS = KEEPALIVE_SECONDS * 750;

/** What CONNACK says by its return codes (MQTT 3.1.1, table 3.1). */
const REFUSALS = [
  '',
  'Unacceptable protocol version',
  'Identifier rejected',
  'Server unavailable',
  'Bad username or password',
  'Not authorized',
];

/** The MQTT connection of one device. It never reconnects by itself. */
export interface Link {
  /** Connected and subscribed, and not about to leave. */
  readonly online: boolean;
  /** Messages that the service has not acknowledged. Those of a lost connection are sent again on the next one. */
  readonly inFlight: number;
  /** Resolves when connected and subscribed; rejects with what the socket or the CONNACK said. `credential`: for this time. */
  open(options?: { credential?: string }): Promise<void>;
  /** Sends DISCONNECT after everything in flight was acknowledged (or two seconds went by), and closes. */
  close(): Promise<void>;
  /** Destroys the socket: what a device does that drives into a tunnel. */
  cut(): Promise<void>;
  /** QoS 1, to `devices/{deviceId}/{topic}`. Only while online. `done` is called when it is acknowledged. */
  publish(topic: string, payload: string | Buffer, done: () => void): void;
  /** Sends the PUBACK of a message whose `onMessage` answered `hold`; nothing when its connection is gone. */
  release(messageId: number): void;
  /**
   * The network swallows everything: nothing is read or written any more, and nobody is told. The device finds out by its
   * keep-alive (or by `cut`), the service by its own: the socket stays open for it when the device has given it up.
   */
  freeze(): void;
  /** Reads no faster than that, until it is null; also on later connections. */
  readSlowly(bytesPerSecond: number | null): void;
  /** The device has lost its memory: nothing of what is in flight is sent again. */
  forget(): void;
}

class Refused extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`Connection refused: ${REFUSALS[code] ?? code}`);
    this.code = code;
  }
}

/** Whether the service refused the device itself (CONNACK 4 or 5): trying again will not help. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Refused && (error.code === 4 || error.code === 5);

/** MQTT 3.1.1 on a bare socket, as contract section 2 wants it. Throws at once for a URL that is none. */
export function createLink({
  url,
  deviceId,
  credential,
  clean,
  timers,
  onOnline,
  onMessage,
  onClose,
}: {
  url: string;
  deviceId: string;
  credential: string;
  clean: boolean;
  timers: Timers;
  onOnline: (sessionPresent: boolean) => void;
  /** What is published meanwhile goes out after the PUBACK, unless that is held. `payload` holds until this returns. */
  onMessage: (topic: Inbound, payload: Uint8Array, dup: boolean, messageId: number) => 'hold' | undefined;
  onClose: (reason: string, wasOnline: boolean) => void;
}): Link {
  const prefix = `devices/${deviceId}/`;
  const connectWire = wireTo(url);
  const outbox = createOutbox();
  let wire: Wire | undefined;
  let rest: Rest;
  let connected = false;
  let online = false;
  /** DISCONNECT has been sent: nothing else may be any more [MQTT-3.14.4-2]. */
  let leaving = false;
  let frozen = false;
  /** The socket has taken as much as it holds: what is published waits for its turn here. */
  let full = false;
  /** Messages are being looked at: what they cause goes out when that is over. */
  let reading = false;
  let needsSubscription = false;
  let subscribing: { messageId: number; sessionPresent: boolean } | undefined;
  let pinged = false;
  /** Messages of this connection whose PUBACK waits for `release`. */
  let held: Set<number> | undefined;
  let cancelTimer: (() => void) | undefined;
  let cancelReading: (() => void) | undefined;
  let slowness: number | null = null;
  let lastError: Error | undefined;
  let opening: PromiseWithResolvers<void> | undefined;
  /** There exactly while there is a socket; resolves when it is closed. */
  let closing: PromiseWithResolvers<void> | undefined;
  let quiet: (() => void) | undefined;

  function send(packet: Packet): void {
    if (wire && !frozen && !wire.write(packetBytes(packet))) full = true;
  }

  function sendMessage(messageId: number, topic: string, payload: string | Buffer, dup: boolean): void {
    send({ cmd: 'publish', topic: prefix + topic, payload, qos: 1, messageId, dup, retain: false });
  }

  /** As much of what waits as the socket takes. */
  function flush(): void {
    if (!online || leaving || frozen || reading) return;
    while (!full) {
      const next = outbox.next();
      if (!next) return;
      sendMessage(next.messageId, next.message.topic, next.message.payload, false);
    }
  }

  function fail(error: Error): void {
    lastError ??= error;
    drop();
  }

  /** A frozen socket is left to the service: nothing on it tells that the device has gone. */
  function drop(): void {
    if (!frozen) {
      wire?.destroy();
      return;
    }
    const abandoned = wire as Wire & { unref?: () => void };
    frozen = false;
    closed(lastError);
    // From now on only its end is waited for, and not even that keeps the process alive.
    abandoned.unref?.();
    abandoned.resume();
  }

  function ping(): void {
    // Who reads slowly cannot know what has not been sent.
    if (pinged && slowness === null) {
      fail(new Error('nothing was heard for too long'));
      return;
    }
    pinged = true;
    send({ cmd: 'pingreq' });
    cancelTimer = timers.after(PING_MILLISECONDS, ping);
  }

  function becomeOnline(sessionPresent: boolean): void {
    subscribing = undefined;
    needsSubscription = false;
    online = true;
    cancelTimer?.();
    pinged = false;
    cancelTimer = timers.after(PING_MILLISECONDS, ping);
    if (clean) outbox.unsend();
    // With their packet ids of the first time [MQTT-4.4.0-1], marked as what they are [MQTT-3.3.1-1].
    for (const [messageId, { topic, payload }] of outbox.sent()) sendMessage(messageId, topic, payload, true);
    flush();
    onOnline(sessionPresent);
    opening?.resolve();
    opening = undefined;
  }

  function accepted(sessionPresent: boolean): void {
    connected = true;
    // With `clean=false` the subscriptions are part of the session, unless the last SUBSCRIBE went unanswered.
    if (sessionPresent && !needsSubscription) {
      becomeOnline(true);
      return;
    }
    needsSubscription = true;
    const messageId = outbox.freeId();
    subscribing = { messageId, sessionPresent };
    const subscriptions = LISTENING.map((name) => ({ topic: prefix + name, qos: 1 as const }));
    send({ cmd: 'subscribe', messageId, subscriptions });
  }

  function receive({ topic, payload, qos, dup, messageId = 0 }: IPublishPacket): void {
    const name = LISTENING.find((one) => topic === prefix + one);
    const answer = name && onMessage(name, payload as Buffer, dup, messageId);
    if (qos === 2) fail(new Error('the service published at a QoS that was not granted'));
    else if (answer === 'hold') held = (held ?? new Set()).add(messageId);
    else if (qos === 1) send({ cmd: 'puback', messageId });
  }

  function heard(packet: Packet): void {
    if (!connected) {
      // It is the first of all [MQTT-3.2.0-1].
      if (packet.cmd !== 'connack') fail(new Error(`the service began with ${packet.cmd}`));
      else if (packet.returnCode) fail(new Refused(packet.returnCode));
      else accepted(packet.sessionPresent);
      return;
    }
    if (packet.cmd === 'publish') receive(packet);
    else if (packet.cmd === 'puback') {
      outbox.acknowledged(packet.messageId ?? 0)?.done();
      if (outbox.size === 0) quiet?.();
    } else if (packet.cmd === 'suback') {
      if (!subscribing || packet.messageId !== subscribing.messageId) return;
      if (packet.granted.some((code) => code === 0x80)) fail(new Error('the service refused a subscription'));
      else becomeOnline(subscribing.sessionPresent);
    } else if (packet.cmd !== 'pingresp') fail(new Error(`the service sent ${packet.cmd}`));
  }

  /** Pauses the socket for as long as a slow reader takes. */
  function linger(bytes: number): void {
    if (slowness === null || !wire) return;
    wire.pause();
    cancelReading = timers.after((bytes / slowness) * 1000, () => {
      if (!frozen) wire?.resume();
    });
  }

  function read(bytes: Buffer): void {
    const mine = wire;
    pinged = false;
    mine?.cork();
    reading = true;
    try {
      const { packets, rest: remaining } = readPackets(rest, bytes);
      rest = remaining;
      for (const packet of packets) {
        if (wire !== mine || lastError) break;
        heard(packet);
      }
    } catch (error) {
      fail(error as Error);
    }
    reading = false;
    flush();
    mine?.uncork();
    linger(bytes.length);
  }

  function closed(error: Error | undefined): void {
    wire = undefined;
    rest = undefined;
    cancelTimer?.();
    cancelReading?.();
    subscribing = undefined;
    held = undefined;
    const wasOnline = online;
    connected = false;
    online = false;
    leaving = false;
    full = false;
    frozen = false;
    const cause = lastError ?? error ?? new Error('connection closed');
    opening?.reject(cause);
    opening = undefined;
    quiet?.();
    const gone = closing;
    closing = undefined;
    onClose(cause.message || String(cause), wasOnline);
    gone?.resolve();
  }

  /** Opens a socket. What a former one still says is nobody's business any more. */
  function connect(password: string): void {
    const mine: Wire = connectWire({
      onOpen() {
        send({
          cmd: 'connect',
          protocolId: 'MQTT',
          protocolVersion: 4,
          clean,
          keepalive: KEEPALIVE_SECONDS,
          clientId: deviceId,
          username: deviceId,
          password: Buffer.from(password),
        });
      },
      onBytes(bytes) {
        if (wire === mine && !frozen) read(bytes);
      },
      onDrain() {
        if (wire !== mine) return;
        full = false;
        flush();
      },
      onClose(error) {
        if (wire === mine) closed(error);
      },
    });
    wire = mine;
    cancelTimer = timers.after(OPENING_MILLISECONDS, () => fail(new Error('the service did not answer in time')));
  }

  async function cut(): Promise<void> {
    if (!closing) return;
    const { promise } = closing;
    drop();
    await promise;
  }

  /** Resolves when nothing is in flight, when the connection is gone, or after the time of a farewell. */
  async function acknowledgements(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = timers.after(FAREWELL_MILLISECONDS, resolve);
      quiet = () => {
        cancel();
        resolve();
      };
    });
    quiet = undefined;
  }

  return {
    get online() {
      return online && !leaving;
    },
    get inFlight() {
      return outbox.size;
    },

    open({ credential: other = credential } = {}) {
      if (opening) return opening.promise;
      if (online) return Promise.resolve();
      opening = Promise.withResolvers();
      closing = Promise.withResolvers();
      lastError = undefined;
      const { promise } = opening;
      connect(other);
      return promise;
    },

    async close() {
      if (leaving) return closing?.promise;
      if (online && outbox.size > 0) await acknowledgements();
      if (!online || frozen || outbox.size > 0) return cut();
      send({ cmd: 'disconnect' });
      leaving = true;
      wire?.end();
      const cancel = timers.after(FAREWELL_MILLISECONDS, () => wire?.destroy());
      await closing?.promise;
      cancel();
    },

    cut,

    publish(topic, payload, done) {
      outbox.add({ topic, payload, done });
      flush();
    },

    release(messageId) {
      if (held?.delete(messageId)) send({ cmd: 'puback', messageId });
    },

    freeze() {
      if (!wire) return;
      frozen = true;
      wire.pause();
    },

    readSlowly(bytesPerSecond) {
      slowness = bytesPerSecond;
      if (bytesPerSecond !== null) return;
      cancelReading?.();
      if (!frozen) wire?.resume();
    },

    forget() {
      outbox.clear();
      quiet?.();
    },
  };
}
