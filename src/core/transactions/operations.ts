import type { SchemaTypes } from '../../platform/contracts/types.ts';

/** The operations of devices that are transactions: the schema common/operation. */
export type Operation = SchemaTypes['common/operation'];

/** A consequence of a transaction's end, in the commit that ends it; settlement carries it out. */
export type Effect =
  /** The device is activated for the application. */
  | 'completeActivation'
  /** The device is not activated, and its clientId is free. */
  | 'releaseActivation'
  /** All other unfinished transactions of the device for this application are cancelled. */
  | 'cancelOthers';

/** What the parameters of a command are made of, besides the request. */
export interface Context {
  applicationId: string;
  /** A random clientId. */
  newClientId(): string;
}

interface Row {
  /** The schema of the command's parameters. */
  schema: `mqtt/${string}`;
  /** The command's parameters, from the request: its body is valid by the schema of the REST operation. */
  parameters(asked: never, context: Context): object;
  /**
   * The subject of a command in words, kept and shown when its parameters are gone; null: nothing to say. Never a password,
   * nor whose a network is.
   */
  subject(parameters: never): string | null;
  /** The line of packages that the command installs from: its delivery carries a fresh download URL. */
  installs?: 'software' | 'firmware';
  /** Older devices take the command and never answer it (specification, "Facts about the connectivity operations"). */
  needsFirmware?: true;
  effects?: Partial<Record<'succeeded' | 'failed' | 'cancelled', readonly Effect[]>>;
}

const asAsked = <Parameters extends object>(asked: Parameters): Parameters => asked;
const packageAndVersion = (named: SchemaTypes['rest/install-request']) => ({
  package: named.package,
  version: named.version,
});
const networks = (count: number): string => (count === 1 ? '1 network' : `${count} networks`);
const install = {
  schema: 'mqtt/install-parameters',
  parameters: packageAndVersion,
  subject: (named: SchemaTypes['rest/install-request']) => `${named.package}@${named.version}`,
} as const;

/** Everything that the service knows of an operation, one row for each. */
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
    parameters: (apns: SchemaTypes['rest/apn-settings']) => ({ apns }),
    subject: ({ apns }: { apns: SchemaTypes['rest/apn-settings'] }) => apns.map(({ name }) => name).join(', '),
  },
  setWifi: {
    schema: 'mqtt/set-wifi-parameters',
    parameters: (entries: SchemaTypes['rest/wifi-settings']) => ({ networks: entries }),
    subject: (parameters: { networks: readonly object[] }) => networks(parameters.networks.length),
  },
  setLanguage: {
    schema: 'mqtt/set-language-parameters',
    parameters: asAsked<SchemaTypes['rest/language-setting']>,
    subject: ({ lang }: { lang: string }) => lang,
  },
  getConnectivityState: {
    schema: 'mqtt/connectivity-type-parameters',
    parameters: asAsked<SchemaTypes['rest/connectivity-query']>,
    subject: ({ type }: { type: string }) => type,
    needsFirmware: true,
  },
  setConnectivityState: {
    schema: 'mqtt/connectivity-state-parameters',
    parameters: asAsked<SchemaTypes['rest/connectivity-state']>,
    subject: ({ type, enabled }: { type: string; enabled: boolean }) => `${type} ${enabled ? 'on' : 'off'}`,
    needsFirmware: true,
  },
  listConnectivity: {
    schema: 'mqtt/connectivity-type-parameters',
    parameters: asAsked<SchemaTypes['rest/connectivity-query']>,
    subject: ({ type }: { type: string }) => type,
    needsFirmware: true,
  },
  pairBluetooth: {
    schema: 'mqtt/pair-bluetooth-parameters',
    parameters: asAsked<SchemaTypes['rest/bluetooth-pairing']>,
    subject: ({ macAddress }: { macAddress: string }) => macAddress,
    needsFirmware: true,
  },
  installSoftware: { ...install, installs: 'software' },
  updateFirmware: { ...install, installs: 'firmware' },
} satisfies Record<Operation, Row>;

const ROWS: Readonly<Record<Operation, Row>> = OPERATIONS;

/** A caller's request of a device; each operation with its own body, already valid by its schema. */
export type Request = {
  [Name in Operation]: { operation: Name; asked: Parameters<(typeof OPERATIONS)[Name]['parameters']>[0] };
}[Operation];

/** The parameters of the command that a request asks for. */
export const parametersOf = ({ operation, asked }: Request, context: Context): object =>
  ROWS[operation].parameters(asked as never, context);

/** Characters; a longer subject is cut. */
const LONGEST_SUBJECT = 255;

/** The subject of a command, from its parameters; null when there is nothing to say. */
export const subjectOf = (operation: Operation, parameters: object): string | null =>
  ROWS[operation].subject(parameters as never)?.slice(0, LONGEST_SUBJECT) ?? null;

/** An operation whose command carries a download URL. */
export type InstallOperation = {
  [Name in Operation]: (typeof OPERATIONS)[Name] extends { installs: string } ? Name : never;
}[Operation];
export const isInstall = (operation: string): operation is InstallOperation =>
  ROWS[operation as Operation]?.installs !== undefined;
export const lineOf = (operation: InstallOperation): 'software' | 'firmware' => OPERATIONS[operation].installs;

/** Operations that older devices take and never answer. */
export const NEED_FIRMWARE: readonly Operation[] = (Object.keys(ROWS) as Operation[]).filter(
  (operation) => ROWS[operation].needsFirmware,
);

export const effectsOf = (operation: Operation, end: 'succeeded' | 'failed' | 'cancelled'): readonly Effect[] =>
  ROWS[operation].effects?.[end] ?? [];
