import type { SchemaTypes } from '@lapel/schemas/contracts/types';

/** The operations of devices that are transactions: the schema common/operation. */
export type Operation = SchemaTypes['common/operation'];

/** An effect of a transaction's end, which settlement carries out in the commit that ends it. */
export type Effect =
  /** The device is activated for the application. */
  | 'completeActivation'
  /** The device becomes deactivated, and its clientId free. */
  | 'releaseActivation'
  /** All other unfinished transactions of the device for this application are cancelled. */
  | 'cancelOthers';

/** The values from which a command's parameters are made, besides the request. */
export interface Context {
  applicationId: string;
  /** Makes a random clientId. */
  newClientId(): string;
  /** Seconds in which the device has to reach the service with a new list of a network. */
  revertAfter?: number | undefined;
}

interface Row {
  /** The schema of the command's parameters. */
  schema: `mqtt/${string}`;
  /** Makes the command's parameters from the request, whose body was validated by the schema of the REST operation. */
  parameters(asked: never, context: Context): object;
  /**
   * A short description of the command for people, such as the name of the package. It is stored and shown even after
   * the parameters were deleted, so it never has a password, nor the owner of a network. Null when the parameters say
   * nothing worth showing.
   */
  subject(parameters: never): string | null;
  /** The catalogue of the package that the command installs. Such a command is sent with a fresh download URL. */
  installs?: 'software' | 'firmware';
  /**
   * Whether older devices accept the command but never answer it (specification, "Facts about the connectivity operations").
   */
  needsFirmware?: true;
  /** Whether the device uploads files to the store of the customer. */
  needsUploads?: true;
  /** Whether it gives the device settings, which are kept when it succeeds: a rollout can give them back. */
  isSetting?: true;
  effects?: Partial<Record<'succeeded' | 'failed' | 'cancelled', readonly Effect[]>>;
}

const asAsked = <Parameters extends object>(asked: Parameters): Parameters => asked;
const packageAndVersion = (named: SchemaTypes['rest/install-request']) => ({
  package: named.package,
  version: named.version,
});
const triedFor = ({ revertAfter }: Context) => (revertAfter === undefined ? {} : { revertAfter });
const networks = (count: number): string => (count === 1 ? '1 network' : `${count} networks`);
const install = {
  schema: 'mqtt/install-parameters',
  parameters: packageAndVersion,
  subject: (named: SchemaTypes['rest/install-request']) => `${named.package}@${named.version}`,
} as const;

/** The operations of devices: one row holds everything that the service knows of an operation. */
export const OPERATIONS = {
  activate: {
    schema: 'mqtt/activate-parameters',
    parameters: ({ clientId }: { clientId?: string }, { applicationId, newClientId }: Context) => ({
      applicationId,
      clientId: clientId ?? newClientId(),
    }),
    subject: ({ clientId }: { clientId: string }) => clientId,
    effects: {
      succeeded: ['completeActivation'],
      failed: ['releaseActivation'],
      cancelled: ['releaseActivation'],
    },
  },
  deactivate: {
    schema: 'mqtt/deactivate-parameters',
    parameters: (_asked: object, { applicationId }: Context) => ({ applicationId }),
    subject: () => null,
    effects: { succeeded: ['releaseActivation', 'cancelOthers'] },
  },
  setApn: {
    schema: 'mqtt/set-apn-parameters',
    isSetting: true,
    parameters: (apns: SchemaTypes['rest/apn-settings'], context: Context) => ({ apns, ...triedFor(context) }),
    subject: ({ apns }: { apns: SchemaTypes['rest/apn-settings'] }) => apns.map(({ name }) => name).join(', '),
  },
  setWifi: {
    schema: 'mqtt/set-wifi-parameters',
    isSetting: true,
    parameters: (entries: SchemaTypes['rest/wifi-settings'], context: Context) => ({
      networks: entries,
      ...triedFor(context),
    }),
    subject: (parameters: { networks: readonly object[] }) => networks(parameters.networks.length),
  },
  setLanguage: {
    schema: 'mqtt/set-language-parameters',
    isSetting: true,
    parameters: asAsked<SchemaTypes['rest/language-setting']>,
    subject: ({ lang }: { lang: string }) => lang,
  },
  getConnectivityState: {
    schema: 'mqtt/connectivity-type-parameters',
    parameters: asAsked<SchemaTypes['mqtt/connectivity-type-parameters']>,
    subject: ({ type }: { type: string }) => type,
    needsFirmware: true,
  },
  setConnectivityState: {
    schema: 'mqtt/connectivity-state-parameters',
    isSetting: true,
    parameters: asAsked<SchemaTypes['rest/connectivity-state']>,
    subject: ({ type, enabled }: { type: string; enabled: boolean }) => `${type} ${enabled ? 'on' : 'off'}`,
    needsFirmware: true,
  },
  listConnectivity: {
    schema: 'mqtt/connectivity-type-parameters',
    parameters: asAsked<SchemaTypes['mqtt/connectivity-type-parameters']>,
    subject: ({ type }: { type: string }) => type,
    needsFirmware: true,
  },
  pairBluetooth: {
    schema: 'mqtt/pair-bluetooth-parameters',
    parameters: asAsked<SchemaTypes['rest/bluetooth-pairing']>,
    subject: ({ macAddress }: { macAddress: string }) => macAddress,
    needsFirmware: true,
  },
  collectDiagnostics: {
    schema: 'mqtt/diagnostics-parameters',
    needsUploads: true,
    parameters: ({ kinds, ...others }: SchemaTypes['rest/diagnostics-request']) => ({
      kinds: [...new Set(kinds)],
      ...others,
    }),
    subject: ({ kinds, note }: SchemaTypes['rest/diagnostics-request']) =>
      note === undefined ? kinds.join(', ') : `${kinds.join(', ')}: ${note}`,
  },
  installSoftware: { ...install, installs: 'software' },
  updateFirmware: { ...install, installs: 'firmware' },
} satisfies Record<Operation, Row>;

const ROWS: Readonly<Record<Operation, Row>> = OPERATIONS;

/** A caller's request for a device: an operation with its body, already validated by its schema. */
export type Request = {
  [Name in Operation]: { operation: Name; asked: Parameters<(typeof OPERATIONS)[Name]['parameters']>[0] };
}[Operation];

/** The parameters of the command for a request. */
export const parametersOf = ({ operation, asked }: Request, context: Context): object =>
  ROWS[operation].parameters(asked as never, context);

/** The most characters of a command's short description; longer ones are cut off. */
const LONGEST_SUBJECT = 255;

/**
 * Makes the short description of a command that people see, such as `com.example.app@1.2.0` for an install; null when
 * its operation has none.
 */
export const subjectOf = (operation: Operation, parameters: object): string | null =>
  ROWS[operation].subject(parameters as never)?.slice(0, LONGEST_SUBJECT) ?? null;

/** An operation whose command carries a download URL. */
export type InstallOperation = {
  [Name in Operation]: (typeof OPERATIONS)[Name] extends { installs: string } ? Name : never;
}[Operation];
export const isInstall = (operation: string): operation is InstallOperation =>
  ROWS[operation as Operation]?.installs !== undefined;
export const lineOf = (operation: InstallOperation): 'software' | 'firmware' => OPERATIONS[operation].installs;

/** Whether an operation gives a device settings that another command of the operation takes away again. */
export const isSetting = (operation: string): boolean => ROWS[operation as Operation]?.isSetting === true;

/** Whether the device uploads files to carry it out, so that the application needs its settings of file uploads. */
export const needsUploads = (operation: string): boolean => ROWS[operation as Operation]?.needsUploads === true;

/** The operations that older devices accept but never answer. */
export const NEED_FIRMWARE: readonly Operation[] = (Object.keys(ROWS) as Operation[]).filter(
  (operation) => ROWS[operation].needsFirmware,
);

export const effectsOf = (operation: Operation, end: 'succeeded' | 'failed' | 'cancelled'): readonly Effect[] =>
  ROWS[operation]?.effects?.[end] ?? [];
