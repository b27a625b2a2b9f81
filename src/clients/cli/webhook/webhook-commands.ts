import type { Operations } from '../../client/operations.ts';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import { readWhole } from '../line/command-line.ts';
import { UsageError } from '../line/usage-error.ts';
import { type Column, recordText, table, timeText } from '../show/table.ts';

export type Delivery = Operations['listDeliveries']['answer']['deliveries'][number];
type Delivered = Operations['readDelivery']['answer'];
type Range = Operations['redeliverRange']['input']['body'];

/** The settings that events go to. */
export const EVENT_SETTINGS = ['deviceEvent', 'callEvent', 'callFileSendEvent', 'fileUploadEvent'] as const;
export type EventSetting = (typeof EVENT_SETTINGS)[number];
const STATUSES = ['pending', 'delivered', 'exhausted', 'gone'];
const STATUS = { value: 'S', choices: STATUSES, text: 'those in this state only' };
const SETTING = { value: 'S', choices: EVENT_SETTINGS, text: 'those to this setting only' };

const COLUMNS: readonly Column<Delivery>[] = [
  { head: 'DELIVERY', cell: ({ deliveryId }) => deliveryId },
  { head: 'TYPE', cell: ({ type }) => type },
  { head: 'STATUS', cell: ({ status }) => status, state: true },
  { head: 'ATTEMPTS', cell: ({ attempts }) => attempts },
  { head: 'ANSWER', cell: ({ lastStatusCode }) => lastStatusCode },
  { head: 'CREATED', cell: ({ createdAt }) => timeText(createdAt) },
  { head: 'NEXT', cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? null : timeText(nextAttemptAt)) },
  { head: 'URL', cell: ({ url }) => url, flexible: true },
  { head: 'ERROR', cell: ({ lastError }) => lastError ?? '', flexible: true },
];

const ATTEMPTS: readonly Column<Delivered['failedAttempts'][number]>[] = [
  { head: 'FAILED', cell: ({ attempt }) => attempt },
  { head: 'AT', cell: ({ at }) => timeText(at) },
  { head: 'MS', cell: ({ durationMs }) => durationMs },
  { head: 'ERROR', cell: ({ error }) => error ?? '', flexible: true },
  { head: 'ANSWER', cell: ({ answer }) => answer ?? '', flexible: true },
];

const deliveries: Command = {
  name: 'webhook deliveries',
  summary: 'What became of each webhook, newest first',
  options: {
    status: STATUS,
    setting: SETTING,
    limit: { value: 'N', text: 'no more rows than that (20; 0: all)' },
    ...APPLICATION_OPTIONS,
  },
  examples: ['lapel webhook deliveries', 'lapel webhook deliveries --status exhausted --limit 0'],
  async run(given, terminal) {
    const limit = readWhole('limit', given.text('limit') ?? '20') || undefined;
    const [status, setting] = [given.text('status'), given.text('setting')];
    const query = {
      limit: Math.min(limit ?? 1000, 1000),
      ...(status !== undefined && { status }),
      ...(setting !== undefined && { setting }),
    };
    const application = await openApplication(given, terminal);
    const rows = await application.call('list the deliveries', (lapel) =>
      take(lapel.each('listDeliveries', { query }), limit),
    );
    return { json: { ok: true, deliveries: rows, total: rows.length }, text: table(COLUMNS, rows, 'There is none.') };
  },
};

const show: Command = {
  name: 'webhook show',
  arguments: [{ name: 'DELIVERY' }],
  summary: 'One webhook: what is sent, and what came of its failed attempts; times are in UTC',
  options: APPLICATION_OPTIONS,
  examples: ['lapel webhook show msg_01a1febf1ef712cc23793580c1b6dbbc'],
  async run(given, terminal) {
    const deliveryId = given.positionals[0] ?? '';
    const application = await openApplication(given, terminal);
    const delivery = await application.call(`show ${deliveryId}`, (lapel) => lapel.readDelivery({ deliveryId }));
    const { failedAttempts, ...record } = delivery;
    const attempts = table(ATTEMPTS, failedAttempts, 'No attempt failed.');
    return { json: { ok: true, ...delivery }, text: (look) => `${recordText(record)(look)}\n${attempts(look)}` };
  },
};

const redeliver: Command = {
  name: 'webhook redeliver',
  arguments: [{ name: 'DELIVERY', optional: true }],
  summary: 'Sends a webhook again; or all that were not delivered, in a range of time',
  about: `Without DELIVERY: all that were made from --since (inclusive) to --until (exclusive), local date-times as the service
shows them, and that are exhausted, gone or wait for another attempt, unless --status says otherwise.`,
  options: {
    since: { value: 'TIME', text: '2026-11-20T09:30:00.000000, or a beginning of it' },
    until: { value: 'TIME', text: 'the same' },
    status: STATUS,
    setting: SETTING,
    ...APPLICATION_OPTIONS,
  },
  examples: [
    'lapel webhook redeliver msg_01a1febf1ef712cc23793580c1b6dbbc',
    'lapel webhook redeliver --since 2026-11-20 --until 2026-11-21T12:00',
  ],
  async run(given, terminal) {
    const [deliveryId] = given.positionals;
    const range: Record<string, string> = {};
    for (const name of ['since', 'until', 'status', 'setting']) {
      const text = given.text(name);
      if (text === undefined) continue;
      if (deliveryId !== undefined) throw new UsageError(`--${name}`, 'makes no sense with a DELIVERY');
      range[name] = name === 'since' || name === 'until' ? readTime(name, text) : text;
    }
    if (deliveryId === undefined && range['since'] === undefined) {
      throw new UsageError('DELIVERY', 'is needed, or --since: which webhooks to send again');
    }
    const application = await openApplication(given, terminal);
    if (deliveryId !== undefined) {
      await application.call(`redeliver ${deliveryId}`, (lapel) => lapel.redeliver({ deliveryId }));
      return { json: { ok: true, deliveryId }, text: `sent again: ${deliveryId}\n` };
    }
    const { redelivered } = await application.call('redeliver', (lapel) =>
      lapel.redeliverRange({ body: range as Range }),
    );
    return { json: { ok: true, redelivered }, text: `sent again: ${redelivered}\n` };
  },
};

const FULL_TIME = '0000-01-01T00:00:00.000000';
/** A local date-time, or its beginning: filled up with noughts. */
function readTime(option: string, text: string): string {
  const full = text.replace(' ', 'T') + FULL_TIME.slice(text.length);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/.test(full)) return full;
  throw new UsageError(`--${option}`, `"${text}" is no time such as 2026-11-20 or 2026-11-20T09:30`);
}

const test: Command = {
  name: 'webhook test',
  arguments: [{ name: 'SETTING', choices: EVENT_SETTINGS }],
  summary: 'Sends a test event to the URL of a setting',
  options: APPLICATION_OPTIONS,
  examples: ['lapel webhook test deviceEvent'],
  async run(given, terminal) {
    const setting = given.positionals[0] as EventSetting;
    const application = await openApplication(given, terminal);
    const { deliveryId } = await application.call('send a test event', (lapel) =>
      lapel.sendTestEvent({ body: { setting } }),
    );
    const text = `sent as ${deliveryId}; what becomes of it: lapel webhook deliveries --limit 1\n`;
    return { json: { ok: true, deliveryId }, text };
  },
};

export const WEBHOOK_COMMANDS: readonly Command[] = [test, deliveries, show, redeliver];
