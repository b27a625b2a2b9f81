import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import type { Report } from '../report.ts';
import type { Session } from '../session.ts';
import { seen, time } from '../times.ts';
import { DEVICE, tool } from '../tool.ts';
import { code, commandLine } from './command-words.ts';

type Row = SchemaTypes['common/transaction-row-list']['transactions'][number];
type Rollout = SchemaTypes['common/rollout'];

/** How many commands of a device may have neither a PUBACK nor an answer at a time. */
const AT_A_TIME = 16;

/** The reasons that lie in the device, whatever the command is. */
async function ofDevice(session: Session, deviceId: string, report: Report): Promise<boolean> {
  const { devices } = await session.ask<SchemaTypes['common/device-row-list']>('listOwnDevices', {
    query: { prefix: deviceId, limit: 1 },
  });
  const [row] = devices;
  if (!row) {
    const answer = await session.call('readStatus', { params: { deviceId } });
    if (answer.status >= 400) throw session.refused(answer);
    report.say(
      `Reason: the device ${deviceId} is not activated for this application, so it gets no commands of it. Activate it first.`,
    );
    return false;
  }
  report.say(
    row.blocked && 'Reason: the device is blocked by administration: it cannot connect.',
    row.activation === 'deactivated' && 'Reason: the device is activated for no application, so it gets no commands.',
    row.activation === 'activating' &&
      'Reason: the activation of the device has not ended: it has not answered it yet.',
    !row.connected &&
      `Reason: the device is offline. It was ${seen(row.lastSeenAt)}. Its commands wait, and are published when it connects.`,
    row.connected && `The device is connected; ${seen(row.lastSeenAt)}.`,
    row.battery !== null && row.battery < 15 && `Its battery was last at ${row.battery}%.`,
    `Console: ${session.link('devices', deviceId)}`,
  );
  return row.connected;
}

/** The reasons that lie in a command, by how far it came. */
async function ofCommand(session: Session, row: Row, isConnected: boolean, report: Report): Promise<void> {
  const { status, transactionId } = row;
  const how = {
    queued:
      row.attempts === 0
        ? isConnected
          ? 'it was not published yet: earlier commands of the device, or its subscription, come first'
          : 'it was never published, because the device has not been connected since'
        : `it was published ${row.attempts} times, and the device has not acknowledged it (no PUBACK)`,
    delivered: `the device has it since ${time(row.deliveredAt)} (PUBACK), and has not answered it`,
    processing: `the device works on it, progress ${row.progress ?? 0}%, last word ${time(row.updatedAt)}`,
    succeeded: `the device carried it out at ${time(row.completedAt)}`,
    failed: `it ended at ${time(row.completedAt)} with ${code(row.error?.code)}: ${data(row.error?.message)}`,
    cancelled: `somebody cancelled it, at ${time(row.completedAt)}`,
  }[status];
  report.say(`Command ${transactionId} (${row.operation}) is ${status}: ${how}.`);
  if (row.warning) report.say(`Reason: the firmware of the device is too old for this command (${row.warning.code}).`);
  if (row.expiresAt !== undefined)
    report.say(`It must be delivered until ${time(row.expiresAt)}, else it ends with EXPIRED.`);
  if (row.rolloutId === undefined || row.completedAt !== null) return;
  const { state, reason } = await session.ask<Rollout>('readRollout', { params: { rolloutId: row.rolloutId } });
  const held =
    state === 'paused' ? 'Reason: its rollout is paused, which holds the command back' : 'It is of a rollout';
  report.say(`${held}: ${row.rolloutId}, ${state}${reason === null ? '' : `, ${data(reason, 80)}`}.`);
}

export const whyNoCommand = tool<{ deviceId: string; transactionId?: number }>({
  name: 'why_no_command',
  title: 'Why does a device not get its command?',
  description:
    'Why does this device not get, receive or answer its command? Looks at the device (offline, blocked, not activated), at its waiting and unfinished commands, and at what holds them back: a paused rollout, an old firmware, earlier commands, expiry.',
  properties: {
    deviceId: DEVICE,
    transactionId: { type: 'integer', minimum: 1, description: 'One command; by default all that are unfinished.' },
  },
  required: ['deviceId'],
  async run(session, { deviceId, transactionId }, report) {
    if (transactionId !== undefined) {
      const row = await session.ask<Row>('readOwnTransaction', { params: { transactionId } });
      const isConnected = await ofDevice(session, row.deviceId, report);
      if (row.deviceId !== deviceId) report.say(`The command ${transactionId} is for another device: ${row.deviceId}.`);
      await ofCommand(session, row, isConnected, report);
      return;
    }
    const isConnected = await ofDevice(session, deviceId, report);
    const { transactions } = await session.ask<SchemaTypes['common/transaction-row-list']>('listOwnTransactions', {
      query: { deviceId, unfinished: 'true', limit: 50 },
    });
    if (transactions.length === 0) report.say('It has no unfinished command: each one has ended, or none was sent.');
    const [first, ...others] = transactions;
    if (first) await ofCommand(session, first, isConnected, report);
    const open = transactions.filter(({ status }) => status === 'queued').length;
    if (open > AT_A_TIME)
      report.say(`Reason: ${open} commands wait, and at most ${AT_A_TIME} are published at a time.`);
    if (others.length > 0) report.say(`${others.length} more unfinished commands:`);
    for (const row of others) if (!report.row(`- ${commandLine(row)}`)) break;
  },
});
