import { connect, type MqttClient } from 'mqtt';
import { Addresses } from './addresses.ts';
import { keepAliveSeconds } from './keep-alive.ts';
import {
  AGAIN_MILLISECONDS,
  FAREWELL_MILLISECONDS,
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

interface Outgoing {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly done: () => void;
}

/** Faults that cannot be played with the `mqtt` package, because it gives no access to its socket or its PUBACKs. */
export const NOT_WITH_PACKAGE: readonly string[] = ['half-open', 'slow-reader', 'answers-before-puback'];

/**
 * A connection made with the `mqtt` package, for MQTT 3.1.1 or 5. The package has other authors, so a mistake that the
 * broker and the simulator's own client have in common becomes visible with it. Each connection uses a new client of
 * the package; unacknowledged messages are published again on the next one.
 */
export function createPackageLink(options: LinkOptions): Link {
  const { deviceId, clean, timers } = options;
  const addresses = new Addresses(options.url);
  const prefix = `devices/${deviceId}/`;
  // A device with a certificate sends no password.
  let own = options.certificate ? undefined : options.credential;
  let client: MqttClient | undefined;
  let state: 'closed' | 'opening' | 'online' | 'leaving' = 'closed';
  let opening: PromiseWithResolvers<void> | undefined;
  /** True while a message is handled: messages that are published meanwhile are sent after its PUBACK. */
  let reading = false;
  const unsent: Outgoing[] = [];
  const sent = new Set<Outgoing>();
  const onceClosed: (() => void)[] = [];
  const onceQuiet: (() => void)[] = [];
  const inFlight = (): number => unsent.length + sent.size;

  function quiet(): void {
    for (const tell of onceQuiet.splice(0)) tell();
  }

  function flush(): void {
    while (state === 'online' && !reading) {
      const message = unsent.shift();
      if (!message) return;
      sent.add(message);
      client?.publish(prefix + message.topic, message.payload, { qos: 1 }, (error) => {
        // A PUBACK of MQTT 5 that refuses is one nevertheless: the service has told what is wrong.
        const isAnswered = !error || (error as { code?: unknown }).code !== undefined;
        if (!isAnswered || !sent.delete(message)) return;
        if ((error as { code?: unknown } | null | undefined)?.code === TOO_MANY) {
          unsent.push(message);
          timers.after(AGAIN_MILLISECONDS, flush);
          return;
        }
        message.done();
        if (inFlight() === 0) quiet();
      });
    }
  }

  function online(sessionPresent: boolean): void {
    state = 'online';
    unsent.unshift(...sent);
    sent.clear();
    options.onOnline(sessionPresent);
    opening?.resolve();
    opening = undefined;
    flush();
  }

  function subscribe(mine: MqttClient, sessionPresent: boolean): void {
    const topics = LISTENING.map((name) => prefix + name);
    mine.subscribe(topics, { qos: 1 }, (error, granted) => {
      if (mine !== client || state !== 'opening') return;
      if (error || granted?.some(({ qos }) => qos >= REFUSES)) {
        fail(mine, error ?? new Error('the service refused a subscription'));
      } else online(sessionPresent);
    });
  }

  function fail(mine: MqttClient, error: Error): void {
    opening?.reject(error);
    opening = undefined;
    mine.end(true);
  }

  /** Handles a message of the service. Calling `acknowledge` sends its PUBACK. */
  function receive(
    { topic, payload, dup, messageId }: { topic: string; payload: string | Buffer; dup?: boolean; messageId?: number },
    acknowledge: () => void,
  ): void {
    if (state === 'leaving' || state === 'closed') return;
    const name = LISTENING.find((one) => topic === prefix + one);
    if (!name) options.onForeign(topic);
    reading = true;
    // It cannot be seen here which messages arrived in one piece, so each counts as a piece of its own.
    options.onBatch();
    const answer = name && options.onMessage(name, Buffer.from(payload), dup === true, messageId ?? 0);
    reading = false;
    // `hold` is only returned here when the device is switched off: its connection ends without the PUBACK, and the
    // service sends the message again.
    if (answer !== 'hold') acknowledge();
    flush();
  }

  function closed(reason: string): void {
    const wasOnline = state === 'online' || state === 'leaving';
    if (state !== 'leaving') addresses.next();
    state = 'closed';
    client = undefined;
    opening?.reject(new Error(reason));
    opening = undefined;
    quiet();
    options.onClose(reason, wasOnline);
    for (const tell of onceClosed.splice(0)) tell();
  }

  function begin(credential: string | undefined): MqttClient {
    let reason = 'connection closed';
    const mine = connect(addresses.current, {
      clientId: deviceId,
      username: deviceId,
      ...(credential !== undefined && { password: Buffer.from(credential) }),
      ...options.certificate,
      protocolVersion: options.level ?? 4,
      ...(options.level === 5 && !clean && { properties: { sessionExpiryInterval: KEPT_SESSION } }),
      clean,
      keepalive: keepAliveSeconds(),
      connectTimeout: OPENING_MILLISECONDS,
      reconnectPeriod: 0,
      resubscribe: false,
    });
    mine.handleMessage = (packet, callback) => receive(packet, () => callback());
    mine.on('connect', ({ sessionPresent }) => {
      // Also with a session present: a restored service may hold it from a moment before the SUBSCRIBE.
      subscribe(mine, sessionPresent);
    });
    mine.on('error', (error: Error & { code?: number | string }) => {
      const cause =
        typeof error.code === 'number'
          ? new Refused(returnCodeOf(options.level === 5 ? { reasonCode: error.code } : { returnCode: error.code }))
          : error;
      reason = cause.message;
      fail(mine, cause);
    });
    mine.on('close', () => {
      if (mine === client) closed(reason);
    });
    return mine;
  }

  const gone = async (): Promise<void> => {
    if (client) await new Promise<void>((resolve) => onceClosed.push(resolve));
  };

  async function cut(): Promise<void> {
    const ended = gone();
    client?.end(true);
    await ended;
  }

  return {
    get online() {
      return state === 'online';
    },
    get hasConnection() {
      return state === 'online' || (state === 'opening' && client?.connected === true);
    },
    get address() {
      return addresses.current;
    },
    get inFlight() {
      return inFlight();
    },
    useCredential(credential) {
      own = credential;
    },

    open({ credential = own } = {}) {
      if (opening) return opening.promise;
      if (client) return Promise.resolve();
      opening = Promise.withResolvers();
      state = 'opening';
      const { promise } = opening;
      client = begin(credential);
      return promise;
    },
    async close() {
      if (state === 'online' && inFlight() > 0)
        await new Promise<void>((resolve) => {
          const cancel = timers.after(FAREWELL_MILLISECONDS, resolve);
          onceQuiet.push(() => {
            cancel();
            resolve();
          });
        });
      if (state === 'leaving') return gone();
      if (state !== 'online' || inFlight() > 0) return cut();
      state = 'leaving';
      const ended = gone();
      client?.end();
      const cancel = timers.after(FAREWELL_MILLISECONDS, () => client?.end(true));
      await ended;
      cancel();
    },
    cut,
    publish(topic, payload, done) {
      unsent.push({ topic, payload, done });
      flush();
    },
    release() {},
    freeze() {
      throw new Error('the mqtt package keeps its socket to itself');
    },
    readSlowly() {},
    forget() {
      unsent.length = 0;
      sent.clear();
      quiet();
    },
  };
}
