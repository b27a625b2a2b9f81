import type { OwnFile } from '../files/uploader.ts';
import type { Command } from '../mqtt/messages.ts';
import type { DeviceState } from './device-state.ts';

const KINDS = ['logs', 'status', 'network'] as const;
type Kind = (typeof KINDS)[number];

/** A file with diagnostics, before it is uploaded. */
export interface DiagnosticFile extends OwnFile {
  readonly kind: Kind;
  readonly fileId: string;
  readonly content: Buffer;
}

/** A file with diagnostics that was uploaded, as the result of the command names it. */
export type UploadedDiagnostics = Readonly<Record<'kind' | 'fileId' | 'name' | 'sha256', string> & { size: number }>;

const isKind = (value: unknown): value is Kind => (KINDS as readonly unknown[]).includes(value);

export const diagnosticsFault = ({ kinds }: Readonly<Record<string, unknown>>): string | undefined =>
  Array.isArray(kinds) && kinds.length > 0 && kinds.every(isKind)
    ? undefined
    : `kinds are not some of ${KINDS.join(', ')}`;

/** The content of each kind. Passwords stay on the device. */
const CONTENTS: Readonly<Record<Kind, (state: Readonly<DeviceState>, command: Command) => unknown>> = {
  logs: (_state, { operation, transactionId, issuedAt, parameters: { note } }) =>
    [
      `${issuedAt} I the device collects its log for transaction ${transactionId}`,
      ...(typeof note === 'string' ? [`${issuedAt} I note: ${JSON.stringify(note)}`] : []),
      `${issuedAt} D command ${operation}`,
      '',
    ].join('\n'),
  status: ({ firmwareVersion, managementClientVersion, lang, software, activation }) => ({
    firmwareVersion,
    managementClientVersion,
    lang,
    software,
    activation,
  }),
  network: ({ networks, apns, bluetooth }) => ({
    networks: networks.map(({ ssid, security }) => ({ ssid, security })),
    apns: apns.map(({ name, apn }) => ({ name, apn })),
    bluetooth,
  }),
};

/** Makes the files that a command wants. */
export function makeDiagnostics(state: Readonly<DeviceState>, command: Command): DiagnosticFile[] {
  const kinds = command.parameters['kinds'] as readonly Kind[];
  return [...new Set(kinds)].map((kind) => {
    const made = CONTENTS[kind](state, command);
    const content = Buffer.from(typeof made === 'string' ? made : `${JSON.stringify(made, null, 2)}\n`);
    const fileId = `diagnostics-${command.transactionId}-${kind}`;
    const name = `${fileId}.${typeof made === 'string' ? 'txt' : 'json'}`;
    return { kind, fileId, name, size: content.length, seed: command.transactionId, content };
  });
}
