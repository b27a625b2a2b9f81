import type { Random } from '../random.ts';
import type { Timers } from '../timers.ts';
import type { ConditionsNow } from './conditions.ts';
import type { Certificate } from './wire.ts';

/** The topics that a device subscribes to, below `devices/{deviceId}/`. */
export const LISTENING = ['commands', 'responses', 'errors'] as const;
export type Inbound = (typeof LISTENING)[number];

/** The meaning of the return codes in CONNACK (MQTT 3.1.1, table 3.1). */
const REFUSALS = [
  '',
  'Unacceptable protocol version',
  'Identifier rejected',
  'Server unavailable',
  'Bad username or password',
  'Not authorized',
];

/** The return codes of MQTT 3.1.1 for the reason codes of a CONNACK of MQTT 5. */
const OF_REASONS: Readonly<Record<number, number>> = { 0: 0, 132: 1, 133: 2, 134: 4, 135: 5, 136: 3 };

/** The return code of a CONNACK of either version. */
export const returnCodeOf = ({ returnCode, reasonCode = 0 }: { returnCode?: number; reasonCode?: number }): number =>
  returnCode ?? OF_REASONS[reasonCode] ?? reasonCode;

/** The session of a device of MQTT 5 that the service keeps, in seconds: for ever. */
export const KEPT_SESSION = 0xffff_ffff;
/** Codes of MQTT 5 from here on refuse. */
export const REFUSES = 0x80;

/** The reason code of a message above the rate, and the pause before it is sent again, as another message. */
export const TOO_MANY = 0x97;
/** How long a disconnect waits for acknowledgements, and then for the service to close the socket. */
export const FAREWELL_MILLISECONDS = 2000;
/** From opening the socket until connected and subscribed. */
export const OPENING_MILLISECONDS = 30_000;
export const AGAIN_MILLISECONDS = 1000;

/** The MQTT connection of one device. It never reconnects by itself. */
export interface Link {
  /** Whether the device is connected and subscribed, and not about to disconnect. */
  readonly online: boolean;
  /** Whether it is online, or waits for its SUBACK: with a session present, commands come before that. */
  readonly hasConnection: boolean;
  /** The address of the present connection, or of the next one. */
  readonly address: string;
  /** The number of unacknowledged messages. Those of a lost connection are sent again on the next one. */
  readonly inFlight: number;
  /**
   * Resolves when connected and subscribed; rejects with the error of the socket or of the CONNACK. `credential` is for
   * this connection only.
   */
  open(options?: { credential?: string }): Promise<void>;
  /** Uses another credential from the next `open` on. */
  useCredential(credential: string): void;
  /** Sends DISCONNECT after all messages are acknowledged (or after two seconds), and closes. */
  close(): Promise<void>;
  /** Destroys the socket, as if the device drove into a tunnel. */
  cut(): Promise<void>;
  /** Publishes with QoS 1 to `devices/{deviceId}/{topic}`; only while online. `done` is called after the PUBACK. */
  publish(topic: string, payload: string | Buffer, done: () => void): void;
  /**
   * Sends the PUBACK of a message for which `onMessage` returned `hold`. Does nothing after the connection of the
   * message has ended.
   */
  release(messageId: number): void;
  /**
   * Simulates a network that swallows everything: the device neither reads nor writes, and neither side gets an error.
   * The device notices by its keep-alive (or by `cut`), the service by its own. For the service the socket stays open
   * even after the device has given it up.
   */
  freeze(): void;
  /** Limits how many bytes a second the device reads, also on later connections; null ends the limit. */
  readSlowly(bytesPerSecond: number | null): void;
  /** Drops all unacknowledged messages, as a device does that has lost its memory. */
  forget(): void;
}

/** The code of the CONNACK that refuses a credential. */
const BAD_CREDENTIAL = 4;

export class Refused extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`Connection refused: ${REFUSALS[code] ?? code}`);
    this.code = code;
  }
}

/** Whether the service refused the device itself (CONNACK 4 or 5); then another attempt does not help. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Refused && (error.code === 4 || error.code === 5);

/** Whether the service refused the credential of the device, also as the cause of an error. */
export function isBadCredential(error: unknown): boolean {
  if (error instanceof Refused) return error.code === BAD_CREDENTIAL;
  return error instanceof Error && error.cause instanceof Refused && error.cause.code === BAD_CREDENTIAL;
}

export interface LinkOptions {
  /** The address of the service, or of its nodes in the order in which the device tries them. */
  url: string | readonly string[];
  deviceId: string;
  credential: string;
  /** Logs the device in over TLS instead of the credential. */
  certificate?: Certificate | undefined;
  clean: boolean;
  /** 5: the device speaks MQTT 5; without it 3.1.1. */
  level?: 5 | undefined;
  timers: Timers;
  /** The network of the device, if it may be bad, and its random numbers. */
  network?: { readonly conditions: ConditionsNow; readonly random: Random } | undefined;
  onOnline: (sessionPresent: boolean) => void;
  /**
   * Called with each message of the service. `hold`: the PUBACK is not sent until `release`. Messages that are
   * published during this call leave after the PUBACK, unless it is held back. `payload` is valid until the call
   * returns.
   */
  onMessage: (topic: Inbound, payload: Uint8Array, dup: boolean, messageId: number) => 'hold' | undefined;
  /**
   * Called before the messages that arrived in one piece: the service sent all of them before it could get a PUBACK for
   * one of them.
   */
  onBatch: () => void;
  /** A message arrived on a topic of another device. */
  onForeign: (topic: string) => void;
  onClose: (reason: string, wasOnline: boolean) => void;
}
