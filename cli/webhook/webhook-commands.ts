import { type Operations, WEBHOOK_SETTINGS } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import { limitOption, readLimit } from '../line/limit.ts';
import { readTime } from '../line/read-time.ts';
import { UsageError } from '../line/usage-error.ts';
import { type Column, recordText, table, timeText } from '../show/table.ts';

export type Delivery = Operations['listDeliveries']['answer']['deliveries'][number];
type Delivered = Operations['readDelivery']['answer'];
type Range = Operations['redeliverRange']['input']['body'];

export type WebhookSetting = (typeof WEBHOOK_SETTINGS)[number];
// The number of deliveries that are listed without --limit.
const FIRST = 20;
const STATUSES = ['pending', 'delivered', 'exhausted', 'gone'];
const STATUS = { value: 'S', choices: STATUSES, text: 'only deliveries in this state' };
const SETTING = { value: 'S', choices: WEBHOOK_SETTINGS, text: 'only deliveries to the URL of this setting' };

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
  summary: 'Lists the deliveries of webhooks with their states, the newest first',
  options: {
    status: STATUS,
    setting: SETTING,
    ...limitOption(FIRST),
    ...APPLICATION_OPTIONS,
  },
  examples: ['lapel webhook deliveries', 'lapel webhook deliveries --status exhausted --limit 0'],
  async run(given, terminal) {
    const limit = readLimit(given, FIRST);
    const [status, setting] = [given.text('status'), given.text('setting')];
    const query = {
      limit: Math.min(limit, 1000),
      ...(status !== undefined && { status }),
      ...(setting !== undefined && { setting }),
    };
    const application = await openApplication(given, terminal);
    const rows = await application.call('list the deliveries', (lapel) =>
      take(lapel.each('listDeliveries', { query }), limit),
    );
    return { json: { ok: true, deliveries: rows, total: rows.length }, text: table(COLUMNS, rows, 'There are none.') };
  },
};

const show: Command = {
  name: 'webhook show',
  arguments: [{ name: 'DELIVERY' }],
  summary: 'Shows a delivery with its body and the results of its failed attempts; times are in UTC',
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
  summary: 'Sends a delivery again, or all undelivered ones of a range of time',
  about: `Without DELIVERY, the command sends all deliveries again that were created from --since (inclusive) to --until
(exclusive) and are exhausted, gone or waiting for another attempt; --status selects another state. Times are local date-times,
as the service shows them, or end with Z and are UTC.`,
  options: {
    since: { value: 'TIME', text: 'from this time on: 2026-11-20T09:30:00.000000, or a beginning of it' },
    until: { value: 'TIME', text: 'before this time, in the same form' },
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
      if (deliveryId !== undefined) throw new UsageError(`--${name}`, 'cannot be combined with a DELIVERY');
      range[name] = name === 'since' || name === 'until' ? readTime(name, text) : text;
    }
    if (deliveryId === undefined && range['since'] === undefined) {
      throw new UsageError('DELIVERY', 'is needed, or --since, to say which webhooks to send again');
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

const test: Command = {
  name: 'webhook test',
  arguments: [{ name: 'SETTING', choices: WEBHOOK_SETTINGS }],
  summary: 'Sends a test event to the URL of a setting',
  options: APPLICATION_OPTIONS,
  examples: ['lapel webhook test deviceEvent'],
  async run(given, terminal) {
    const setting = given.positionals[0] as WebhookSetting;
    const application = await openApplication(given, terminal);
    const { deliveryId } = await application.call('send a test event', (lapel) =>
      lapel.sendTestEvent({ body: { setting } }),
    );
    const text = `sent as ${deliveryId}; see its state with lapel webhook deliveries --limit 1\n`;
    return { json: { ok: true, deliveryId }, text };
  },
};

export const WEBHOOK_COMMANDS: readonly Command[] = [test, deliveries, show, redeliver];
