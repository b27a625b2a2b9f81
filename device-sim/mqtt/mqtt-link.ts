import type { IPublishPacket, Packet } from 'mqtt-packet';
import { Addresses } from './addresses.ts';
import { degraded } from './degraded-wire.ts';
import { keepAliveSeconds } from './keep-alive.ts';
import {
  AGAIN_MILLISECONDS,
  FAREWELL_MILLISECONDS,
  isRefusal,
  KEPT_SESSION,
  LISTENING,
  type Link,
  type LinkOptions,
  OPENING_MILLISECONDS,
  REFUSES,
  Refused,
  returnCodeOf,
  TOO_MANY,
} from './link.ts';
import { Outbox, type Outgoing } from './outbox.ts';
import { type Level, packetBytes, type Rest, readPackets } from './packets.ts';
import { type Wire, type WireEnd, wireTo } from './wire.ts';

/** The most messages that there are identifiers for. */
const UNBOUNDED = 65_535;
/** The part of the keep-alive after which a device pings. If nothing arrives between two pings, the connection is dead. */
const PING_PART = 3 / 4;

/** `opening`: until CONNACK; `subscribing`: until SUBACK; `leaving`: nothing may follow a DISCONNECT [MQTT-3.14.4-2]. */
type State = 'closed' | 'opening' | 'subscribing' | 'online' | 'leaving';

/** A class and not closures, because many thousand devices have one each and so share the methods. */
class MqttLink implements Link, WireEnd {
  readonly #options: LinkOptions;
  readonly #addresses: Addresses;
  readonly #prefix: string;
  readonly #outbox = new Outbox();
  #state: State = 'closed';
  /** The credential of the device, and that of the present connection. */
  #own: string | undefined;
  #credential: string | undefined;
  #wire: Wire | undefined;
  #rest: Rest;
  #frozen = false;
  /** The buffer of the socket is full, so further messages wait in the outbox. */
  #full = false;
  /** True while received messages are handled: messages that are published meanwhile are sent afterwards. */
  #reading = false;
  #subscription = { messageId: 0, sessionPresent: false };
  /** The most messages without an acknowledgement that the service takes [MQTT-3.3.4-7]; MQTT 3.1.1 has no such bound. */
  #most = UNBOUNDED;
  /** True from a ping until anything arrives. If it is still true at the next ping, the connection is dead. */
  #pinged = false;
  /** Messages of this connection whose PUBACK waits for `release`. */
  #held: Set<number> | undefined;
  /** Cancels the timer: while the connection opens, that of its time limit; then that of the next ping. */
  #cancelTimer: (() => void) | undefined;
  #cancelReading: (() => void) | undefined;
  #slowness: number | null = null;
  #error: Error | undefined;
  #opening: PromiseWithResolvers<void> | undefined;
  /** Called when the connection is closed. */
  #onceClosed: (() => void)[] | undefined;
  /** Called when no message is unacknowledged any more, or the connection is closed. */
  #onceQuiet: (() => void)[] | undefined;

  get #level(): Level {
    return this.#options.level ?? 4;
  }

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#addresses = new Addresses(options.url);
    wireTo(this.address); // throws if it is no URL
    this.#prefix = `devices/${options.deviceId}/`;
    // A device with a certificate sends no password [MQTT-3.1.2-20].
    this.#own = options.certificate ? undefined : options.credential;
  }

  get online(): boolean {
    return this.#state === 'online';
  }

  get hasConnection(): boolean {
    return this.#state === 'online' || this.#state === 'subscribing';
  }

  get address(): string {
    return this.#addresses.current;
  }

  get inFlight(): number {
    return this.#outbox.size;
  }

  open({ credential = this.#own }: { credential?: string | undefined } = {}): Promise<void> {
    if (this.#opening) return this.#opening.promise;
    if (this.#wire) return Promise.resolve();
    this.#opening = Promise.withResolvers();
    this.#error = undefined;
    this.#credential = credential;
    this.#state = 'opening';
    this.#cancelTimer = this.#options.timers.after(OPENING_MILLISECONDS, () =>
      this.#fail(new Error('the service did not answer in time')),
    );
    const { promise } = this.#opening;
    const { network, timers, certificate } = this.#options;
    const connect = wireTo(this.address);
    this.#wire = (network ? degraded(connect, { ...network, timers }) : connect)(this, certificate);
    return promise;
  }

  useCredential(credential: string): void {
    this.#own = credential;
  }

  async close(): Promise<void> {
    if (this.online && this.#outbox.size > 0) await this.#acknowledgements();
    if (this.#state === 'leaving') return this.#closed();
    if (!this.online || this.#frozen || this.#outbox.size > 0) return this.cut();
    this.#send({ cmd: 'disconnect' });
    this.#state = 'leaving';
    this.#wire?.end();
    const cancel = this.#options.timers.after(FAREWELL_MILLISECONDS, () => this.#wire?.destroy());
    await this.#closed();
    cancel();
  }

  async cut(): Promise<void> {
    const closed = this.#closed();
    this.#drop();
    await closed;
  }

  publish(topic: string, payload: string | Buffer, done: () => void): void {
    this.#outbox.add({ topic, payload, done });
    this.#flush();
  }

  release(messageId: number): void {
    if (this.#held?.delete(messageId)) this.#send({ cmd: 'puback', messageId });
  }

  freeze(): void {
    if (!this.#wire) return;
    this.#frozen = true;
    this.#wire.pause();
  }

  readSlowly(bytesPerSecond: number | null): void {
    this.#slowness = bytesPerSecond;
    if (bytesPerSecond !== null) return;
    this.#cancelReading?.();
    if (!this.#frozen) this.#wire?.resume();
  }

  forget(): void {
    this.#outbox.clear();
    this.#quiet();
  }

  onOpen(): void {
    const { deviceId, clean } = this.#options;
    this.#send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: this.#level,
      ...(this.#level === 5 && !clean && { properties: { sessionExpiryInterval: KEPT_SESSION } }),
      clean,
      keepalive: keepAliveSeconds(),
      clientId: deviceId,
      username: deviceId,
      ...(this.#credential !== undefined && { password: Buffer.from(this.#credential) }),
    });
  }

  onBytes(wire: Wire, bytes: Buffer): void {
    if (wire !== this.#wire || this.#frozen) return;
    this.#pinged = false;
    wire.cork();
    this.#reading = true;
    this.#options.onBatch();
    for (const packet of this.#packetsIn(bytes)) {
      if (wire !== this.#wire || this.#error) break;
      this.#heard(packet);
    }
    this.#reading = false;
    this.#flush();
    wire.uncork();
    this.#linger(bytes.length);
  }

  onDrain(wire: Wire): void {
    if (wire !== this.#wire) return;
    this.#full = false;
    this.#flush();
  }

  onClose(wire: Wire, error: Error | undefined): void {
    if (wire === this.#wire) this.#end(error);
  }

  #packetsIn(bytes: Buffer): readonly Packet[] {
    try {
      const { packets, rest } = readPackets(this.#rest, bytes, this.#level);
      this.#rest = rest;
      return packets;
    } catch (error) {
      this.#fail(error as Error);
      return [];
    }
  }

  #send(packet: Packet): void {
    if (this.#wire && !this.#frozen && !this.#wire.write(packetBytes(packet, this.#level))) this.#full = true;
  }

  #sendMessage(messageId: number, { topic, payload }: Outgoing, dup: boolean): void {
    this.#send({ cmd: 'publish', topic: this.#prefix + topic, payload, qos: 1, messageId, dup, retain: false });
  }

  /** Writes as many waiting messages as the socket takes. */
  #flush(): void {
    while (this.online && !this.#frozen && !this.#reading && !this.#full && this.#outbox.unanswered < this.#most) {
      const next = this.#outbox.next();
      if (!next) return;
      this.#sendMessage(next.messageId, next.message, false);
    }
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#drop();
  }

  /** A frozen socket stays open, so that the service does not notice that the device is gone. */
  #drop(): void {
    const wire: (Wire & { unref?: () => void }) | undefined = this.#wire;
    if (!this.#frozen) {
      wire?.destroy();
      return;
    }
    this.#end(undefined);
    // Nothing is read from the socket any more, and it must not keep the process alive while it waits for its end.
    wire?.unref?.();
    wire?.resume();
  }

  #ping(): void {
    // A device that reads slowly may not have read an answer that the service did send, so silence proves nothing.
    if (this.#pinged && this.#slowness === null) {
      this.#fail(new Error('the service sent nothing for too long'));
      return;
    }
    this.#pinged = true;
    this.#send({ cmd: 'pingreq' });
    this.#pingLater();
  }

  #pingLater(): void {
    const seconds = keepAliveSeconds();
    // A keep-alive of 0 is none (MQTT 3.1.1, 3.1.2.10).
    if (seconds > 0) this.#cancelTimer = this.#options.timers.after(seconds * 1000 * PING_PART, () => this.#ping());
  }

  #accepted(sessionPresent: boolean): void {
    // Also with a session present: a restored service may hold it from a moment before the SUBSCRIBE.
    this.#state = 'subscribing';
    const messageId = this.#outbox.freeId();
    this.#subscription = { messageId, sessionPresent };
    const subscriptions = LISTENING.map((name) => ({ topic: this.#prefix + name, qos: 1 as const }));
    this.#send({ cmd: 'subscribe', messageId, subscriptions });
  }

  #becomeOnline(sessionPresent: boolean): void {
    this.#state = 'online';
    this.#cancelTimer?.();
    this.#pingLater();
    if (this.#options.clean) this.#outbox.unsend();
    // With the packet ids of the first time [MQTT-4.4.0-1], and marked as repetitions [MQTT-3.3.1-1].
    for (const [messageId, message] of this.#outbox.sent()) this.#sendMessage(messageId, message, true);
    this.#options.onOnline(sessionPresent);
    this.#opening?.resolve();
    this.#opening = undefined;
  }

  #heard(packet: Packet): void {
    // A device that has sent DISCONNECT ignores further messages; the service sends them again on the next connection.
    if (this.#state === 'leaving') return;
    if (this.#state === 'opening') {
      // CONNACK must be the first packet [MQTT-3.2.0-1].
      if (packet.cmd !== 'connack') this.#fail(new Error(`the service began with ${packet.cmd}`));
      else if (returnCodeOf(packet)) this.#fail(new Refused(returnCodeOf(packet)));
      else {
        this.#most = packet.properties?.receiveMaximum ?? UNBOUNDED;
        this.#accepted(packet.sessionPresent);
      }
    } else if (packet.cmd === 'publish') this.#receive(packet);
    else if (packet.cmd === 'puback') {
      this.#acknowledged(packet.messageId ?? 0, packet.reasonCode);
      if (this.#outbox.size === 0) this.#quiet();
    } else if (packet.cmd === 'suback') {
      const { messageId, sessionPresent } = this.#subscription;
      if (this.#state !== 'subscribing' || packet.messageId !== messageId) return;
      if (packet.granted.some((code) => Number(code) >= REFUSES))
        this.#fail(new Error('the service refused a subscription'));
      else this.#becomeOnline(sessionPresent);
    } else if (packet.cmd === 'disconnect' && this.#level === 5)
      this.#fail(new Error(`the service ended the connection (0x${packet.reasonCode?.toString(16)})`));
    else if (packet.cmd !== 'pingresp') this.#fail(new Error(`the service sent ${packet.cmd}`));
  }

  /** A message above the rate of the device was not carried out, so it is sent again, as another message. */
  #acknowledged(messageId: number, reasonCode: number | undefined): void {
    const message = this.#outbox.acknowledged(messageId);
    if (reasonCode !== TOO_MANY || !message) message?.done();
    else {
      this.#outbox.add(message);
      this.#options.timers.after(AGAIN_MILLISECONDS, () => this.#flush());
    }
  }

  #receive({ topic, payload, qos, dup, messageId = 0 }: IPublishPacket): void {
    const name = LISTENING.find((one) => topic === this.#prefix + one);
    if (!name) this.#options.onForeign(topic);
    const answer = name && this.#options.onMessage(name, payload as Buffer, dup, messageId);
    if (qos === 2) this.#fail(new Error('the service published at a QoS that was not granted'));
    else if (answer === 'hold') this.#held = (this.#held ?? new Set()).add(messageId);
    else if (qos === 1) this.#send({ cmd: 'puback', messageId });
  }

  /** Pauses the socket for the time that a slow reader needs for these bytes. */
  #linger(bytes: number): void {
    if (this.#slowness === null) return;
    this.#wire?.pause();
    this.#cancelReading = this.#options.timers.after((bytes / this.#slowness) * 1000, () => {
      if (!this.#frozen) this.#wire?.resume();
    });
  }

  #end(error: Error | undefined): void {
    const cause = this.#error ?? error ?? new Error('connection closed');
    const wasOnline = this.#state === 'online' || this.#state === 'leaving';
    if (this.#state !== 'leaving' && !isRefusal(cause)) this.#addresses.next();
    const opening = this.#opening;
    const onceClosed = this.#onceClosed;
    this.#cancelTimer?.();
    this.#cancelReading?.();
    this.#state = 'closed';
    this.#wire = undefined;
    this.#rest = undefined;
    this.#held = undefined;
    this.#frozen = false;
    this.#full = false;
    this.#pinged = false;
    this.#opening = undefined;
    this.#onceClosed = undefined;
    opening?.reject(cause);
    this.#quiet();
    this.#options.onClose(cause.message || String(cause), wasOnline);
    for (const tell of onceClosed ?? []) tell();
  }

  /** Resolves when the socket is closed. */
  async #closed(): Promise<void> {
    if (!this.#wire) return;
    this.#onceClosed ??= [];
    const waiting = this.#onceClosed;
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  /**
   * Resolves when all messages are acknowledged, when the connection is gone, or after the time that a disconnect
   * waits.
   */
  async #acknowledgements(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.timers.after(FAREWELL_MILLISECONDS, resolve);
      this.#onceQuiet ??= [];
      this.#onceQuiet.push(() => {
        cancel();
        resolve();
      });
    });
  }

  #quiet(): void {
    const onceQuiet = this.#onceQuiet ?? [];
    this.#onceQuiet = undefined;
    for (const tell of onceQuiet) tell();
  }
}

/** MQTT 3.1.1, or 5, on a plain socket, as section 2 of the contract demands. Throws at once if the URL is not valid. */
export const createLink = (options: LinkOptions): Link => new MqttLink(options);
