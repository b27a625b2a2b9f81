import { connect, type MqttClient, Store } from 'mqtt';
import type { Timers } from '../timers.ts';

/** The topics that a device listens to, below `devices/{deviceId}/`. */
const LISTENING = ['commands', 'responses', 'errors'] as const;
export type Inbound = (typeof LISTENING)[number];

/** How long a polite disconnect waits for acknowledgements, and then for the service to close the socket. */
const FAREWELL_MILLISECONDS = 2000;
const KEEPALIVE_SECONDS = 60;

/** The MQTT connection of one device. It never reconnects by itself. */
export interface Link {
  /** Connected and subscribed, and not about to leave. */
  readonly online: boolean;
  /** Messages that the service has not acknowledged. Those of a lost connection are sent again on the next one. */
  readonly inFlight: number;
  /** Resolves when connected and subscribed; rejects with what the socket or the CONNACK said. */
  open(): Promise<void>;
  /** Sends DISCONNECT after everything in flight was acknowledged (or two seconds went by), and closes. */
  close(): Promise<void>;
  /** Destroys the socket: what a device does that drives into a tunnel. */
  cut(): Promise<void>;
  /** QoS 1, to `devices/{deviceId}/{topic}`. `done` gets an error when it will not be sent again. Only while online. */
  publish(topic: string, payload: string, done: (error?: Error | null) => void): void;
}

/** Whether the service refused the device itself (CONNACK 4 or 5): trying again will not help. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 4 || error.code === 5);

/** What was sent stays here until it is acknowledged, and carries DUP when it is sent again [MQTT-3.3.1-1]. */
function createOutgoingStore(): Store {
  const store = new Store({ clean: false });
  const put = store.put.bind(store);
  store.put = (packet, done) => {
    // MQTT.js stores a copy of what it sends.
    if (packet.cmd === 'publish') packet.dup = true;
    return put(packet, done);
  };
  return store;
}

/** MQTT 3.1.1 through MQTT.js, as contract section 2 wants it. Throws at once for a URL that is none. */
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
  onMessage: (topic: Inbound, payload: Uint8Array, dup: boolean) => void;
  onClose: (reason: string, wasOnline: boolean) => void;
}): Link {
  const prefix = `devices/${deviceId}/`;
  const inbound = new Map<string, Inbound>(LISTENING.map((name) => [prefix + name, name]));
  let online = false;
  /** DISCONNECT has been sent: nothing else may be any more [MQTT-3.14.4-2]. */
  let leaving = false;
  let inFlight = 0;
  let needsSubscription = false;
  let lastError: Error | undefined;
  let opening: PromiseWithResolvers<void> | undefined;
  /** There exactly while there is a socket; resolves when it is closed. */
  let closing: PromiseWithResolvers<void> | undefined;
  let quiet: (() => void) | undefined;

  const client: MqttClient = connect(url, {
    clientId: deviceId,
    username: deviceId,
    password: credential,
    clean,
    protocolVersion: 4,
    keepalive: KEEPALIVE_SECONDS,
    // A timer set anew for each message is work that a device with hundreds of siblings in one process cannot afford.
    reschedulePings: false,
    resubscribe: false,
    reconnectPeriod: 0,
    manualConnect: true,
    outgoingStore: createOutgoingStore(),
    log: () => {},
  });

  function becomeOnline(sessionPresent: boolean): void {
    needsSubscription = false;
    online = true;
    onOnline(sessionPresent);
    opening?.resolve();
    opening = undefined;
  }

  client.on('connect', ({ sessionPresent }) => {
    // With `clean=false` the subscriptions are part of the session, unless the last SUBSCRIBE went unanswered.
    if (sessionPresent && !needsSubscription) return becomeOnline(true);
    needsSubscription = true;
    client.subscribe([...inbound.keys()], { qos: 1 }, (error) => {
      if (!error) return becomeOnline(sessionPresent);
      lastError ??= error;
      client.stream.destroy();
    });
  });
  client.on('message', (topic, payload, packet) => {
    const name = inbound.get(topic);
    if (name) onMessage(name, payload, packet.dup);
  });
  client.on('error', (error) => {
    lastError ??= error;
  });
  client.on('close', () => {
    const wasOnline = online;
    online = false;
    leaving = false;
    const error = lastError ?? new Error('connection closed');
    opening?.reject(error);
    opening = undefined;
    quiet?.();
    const closed = closing;
    closing = undefined;
    onClose(error.message || String(error), wasOnline);
    closed?.resolve();
  });

  async function cut(): Promise<void> {
    if (!closing) return;
    const { promise } = closing;
    client.stream.destroy();
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
      return inFlight;
    },

    open() {
      if (opening) return opening.promise;
      if (online) return Promise.resolve();
      opening = Promise.withResolvers();
      closing = Promise.withResolvers();
      lastError = undefined;
      const { promise } = opening;
      client.connect();
      // Without TCP_NODELAY an answer waits for the delayed ACK of the one before it.
      (client.stream as { setNoDelay?: (on: boolean) => void }).setNoDelay?.(true);
      return promise;
    },

    async close() {
      if (online && inFlight > 0) await acknowledgements();
      if (!online || inFlight > 0) return cut();
      leaving = true;
      const cancel = timers.after(FAREWELL_MILLISECONDS, () => client.stream.destroy());
      await Promise.all([closing?.promise, client.endAsync()]);
      cancel();
    },

    cut,

    publish(topic, payload, done) {
      inFlight += 1;
      client.publish(prefix + topic, payload, { qos: 1 }, (error) => {
        inFlight -= 1;
        if (inFlight === 0) quiet?.();
        done(error);
      });
    },
  };
}
