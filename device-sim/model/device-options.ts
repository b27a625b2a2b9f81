import type { EventEmitter } from 'node:events';
import type { Chances } from '../faults/chances.ts';
import type { Patience } from '../files/download.ts';
import type { DownloadFolder } from '../files/download-folder.ts';
import type { Link, LinkOptions } from '../mqtt/link.ts';
import type { Range } from '../random.ts';
import type { Timers } from '../timers.ts';
import type { Behaviour } from './behaviour.ts';
import type { CallPlan } from './calls.ts';
import type { DeviceEvents } from './device-events.ts';
import type { DeviceState, Equipment } from './device-state.ts';
import type { KeyOf } from './plans.ts';
import type { Journal } from './state-file.ts';

export interface Device extends AsyncDisposable {
  readonly deviceId: string;
  readonly events: EventEmitter<DeviceEvents>;
  readonly online: boolean;
  /** Activation, networks, language, Bluetooth, software and firmware as commands have set them. */
  readonly state: Readonly<DeviceState>;
  /** transactionId -> how often it was executed. */
  readonly executions: ReadonlyMap<number, number>;
  /** Commands, calls and uploads not finished, downloads not cleared away, and messages not acknowledged. */
  readonly outstanding: number;
  /** What an earlier run of the simulator knew, and the service still does. */
  rememberActivation(activation: NonNullable<DeviceState['activation']>): void;
  /** Reports what has changed by itself: the battery. */
  reportChanges(): void;
  /** One of the paired Bluetooth peers comes or goes. */
  movePeer(): void;
  /** Its SOS button is pressed. */
  pressButton(): void;
  /** Begins a call. Gives its callId; undefined while there is another one, or no activation. */
  call(plan: CallPlan): string | undefined;
  /** Uploads a file of the customer's application. Gives its fileId; undefined without an activation. */
  uploadFile(): string | undefined;
  /** Resolves when online; rejects after the attempts allowed, or at once when the credential is refused. */
  connect(): Promise<void>;
  /** Goes offline politely (DISCONNECT) and stays there until `connect`. */
  disconnect(): Promise<void>;
  /** Cuts the socket and stays offline until `connect`. */
  drop(): Promise<void>;
  /** Resolves when every command that came is answered, calls and uploads are over, and everything is acknowledged. */
  idle(): Promise<void>;
}

export interface DeviceOptions {
  deviceId: string;
  credential: string;
  /** `mqtt://host:port` (or `mqtts:`, `ws:`, `wss:`). */
  url: string;
  /** Decides latencies, failures, repetitions and pauses before reconnecting. */
  seed?: number;
  behaviour?: Partial<Behaviour>;
  /** What befalls it, beside that. */
  chances?: Chances;
  /** By what its commands are known in every run. */
  keyOf?: KeyOf | undefined;
  /** The phase that is on. */
  phase?: (() => string) | undefined;
  /** Makes its connection; the lean client without it. */
  createLink?: (options: LinkOptions) => Link;
  /** A clean session: subscribes anew each time, and the service forgets it. */
  clean?: boolean;
  /** Bounds in milliseconds of the pause before reconnecting after a lost connection (doubled each time); null: stay offline. */
  reconnect?: Range | null;
  /** How often `connect` tries. */
  connectAttempts?: number;
  /** Awaited before each connection attempt, to bound a storm; what it gives is called when the attempt is over. */
  gate?: () => Promise<() => void>;
  /** Remembers over restarts. */
  journal?: Journal;
  /** What it is before its first command, as far as the journal knows of none. */
  equipment?: Partial<Equipment>;
  /** Reports its whole status at each connection, not only what has changed. */
  reportStatus?: boolean;
  /** Where files are while they are downloaded; a temporary folder of its own when missing. */
  downloads?: DownloadFolder;
  patience?: Partial<Patience>;
  timers?: Timers;
  /** Is told everything, of all devices that it is given to: instead of listeners on each of many thousands. */
  watch?: Watcher;
}

/** What a device lets know, for all devices of a fleet. */
export type Watcher = <Name extends keyof DeviceEvents>(device: Device, name: Name, what: DeviceEvents[Name]) => void;
