import type { Operation } from './transaction.ts';

/** Characters; what is longer is cut. */
const LONGEST = 255;

const counted = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const networks = (count: number): string => (count === 1 ? '1 network' : `${count} networks`);

type Parameters = Record<string, unknown>;

/** Of each operation what may be kept of its parameters: never a password, nor who a network belongs to. */
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

/** What a command is about, in words that may be kept and shown when its parameters are gone; null when there is nothing to say. */
export const subjectOf = (operation: Operation, parameters: object): string | null =>
  SUBJECTS[operation](parameters as Parameters)?.slice(0, LONGEST) ?? null;
