/// <reference lib="esnext.disposable" />
// The types of `lapel/sim` for other packages. They stand in a declaration file, because a compiler checks the .ts files
// of a package by the rules of the package that imports them.
import type { Group, Operation } from '../scenario/scenario-file.ts';

export type { Behaviour, Clock, Fault, Life, Network, Operation } from '../scenario/scenario-file.ts';

/** The nature of simulated devices, in the words of a group of a scenario: firmware, network, behaviour, faults ... */
export type Nature = Pick<
  Group,
  | 'firmware'
  | 'managementClient'
  | 'language'
  | 'storage'
  | 'software'
  | 'network'
  | 'clock'
  | 'behaviour'
  | 'life'
  | 'faults'
>;

/** A command of the service. */
export interface Command {
  readonly transactionId: number;
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly issuedAt: string;
  /** 1 at the first delivery, higher at each repetition. */
  readonly attempt: number;
}

/** An event of a device. */
export interface DeviceEvent {
  readonly eventId: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The state of a device as commands have set it. */
export interface DeviceState {
  readonly activation: { readonly applicationId: string; readonly clientId: string } | null;
  readonly apns: readonly Readonly<Record<string, unknown>>[];
  readonly networks: readonly Readonly<Record<string, unknown>>[];
  readonly software: Readonly<
    Record<string, { readonly version: string; readonly versionCode: number; readonly size: number }>
  >;
  readonly firmwareVersion: string;
  readonly managementClientVersion: string;
  readonly lang: string;
  readonly bluetooth: {
    readonly enabled: boolean;
    readonly paired: readonly string[];
    readonly connected: readonly string[];
  };
}

/**
 * The outcome of a command that a handler decides: a failure with a code of the contract, a success with this result,
 * or no answer. The state of the device then stays as it is. `undefined`: the device carries out the command as usual.
 */
export type Outcome =
  | { readonly fail: string; readonly message?: string }
  | { readonly result: Readonly<Record<string, unknown>> }
  | 'never'
  | undefined;

/**
 * Called once for each command of an operation, when its turn has come. Later commands of the device wait for it. An
 * error that it throws fails the command with INTERNAL, and `close` throws it again.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that only looks at the command returns nothing
export type Handler = (command: Command, device: SimulatedDevice) => Outcome | void | Promise<Outcome | void>;

export type Handlers = Readonly<Partial<Record<Operation, Handler>>>;

/** How long to wait, in milliseconds. Default: 10 000. */
export interface Patience {
  readonly within?: number;
}

/** A simulated camera. */
export interface SimulatedDevice extends AsyncDisposable {
  readonly deviceId: string;
  readonly online: boolean;
  readonly state: DeviceState;
  /** The commands that have arrived, without repetitions; the latest 1000. */
  readonly commands: readonly Command[];
  /** Breaches of the contract by the service, and messages of the device that the service reported as wrong. */
  readonly troubles: readonly string[];
  /** Decides about the commands of an operation from now on. The returned function ends this. */
  on(operation: Operation, handler: Handler): () => void;
  /**
   * Resolves to the oldest command that no earlier call has returned; waits for it if necessary. Without an operation
   * to the oldest one of any operation. Rejects if none arrives in time.
   */
  command(operation?: Operation | 'cancel', patience?: Patience): Promise<Command>;
  /** Sends an event; resolves when the service has acknowledged it. The device must be activated. */
  event(type: string, data?: Readonly<Record<string, unknown>>): Promise<DeviceEvent>;
  /** Sends the event `custom.sos`, as the SOS button does. */
  pressButton(): Promise<DeviceEvent>;
  /** Begins a call, and returns its callId. `others`: further participants. Default: a second, not recorded, one other. */
  call(plan?: { readonly milliseconds?: number; readonly recorded?: boolean; readonly others?: number }): string;
  /** Begins to upload a file to the application; returns the fileId. */
  uploadFile(): string;
  /** Resolves when the device is online. Rejects if the service refuses it or cannot be reached. */
  connect(): Promise<void>;
  /** Goes offline with DISCONNECT until `connect`. */
  disconnect(): Promise<void>;
  /** Cuts the connection, and stays offline until `connect`. */
  drop(): Promise<void>;
  /** Resolves when each command is answered, calls and uploads have ended, and the service has acknowledged everything. */
  idle(): Promise<void>;
  /** Goes offline for good. Throws the errors of handlers. */
  close(): Promise<void>;
}

export interface DeviceOptions extends Nature {
  /** `mqtt://host:port` (or `mqtts:`, `ws:`, `wss:`). */
  readonly mqtt: string;
  readonly deviceId: string;
  readonly credential: string;
  /** The activation that the service already has for this device. */
  readonly activation?: { readonly applicationId: string; readonly clientId: string };
  /** Handlers from the first connection on: they also get the commands that wait for the device in the service. */
  readonly on?: Handlers;
  /**
   * Public keys of ed25519 in PEM: the device installs only software that one of them has signed, and otherwise fails with
   * SIGNATURE_REJECTED. Default: it installs any.
   */
  readonly trustedKeys?: readonly string[];
  /** Decides all that is random. Default: 1. */
  readonly seed?: number;
}

/** Makes a device that exists in the service, and connects it. */
export declare function device(options: DeviceOptions): Promise<SimulatedDevice>;

/** The addresses of a service. */
export interface ServiceAddresses {
  /** Default: mqtt://127.0.0.1:1883. */
  readonly mqtt?: string;
  /** The API of applications. Default: http://127.0.0.1:8080. */
  readonly api?: string;
  /** The administration. Default: http://127.0.0.1:8081. */
  readonly admin?: string;
  /** The token of administrators. Default: LAPEL_ADMIN_TOKEN of the environment. */
  readonly adminToken?: string;
}

export interface Application {
  readonly applicationId: string;
  readonly secret: string;
}

export interface FleetOptions extends Nature {
  readonly service?: ServiceAddresses;
  /** The number of devices to register. */
  readonly count?: number;
  /** Devices that exist in the service, instead of `count`. They stay there at the end. */
  readonly accounts?: readonly { readonly deviceId: string; readonly credential: string }[];
  /**
   * Your application, which has a receiver of its own. Without it, and with `count`, the fleet gets an application with
   * a receiver, and removes both at the end.
   */
  readonly application?: Application;
  /** Whether the devices are activated for the application. Default: true if there is an application. */
  readonly activate?: boolean;
  /** The developer of the registered devices; created if missing. Default: `simulated`. */
  readonly developer?: string;
  /** The code of an enrolment batch of the developer, by which the devices enrol instead of being registered. */
  readonly enrol?: string;
  /** The name that decides the deviceIds, together with `seed`. Default: a new one, so that tests do not share devices. */
  readonly run?: string;
  /** The address of the fleet's own receiver. */
  readonly receiver?: ReceiverAddress;
  readonly on?: Handlers;
  /** As of a device. */
  readonly trustedKeys?: readonly string[];
  readonly seed?: number;
}

/** The counts of a fleet: its present state, and totals since the start. */
export interface FleetCounts {
  readonly devices: number;
  readonly connected: number;
  /** Commands, calls, uploads and messages that are not finished. */
  readonly outstanding: number;
  readonly commands: number;
  readonly answers: number;
  readonly events: number;
  readonly connections: number;
  /** Connections that ended although the device wanted to keep them. */
  readonly losses: number;
  /** Breaches of the contract by the service. */
  readonly violations: number;
  readonly complaints: number;
}

export interface SimulatedFleet extends AsyncDisposable {
  readonly devices: readonly [SimulatedDevice, ...SimulatedDevice[]];
  /** The application of the fleet; null if it has none. */
  readonly application: Application | null;
  /** The receiver of the fleet's own application. Throws if the application was given, or there is none. */
  readonly receiver: WebhookReceiver;
  /** The troubles of all devices, each with its deviceId. */
  readonly troubles: readonly string[];
  /** Decides about the commands of an operation on all devices. */
  on(operation: Operation, handler: Handler): () => void;
  /**
   * Calls the API of applications as the application of the fleet. Operations are `setWifi`, `readStatus` ...; `input`
   * has the deviceId, the `body` and the `query`. Resolves to the body of the answer; rejects with an error that has
   * its `status`.
   */
  request(
    operation: string,
    input?: { readonly deviceId?: string; readonly body?: unknown; readonly [name: string]: unknown },
  ): Promise<Record<string, unknown>>;
  counts(): FleetCounts;
  /** Resolves when no device has work left. */
  idle(): Promise<void>;
  /** Takes the devices offline, and removes from the service all that the fleet has registered. */
  close(): Promise<void>;
}

/** Makes a fleet, registers and activates its devices, and connects them. */
export declare function fleet(options?: FleetOptions): Promise<SimulatedFleet>;

export interface ReceiverAddress {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, a free one. */
  readonly port?: number;
  /** The address at which the service reaches the receiver, if it differs. */
  readonly publicUrl?: string;
}

export interface ReceiverOptions extends ReceiverAddress {
  /** The authenticationKey of the application, which verifies the signature. */
  readonly authenticationKey?: string;
  /**
   * Instead of the key: an application whose URLs point at the receiver until its end. It gets a new authenticationKey.
   */
  readonly application?: Application;
  /** With `application`. Default: http://127.0.0.1:8080. */
  readonly api?: string;
}

/** A webhook with a correct signature. */
export interface ReceivedWebhook {
  readonly webhookId: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: WebhookData;
}

/** The data of a webhook. The result of a command has the transaction; other members depend on the type. */
export interface WebhookData {
  readonly applicationId: string;
  readonly deviceId: string;
  readonly transaction?: Transaction;
  readonly [name: string]: unknown;
}

/** A transaction as the service tells it; further members are in the API of applications. */
export interface Transaction {
  readonly transactionId: number;
  readonly operation: string;
  readonly status: string;
  readonly result?: Readonly<Record<string, unknown>> | null;
  readonly error?: { readonly code: string; readonly message: string } | null;
}

/** Selects webhooks: by their type, by members of their data, or by a function. */
export type WebhookMatch = string | Readonly<Record<string, unknown>> | ((webhook: ReceivedWebhook) => boolean);

export type ReceiverFault = 'fail' | 'slow' | 'hang' | 'go-away' | 'gone' | 'too-many' | 'redirect' | 'slow-body';

export interface WebhookReceiver extends AsyncDisposable {
  /** The URL for webhooks, and the URL for requests for upload URLs. */
  readonly url: string;
  readonly uploadUrl: string;
  /** The webhooks that have arrived, each once; the latest 1000. */
  readonly webhooks: readonly ReceivedWebhook[];
  /** The faults of webhooks with a wrong signature. */
  readonly forged: readonly string[];
  /** The files that devices have uploaded. */
  readonly files: { readonly count: number; readonly bytes: number };
  /**
   * Resolves to the oldest matching webhook that no earlier call has returned; waits for it if necessary. Rejects if
   * none arrives in time.
   */
  webhook(match?: WebhookMatch, patience?: Patience): Promise<ReceivedWebhook>;
  /** Misbehaves from now on; without a fault it behaves well again. */
  play(fault?: ReceiverFault): void;
  close(): Promise<void>;
}

/** Starts a webhook receiver that verifies signatures, answers, and takes the files of devices. */
export declare function receiver(options: ReceiverOptions): Promise<WebhookReceiver>;
