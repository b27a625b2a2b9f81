import type { Timers } from '../timers.ts';

/** The topics that a device listens to, below `devices/{deviceId}/`. */
export const LISTENING = ['commands', 'responses', 'errors'] as const;
export type Inbound = (typeof LISTENING)[number];

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

export class Refused extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`Connection refused: ${REFUSALS[code] ?? code}`);
    this.code = code;
  }
}

/** Whether the service refused the device itself (CONNACK 4 or 5): trying again will not help. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Refused && (error.code === 4 || error.code === 5);

export interface LinkOptions {
  url: string;
  deviceId: string;
  credential: string;
  clean: boolean;
  timers: Timers;
  onOnline: (sessionPresent: boolean) => void;
  /** What is published meanwhile goes out after the PUBACK, unless that is held. `payload` holds until this returns. */
  onMessage: (topic: Inbound, payload: Uint8Array, dup: boolean, messageId: number) => 'hold' | undefined;
  /** A message came on a topic that is not one of the device's own. */
  onForeign: (topic: string) => void;
  onClose: (reason: string, wasOnline: boolean) => void;
}
