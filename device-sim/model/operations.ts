import { readSource } from '../files/source.ts';
import { isRecord } from '../mqtt/messages.ts';
import { connectivityOperations } from './connectivity.ts';
import { diagnosticsFault, makeDiagnostics } from './diagnostics.ts';
import { updated } from './firmware.ts';
import type { DownloadOperation, Operation, Parameters } from './operation.ts';
import { install } from './software.ts';

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const records = (value: unknown): Record<string, unknown>[] | undefined =>
  Array.isArray(value) && value.every(isRecord) ? value : undefined;

/** 8 to 63 bytes, or 64 hexadecimal digits. */
function fitsWpa(password: unknown): boolean {
  if (!isText(password)) return false;
  const bytes = Buffer.byteLength(password);
  return (bytes >= 8 && bytes <= 63) || /^[\dA-Fa-f]{64}$/.test(password);
}

/** Whether a password is valid, for each kind of security of a Wi-Fi network (op 11). */
const passwordFits: Readonly<Record<string, (password: unknown) => boolean>> = {
  OPEN: () => true,
  WEP: (password) => isText(password) && /^(?:.{5}|.{13}|[\dA-Fa-f]{10}|[\dA-Fa-f]{26})$/u.test(password),
  WPA2: fitsWpa,
  WPA3: fitsWpa,
  WPA2_WPA3: fitsWpa,
};

function networkFault({ ssid, security, password }: Record<string, unknown>): string | undefined {
  if (!isText(ssid) || Buffer.byteLength(ssid) > 32) return 'an ssid must have 1 to 32 bytes';
  const fits = isText(security) && Object.hasOwn(passwordFits, security) ? passwordFits[security] : undefined;
  if (!fits) return 'a security is unknown';
  return fits(password) ? undefined : 'a password does not fit its security';
}

const PACKAGE_NAME = /^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/;
/** The package names that Android accepts. */
export const isPackageName = (value: unknown): value is string =>
  isText(value) && value.length <= 255 && PACKAGE_NAME.test(value);

function deliveryFault(parameters: Parameters): string | undefined {
  if (!isPackageName(parameters['package'])) return 'package is not a package name';
  if (!isText(parameters['version'])) return 'version is needed';
  const source = readSource(parameters);
  return typeof source === 'string' ? source : undefined;
}

export const operations: ReadonlyMap<string, Operation | DownloadOperation> = new Map<
  string,
  Operation | DownloadOperation
>([
  [
    'activate',
    {
      fault: ({ applicationId, clientId }) =>
        isText(applicationId) && isText(clientId) ? undefined : 'applicationId and clientId are needed',
      apply(state, { applicationId, clientId }) {
        state.activation = { applicationId: applicationId as string, clientId: clientId as string };
        return undefined;
      },
    },
  ],
  [
    'deactivate',
    {
      fault: ({ applicationId }) => (isText(applicationId) ? undefined : 'applicationId is needed'),
      apply(state) {
        state.activation = null;
        return undefined;
      },
    },
  ],
  [
    'setApn',
    {
      tries: 'apns',
      fault({ apns }) {
        const entries = records(apns);
        if (!entries || entries.length > 32) return 'apns is not a list of at most 32 entries';
        // Both may be empty, as the schema allows it.
        return entries.every(({ name, apn }) => typeof name === 'string' && typeof apn === 'string')
          ? undefined
          : 'an entry has no name or apn';
      },
      apply(state, { apns }) {
        state.apns = apns as Record<string, unknown>[];
        return undefined;
      },
    },
  ],
  [
    'setWifi',
    {
      tries: 'networks',
      fault({ networks }) {
        const entries = records(networks);
        if (!entries) return 'networks is not a list of entries';
        for (const entry of entries) {
          const fault = networkFault(entry);
          if (fault) return fault;
        }
        return undefined;
      },
      apply(state, { networks }) {
        state.networks = networks as Record<string, unknown>[];
        return undefined;
      },
    },
  ],
  [
    'setLanguage',
    {
      fault: ({ lang }) => (isText(lang) ? undefined : 'lang is needed'),
      apply(state, { lang }) {
        state.lang = lang as string;
        return undefined;
      },
    },
  ],
  ...connectivityOperations,
  ['collectDiagnostics', { fault: diagnosticsFault, collects: makeDiagnostics, apply: () => undefined }],
  [
    'installSoftware',
    {
      fault: deliveryFault,
      download: 'apk',
      apply: (state, parameters, file) =>
        install(state, { package: parameters['package'] as string, version: parameters['version'] as string }, file),
    },
  ],
  [
    'updateFirmware',
    {
      fault: deliveryFault,
      download: 'any',
      apply(state, { package: name, version }) {
        Object.assign(state, updated(state, version as string));
        return { result: { package: name, version } };
      },
    },
  ],
]);
