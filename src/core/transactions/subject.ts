import type { Operation } from './transaction.ts';

/** Characters; longer subjects are cut. */
const LONGEST = 255;

const counted = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const networks = (count: number): string => (count === 1 ? '1 network' : `${count} networks`);

type Parameters = Record<string, unknown>;

/** For each operation, the part of its parameters that may be stored: never a password, nor the owner of a network. */
const SUBJECTS: Record<Operation, (parameters: Parameters) => string | null> = {
  activate: ({ clientId }) => text(clientId),
  deactivate: () => null,
  setApn: ({ apns }) => (Array.isArray(apns) ? apns.map(({ name }: Parameters) => text(name)).join(', ') : null),
  setWifi: ({ networks: entries }) => networks(counted(entries)),
  setLanguage: ({ lang }) => text(lang),
  getConnectivityState: ({ type }) => text(type),
  setConnectivityState: ({ type, enabled }) => `${text(type) ?? ''} ${enabled === true ? 'on' : 'off'}`.trim(),
  listConnectivity: ({ type }) => text(type),
  pairBluetooth: ({ macAddress }) => text(macAddress),
  installSoftware: (named) => `${text(named['package'])}@${text(named['version'])}`,
  updateFirmware: (named) => `${text(named['package'])}@${text(named['version'])}`,
};

/** The subject of a command, in words that may be stored and shown after its parameters were deleted; null when there is none. */
export const subjectOf = (operation: Operation, parameters: object): string | null =>
  SUBJECTS[operation](parameters as Parameters)?.slice(0, LONGEST) ?? null;
