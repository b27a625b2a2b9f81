import { TRANSACTION_OPERATIONS } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import { limitOption, readLimit } from '../line/limit.ts';
import { DEVICE } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';
import { type Column, fieldText, recordText, table, timeText } from '../show/table.ts';
import { batteryText, networkText, softwareText, storageText, tagsText, yesNo } from './device-texts.ts';
import { stateText } from './follow-transactions.ts';
import type { TransactionRecord } from './transaction-command.ts';

// The number of transactions that are listed without --limit.
const FIRST = 20;

/**
 * Returns null when a request is refused because the device is not activated. The command then shows all it can,
 * without the answer to this request.
 */
async function unlessRefused<Result>(asked: Promise<Result>): Promise<Result | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Failure && error.refusal?.status === 403) return null;
    throw error;
  }
}

/** Shows a device: the activation status, the tags, the status and the hardware properties in one. */
export const deviceShow: Command = {
  name: 'device show',
  arguments: [DEVICE],
  summary: 'Shows a device: activation, tags, status, software and hardware',
  options: APPLICATION_OPTIONS,
  examples: ['lapel device show 490154203237518', 'lapel device show 490154203237518 --json | jq .status.battery'],
  async run(given, terminal) {
    const [deviceId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const what = `show ${deviceId}`;
    const [activation, status, hardware, tags] = await Promise.all([
      application.call(what, (lapel) => lapel.readActivation({ deviceId })),
      unlessRefused(application.call(what, (lapel) => lapel.readStatus({ deviceId }))),
      unlessRefused(application.call(what, (lapel) => lapel.readHardware({ deviceId }))),
      unlessRefused(application.call(what, (lapel) => lapel.readTags({ deviceId }))),
    ]);
    const { bluetooth } = status ?? {};
    const record = {
      device: deviceId,
      activation: activation.status,
      'client id': activation.clientId,
      tags: (tags && tagsText(tags)) || null,
      connected: status && yesNo(status.connected),
      'last seen': status?.lastSeenAt && timeText(status.lastSeenAt),
      firmware: status?.firmwareVersion,
      'management client': status?.managementClientVersion,
      language: status?.lang,
      battery: (status && batteryText(status)) || null,
      storage: (status && storageText(status)) || null,
      network: (status && networkText(status)) || null,
      bluetooth: bluetooth && (bluetooth.enabled ? 'on' : 'off'),
      software: (status && softwareText(status)) || null,
      reported: status?.reportedAt && timeText(status.reportedAt),
      model: hardware?.model && Object.values(hardware.model).join(', '),
      camera: hardware?.camera,
      'mac wifi': hardware?.macAddressWifi,
      'mac bluetooth': hardware?.macAddressBluetooth,
    };
    return { json: { ok: true, deviceId, activation, status, hardware, tags }, text: recordText(record) };
  },
};

/** Shows the firmware of a device, and the versions that it could be updated to. */
export const deviceFirmware: Command = {
  name: 'device firmware show',
  arguments: [DEVICE],
  summary: 'Shows the firmware of a device, and the versions that it can be updated to',
  options: APPLICATION_OPTIONS,
  examples: ['lapel device firmware show 490154203237518'],
  async run(given, terminal) {
    const [deviceId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const [firmware, { firmwareVersions: available }] = await application.call('read the firmware', (lapel) =>
      Promise.all([lapel.readFirmware({ deviceId }), lapel.listFirmware()]),
    );
    const list = available.map((one) => `${one.package} ${one.version}`).join(', ');
    return {
      json: { ok: true, deviceId, ...firmware, available },
      text: recordText({ ...firmware, available: list || 'none' }),
    };
  },
};

const TRANSACTION_COLUMNS: readonly Column<TransactionRecord>[] = [
  { head: 'TRANSACTION', cell: ({ transactionId }) => transactionId },
  { head: 'OPERATION', cell: ({ operation }) => operation },
  { head: 'STATUS', cell: ({ status }) => status, state: true },
  { head: 'ATTEMPTS', cell: ({ attempts }) => attempts },
  { head: 'CREATED', cell: ({ createdAt }) => timeText(createdAt) },
  { head: 'COMPLETED', cell: ({ completedAt }) => (completedAt === null ? null : timeText(completedAt)) },
  { head: 'DETAIL', cell: (record) => transactionDetail(record), flexible: true },
];

/** The error with a late result, the warning, the progress or the result of a transaction. */
export function transactionDetail({ error, warning, progress, status, result, late }: TransactionRecord): string {
  if (error) return `${error.code}: ${error.message}${late ? ` (late: ${late.status})` : ''}`;
  if (warning) return `${warning.code}: ${warning.message}`;
  if (status === 'processing' && progress !== null) return stateText({ status, progress, error: null });
  return fieldText(result);
}

export const TRANSACTION_STATES = ['queued', 'delivered', 'processing', 'succeeded', 'failed', 'cancelled'];

export const deviceTransactions: Command = {
  name: 'device transactions',
  arguments: [DEVICE, { name: 'TRANSACTION', optional: true }],
  summary: 'Lists the transactions of a device, the newest first; or shows one in full',
  options: {
    status: { value: 'S', choices: TRANSACTION_STATES, text: 'only transactions in this state' },
    operation: { value: 'O', choices: TRANSACTION_OPERATIONS, text: 'only transactions of this operation' },
    ...limitOption(FIRST),
    ...APPLICATION_OPTIONS,
  },
  examples: [
    'lapel device transactions 490154203237518',
    'lapel device transactions 490154203237518 17',
    'lapel device transactions 490154203237518 --status failed --limit 0',
  ],
  async run(given, terminal) {
    const [deviceId = '', one] = given.positionals;
    const application = await openApplication(given, terminal);
    if (one !== undefined) {
      if (!/^[1-9]\d{0,15}$/.test(one)) throw new UsageError('TRANSACTION', `"${one}" is not a transactionId`);
      const record = await application.call(`read transaction ${one}`, (lapel) =>
        lapel.readTransaction({ deviceId, transactionId: Number(one) }),
      );
      return { json: { ok: true, ...record }, text: recordText(record) };
    }
    const [status, operation] = [given.text('status'), given.text('operation')];
    const limit = readLimit(given, FIRST);
    const query = {
      limit: Math.min(limit, 1000),
      ...(status !== undefined && { status }),
      ...(operation !== undefined && { operation }),
    };
    const transactions = await application.call('list the transactions', (lapel) =>
      take(lapel.each('listTransactions', { deviceId, query }), limit),
    );
    return {
      json: { ok: true, transactions, total: transactions.length },
      text: table(TRANSACTION_COLUMNS, transactions, 'There are none.'),
    };
  },
};
