import type { KeyObject } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { Chances } from '../faults/chances.ts';
import type { Patience } from '../files/download.ts';
import type { DownloadFolder } from '../files/download-folder.ts';
import type { ConditionsNow } from '../mqtt/conditions.ts';
import type { Conformance } from '../mqtt/conformance.ts';
import type { Link, LinkOptions } from '../mqtt/link.ts';
import type { DeviceEvent } from '../mqtt/messages.ts';
import type { Reconnector } from '../mqtt/reconnector.ts';
import type { Certificate } from '../mqtt/wire.ts';
import type { Look } from '../promises/looks.ts';
import type { Range } from '../random.ts';
import type { Timers } from '../timers.ts';
import type { Behaviour } from './behaviour.ts';
import type { CallPlan } from './calls.ts';
import type { DeviceEvents } from './device-events.ts';
import type { DeviceState, Equipment } from './device-state.ts';
import type { Intercept } from './interception.ts';
import type { KeyOf } from './plans.ts';
import type { Journal } from './state-file.ts';

export interface Device extends AsyncDisposable {
  readonly deviceId: string;
  readonly events: EventEmitter<DeviceEvents>;
  readonly online: boolean;
  /** Says whether it connects by itself: it waits before its next attempt, or makes one. */
  readonly reconnector: Pick<Reconnector, 'isTrying'>;
  /** Is told when the service was restored from a backup, and repeats attempts of commands. */
  readonly conformance: Pick<Conformance, 'restored'>;
  /** The address of the present connection, or of the next one. */
  readonly address: string;
  /** Activation, networks, language, Bluetooth, software and firmware as commands have set them. */
  readonly state: Readonly<DeviceState>;
  /** How often each transactionId was executed. */
  readonly executions: ReadonlyMap<number, number>;
  /**
   * Unfinished commands, calls and uploads, downloads that are still removing their files, and unacknowledged messages.
   */
  readonly outstanding: number;
  /** Restores the activation that an earlier run of the simulator made, and that the service still has. */
  rememberActivation(activation: NonNullable<DeviceState['activation']>): void;
  /** Reports the battery, if it has changed. */
  reportChanges(): void;
  /** Lets one of the paired Bluetooth devices come into reach or leave it. */
  movePeer(): void;
  /**
   * Sends an event of any type. Returns it; undefined if the device is not activated, because no application would
   * receive the event.
   */
  tell(type: string, data: DeviceEvent['data']): DeviceEvent | undefined;
  /** Presses the SOS button of the device. */
  pressButton(): void;
  /** Begins a call; returns its callId, or undefined during another call or without an activation. */
  call(plan: CallPlan): string | undefined;
  /**
   * Makes the device upload a file to the application in which it is activated. Returns the fileId; undefined if the
   * device is not activated.
   */
  uploadFile(): string | undefined;
  /** Resolves when online. Rejects after the last attempt, or at once if the credential is refused. */
  connect(): Promise<void>;
  /** Goes offline with DISCONNECT, and stays offline until `connect`. */
  disconnect(): Promise<void>;
  /** Uses another credential from the next connection on. */
  useCredential(credential: string): void;
  /** Loses its connection and connects again by itself. Does nothing while it is offline. */
  loseConnection(): void;
  /** Cuts the socket and stays offline until `connect`. */
  drop(): Promise<void>;
  /**
   * Resolves when every received command is answered, calls and uploads have ended, and all messages are acknowledged.
   */
  idle(): Promise<void>;
}

export interface DeviceOptions {
  deviceId: string;
  credential: string;
  /** The client certificate of the device, which it uses over TLS instead of its credential. */
  certificate?: Certificate | undefined;
  /** `mqtt://host:port` (or `mqtts:`, `ws:`, `wss:`), or those of several nodes in the order in which to try them. */
  url: string | readonly string[];
  /** Decides latencies, failures, repetitions and pauses before reconnecting. */
  seed?: number;
  behaviour?: Partial<Behaviour>;
  /** Takes the random decisions about faults; without it the device has no faults. */
  chances?: Chances;
  /** Finds the action that caused a command, by which random decisions are the same in every run. */
  keyOf?: KeyOf | undefined;
  /** Lets code decide about commands. */
  intercept?: Intercept | undefined;
  /** The current phase. */
  phase?: (() => string) | undefined;
  /** Makes the connection; by default the simulator's own client. */
  createLink?: (options: LinkOptions) => Link;
  /** 5: the device speaks MQTT 5; without it 3.1.1. */
  level?: 5 | undefined;
  /** Uses a clean session: the service forgets the session, and the device subscribes at each connection. */
  clean?: boolean;
  /** Bounds in milliseconds of the pause before the device reconnects (doubled each time); null: it stays offline. */
  reconnect?: Range | null;
  /** The number of attempts of `connect`. */
  connectAttempts?: number;
  /** Awaited before each attempt to connect, to bound a storm; the returned function is called after the attempt. */
  gate?: () => Promise<() => void>;
  /** Stores the state and the answers of the device over restarts of the simulator. */
  journal?: Journal;
  /** The state of the device before its first command, if the journal has none. */
  equipment?: Partial<Equipment>;
  /** Whether the device reports all fields of its status at each connection, or only the changed ones. */
  reportStatus?: boolean;
  /** The folder for files while they are downloaded; by default a temporary folder of its own. */
  downloads?: DownloadFolder;
  /** The public keys of ed25519 that must have signed the software that the device installs; without any it installs all. */
  trustedKeys?: readonly KeyObject[] | undefined;
  patience?: Partial<Patience>;
  /** The network of the device, if it may be bad; the device asks each time. */
  conditions?: ConditionsNow | undefined;
  /** Milliseconds by which the clock of the device is wrong now; positive: it is fast. */
  clockError?: (() => number) | undefined;
  timers?: Timers;
  /** Called when a check of the device has looked. */
  look?: Look | undefined;
  /** One listener for the events of all devices that it is given to, instead of a listener on each. */
  watch?: Watcher;
}

/** A listener for the events of all devices of a fleet. */
export type Watcher = <Name extends keyof DeviceEvents>(device: Device, name: Name, what: DeviceEvents[Name]) => void;
