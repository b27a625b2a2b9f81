import type { LapelClient } from '@lapel/client/lapel-client';
import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import { readWhole } from '../line/command-line.ts';
import { limitOption, readLimit } from '../line/limit.ts';
import { readTime } from '../line/read-time.ts';
import { UsageError } from '../line/usage-error.ts';
import { type Column, table, timeText } from '../show/table.ts';
import { ENDPOINT, EXAMPLE } from './endpoint-commands.ts';

type Query = NonNullable<Operations['listEndpointDeliveries']['input']['query']>;
type Delivery = Operations['listEndpointDeliveries']['answer']['deliveries'][number];

// The number of deliveries that are listed without --limit.
const FIRST = 20;
/** The service counts no further than this. */
const MOST_COUNTED = 100_000;

const COLUMNS: readonly Column<Delivery>[] = [
  { head: 'SEQUENCE', cell: ({ sequence }) => sequence },
  { head: 'TYPE', cell: ({ type }) => type },
  { head: 'DEVICE', cell: ({ deviceId }) => deviceId },
  { head: 'STATUS', cell: ({ status }) => status, state: true },
  { head: 'WAITS FOR', cell: ({ blockedBy }) => blockedBy },
  { head: 'ATTEMPTS', cell: ({ attempts }) => attempts },
  { head: 'ANSWER', cell: ({ lastStatusCode }) => lastStatusCode },
  { head: 'CREATED', cell: ({ createdAt }) => timeText(createdAt) },
  { head: 'NEXT', cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? null : timeText(nextAttemptAt)) },
  { head: 'ERROR', cell: ({ lastError }) => lastError ?? '', flexible: true },
];

/** The deliveries to an endpoint on all pages. */
async function* each(lapel: LapelClient, endpointId: string, query: Query): AsyncGenerator<Delivery> {
  let before: number | undefined;
  do {
    const page = await lapel.listEndpointDeliveries({
      endpointId,
      query: { ...query, ...(before !== undefined && { before }) },
    });
    yield* page.deliveries;
    before = page.next ?? undefined;
  } while (before !== undefined);
}

const deliveries: Command = {
  name: 'endpoint deliveries',
  arguments: [ENDPOINT],
  summary: 'Lists the deliveries to an endpoint with their states, the newest event first',
  about: `A delivery that is blocked waits for the event of the same device that it names, or until the endpoint is enabled. Events
that the endpoint has not taken from the stream yet are not among them.`,
  options: {
    status: {
      value: 'S',
      choices: ['pending', 'blocked', 'delivered', 'exhausted', 'gone', 'skipped'],
      text: 'only deliveries in this state',
    },
    device: { value: 'ID', text: 'only events of this device' },
    ...limitOption(FIRST),
    ...APPLICATION_OPTIONS,
  },
  examples: [
    `lapel endpoint deliveries ${EXAMPLE}`,
    `lapel endpoint deliveries ${EXAMPLE} --status blocked --device 490154203237518 --limit 0`,
  ],
  async run(given, terminal) {
    const [endpointId = ''] = given.positionals;
    const limit = readLimit(given, FIRST);
    const [status, deviceId] = [given.text('status'), given.text('device')];
    const query: Query = {
      limit: Math.min(limit, 1000),
      ...(status !== undefined && { status: status as Delivery['status'] }),
      ...(deviceId !== undefined && { deviceId }),
    };
    const application = await openApplication(given, terminal);
    const rows = await application.call('list the deliveries', (lapel) => take(each(lapel, endpointId, query), limit));
    return { json: { ok: true, deliveries: rows, total: rows.length }, text: table(COLUMNS, rows, 'There are none.') };
  },
};

const skip: Command = {
  name: 'endpoint skip',
  arguments: [ENDPOINT, { name: 'SEQUENCE' }],
  summary: 'Gives up a delivery that waits, so that the events of its device behind it are sent',
  about: 'A replay sends it all the same.',
  options: APPLICATION_OPTIONS,
  examples: [`lapel endpoint skip ${EXAMPLE} 34021155203117`],
  async run(given, terminal) {
    const [endpointId = '', place = ''] = given.positionals;
    if (!/^\d{1,16}$/.test(place)) throw new UsageError('SEQUENCE', `"${place}" is not a whole number`);
    const sequence = Number(place);
    const application = await openApplication(given, terminal);
    await application.call(`skip ${sequence}`, (lapel) => lapel.skipEndpointDelivery({ endpointId, sequence }));
    return { json: { ok: true, endpointId, sequence }, text: `skipped: ${sequence}\n` };
  },
};

const replay: Command = {
  name: 'endpoint replay',
  arguments: [ENDPOINT],
  summary: 'Sends events of the stream again to an endpoint: after an outage, or because it is new',
  about: `Without --after and --since all events that are kept are sent; without --type those of the types of the endpoint. They
have the same webhook-id as before. They are sent beside new events, at most 200 a second. Times are local date-times, as the
service shows them, or end with Z and are UTC.`,
  options: {
    after: { value: 'N', text: 'begin behind the event with this sequence' },
    since: { value: 'TIME', text: 'events from this time on: 2026-11-20T09:30:00.000000, or a beginning of it' },
    until: { value: 'TIME', text: 'events before this time, in the same form' },
    type: {
      value: 'T',
      many: true,
      text: 'only events of this type; a type with .* at its end stands for all that begin with it',
    },
    device: { value: 'ID', text: 'only events of this device' },
    'dry-run': { text: 'only count the events' },
    ...APPLICATION_OPTIONS,
  },
  examples: [
    `lapel endpoint replay ${EXAMPLE} --since 2026-11-20 --until 2026-11-21T12:00 --dry-run`,
    `lapel endpoint replay ${EXAMPLE} --after 34021155203117`,
  ],
  async run(given, terminal) {
    const [endpointId = ''] = given.positionals;
    const [after, since, until] = [given.text('after'), given.text('since'), given.text('until')];
    if (after !== undefined && since !== undefined) throw new UsageError('--since', 'cannot be combined with --after');
    const [types, deviceId, dryRun] = [given.list('type'), given.text('device'), given.flag('dry-run')];
    const body: Operations['startReplay']['input']['body'] = {
      ...(after !== undefined && { after: readWhole('after', after) }),
      ...(since !== undefined && { since: readTime('since', since) }),
      ...(until !== undefined && { until: readTime('until', until) }),
      ...(types.length > 0 && { types }),
      ...(deviceId !== undefined && { deviceId }),
      ...(dryRun && { dryRun }),
    };
    const application = await openApplication(given, terminal);
    const answer = await application.call('replay events', (lapel) => lapel.startReplay({ endpointId, body }));
    const count = `${answer.events}${answer.events >= MOST_COUNTED ? ' or more' : ''}`;
    const text = dryRun
      ? `events that would be sent again: ${count}\n`
      : `events that are sent again: ${count}; see how far it is with lapel endpoint show ${endpointId}\n`;
    return { json: { ok: true, ...answer }, text };
  },
};

const cancel: Command = {
  name: 'endpoint replay-cancel',
  arguments: [ENDPOINT],
  summary: 'Cancels the replay to an endpoint; what it has taken already is sent',
  options: APPLICATION_OPTIONS,
  examples: [`lapel endpoint replay-cancel ${EXAMPLE}`],
  async run(given, terminal) {
    const [endpointId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    await application.call('cancel the replay', (lapel) => lapel.cancelReplay({ endpointId }));
    return { json: { ok: true, endpointId }, text: `replay cancelled: ${endpointId}\n` };
  },
};

export const SENDING_COMMANDS: readonly Command[] = [deliveries, skip, replay, cancel];
