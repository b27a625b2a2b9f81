import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { a, button, type Child, div, p, small, span, use, type VNode } from '../base/elements.ts';
import { counted, duration } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { operationName } from '../base/operation-names.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, type Page, readPage } from '../base/requests.ts';
import type { StoryEntry } from '../base/rows.ts';
import { useWatch } from '../base/watching.ts';
import { ACTION_NAMES, actionDeviceBadge, codeWords } from '../parts/action-rows.ts';
import { deliveryBadge, transactionBadge } from '../parts/badges.ts';
import { answerOf, authorOf, whatChanged } from '../parts/changes.ts';
import { act } from '../parts/dialog.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { asked, filterBar, sinceFilter } from '../parts/filters.ts';
import { loaded } from '../parts/loaded.ts';
import { badge, card, empty, gapOf, id, moment, said, type Tone } from '../parts/show.ts';
import { type Column, rowsTable } from '../parts/table.ts';

const LIMIT = 50;

type Connection = NonNullable<StoryEntry['connection']>;

const ENDS: Readonly<Record<string, string>> = {
  disconnected: 'the device disconnected',
  keep_alive: 'the device was silent for longer than its keep-alive',
  lost: 'the network connection ended',
  protocol: 'a packet of the device broke the protocol',
  replaced: 'the device connected once more',
  revoked: 'the service ended it: somebody closed it, or the device may no longer connect',
  elsewhere: 'the device connected to another node, was moved there, or may no longer connect',
  contested: 'the device connected once more, as it did again and again: two devices may be using its identity',
  node_stopped: 'the service stopped',
  node_lost: 'the process of the service was killed, or its machine was lost',
};
const REFUSALS: Readonly<Record<string, string>> = {
  credentials: 'wrong credential',
  certificate: 'the certificate is not the one of the device',
  blocked: 'the device is blocked',
  will: 'its will is for a topic that is not its own',
  protocol_version: 'it speaks another version of MQTT than 3.1 and 3.1.1',
};

/** The ends of connections that are nobody's fault. */
const USUAL = new Set(['disconnected', 'replaced', 'elsewhere', 'node_stopped']);

const toneOf = ({ kind, connection }: StoryEntry): Tone => {
  if (kind === 'connected') return 'good';
  if (kind === 'refused') return 'bad';
  if (kind === 'ended') return USUAL.has(connection?.reason ?? '') ? '' : 'warn';
  return kind === 'command' ? 'calm' : '';
};

function aboutConnection({ kind }: StoryEntry, connection: Connection, at: string): Child {
  const { reason, detail, since, address, transport, count, lastAt } = connection;
  const words = (kind === 'refused' ? REFUSALS : ENDS)[reason ?? ''] ?? reason;
  return div(
    null,
    kind === 'connected' ? span(null, 'from ', id(address ?? ''), ' ', said(transport)) : said(words),
    since === null ? null : small(null, `after ${gapOf(since, at) ?? ''}`),
    detail === null ? null : small(null, said(detail)),
    kind === 'refused' ? small(null, 'from ', id(address ?? ''), ' ', said(transport)) : null,
    count === 1
      ? null
      : small({ class: 'fault' }, `${counted(count, 'time')} until `, moment(lastAt), ', of which this is the first'),
  );
}

/** The stages of a command that it has reached, with the time that each took. */
function stages({
  createdAt,
  publishedAt,
  deliveredAt,
  completedAt,
  status,
}: NonNullable<StoryEntry['command']>): string {
  const after = (at: string | null, word: string): string[] =>
    at === null ? [] : [`${word} after ${duration(Math.max(0, Date.parse(at) - Date.parse(createdAt)))}`];
  const reached = [
    ...after(publishedAt, 'published'),
    ...after(deliveredAt, 'received'),
    ...after(completedAt, status === 'cancelled' ? 'cancelled' : 'answered'),
  ];
  return reached.length === 0 ? 'not published yet' : reached.join(', ');
}

function aboutCommand(command: NonNullable<StoryEntry['command']>): Child {
  const { transactionId, operation: name, subject, status, progress, error, warning } = command;
  return div(
    null,
    a({ href: addressOf(['transactions', transactionId]) }, operationName(name)),
    ' ',
    transactionBadge(status, progress),
    subject === null ? null : small(null, said(subject)),
    small(null, stages(command)),
    error === null ? null : small({ class: 'fault' }, said(`${error.code}: ${error.message}`)),
    warning === null ? null : small({ class: 'fault' }, said(warning.message)),
  );
}

function aboutEvent({ applicationId, deliveryId, type, status }: NonNullable<StoryEntry['event']>): Child {
  return div(
    null,
    a({ href: addressOf(['webhooks', applicationId, deliveryId]) }, said(type)),
    ' ',
    deliveryBadge(status),
  );
}

function aboutAction({ actionId, action, state, code }: NonNullable<StoryEntry['action']>): Child {
  return div(
    null,
    a({ href: addressOf(['device-actions', actionId]) }, ACTION_NAMES[action]),
    ' ',
    actionDeviceBadge(state),
    code === null ? null : small(null, codeWords(code)),
  );
}

function what(entry: StoryEntry): Child {
  if (entry.connection) return aboutConnection(entry, entry.connection, entry.at);
  if (entry.command) return aboutCommand(entry.command);
  if (entry.event) return aboutEvent(entry.event);
  if (entry.action) return aboutAction(entry.action);
  return entry.change
    ? div(null, whatChanged(entry.change), small(null, 'by ', authorOf(entry.change)), answerOf(entry.change))
    : null;
}

const COLUMNS: Column<StoryEntry>[] = [
  { name: 'When', kind: 'short', cell: ({ at }) => moment(at) },
  { name: 'What', kind: 'short', cell: (entry) => badge(toneOf(entry), entry.kind) },
  { name: 'Details', kind: 'lead', cell: what },
];

/** Identifies an entry in the list, where several may have the same time. */
const keyOf = ({ at, kind, command, event, change, action, connection }: StoryEntry): string =>
  [kind, at, command?.transactionId, event?.deliveryId, change?.auditId, action?.actionId, connection?.since].join(' ');

/** Puts newer entries before older ones; those that are in both come once, as they are now. */
function joined(newer: readonly StoryEntry[], older: readonly StoryEntry[]): StoryEntry[] {
  const known = new Set(newer.map(keyOf));
  return [...newer, ...older.filter((entry) => !known.has(keyOf(entry)))];
}

function DeviceStory({ deviceId }: { deviceId: string }) {
  const query = asked(['since', 'until']);
  const key = `${deviceId} ${JSON.stringify(query)}`;
  const get = (signal: AbortSignal, after?: string): Promise<Page<StoryEntry>> =>
    readPage<StoryEntry>(operation('readDeviceStory', { deviceId }), 'entries', {
      query: { ...query, after, limit: LIMIT },
      signal,
    });
  const first = useLoad(`story ${key}`, (signal) => get(signal), { every: 15_000 });
  /** All entries from the first page on, once older ones were asked for; null before that. */
  const all = useSignal<{ key: string; rows: StoryEntry[]; next: string | null } | null>(null);
  const isReading = useSignal(false);
  useWatch('transactions', ({ value }, isFirst) => {
    if (!isFirst && (value as { deviceId?: string }).deviceId === deviceId) first.again();
  });
  useWatch(`devices:${encodeURIComponent(deviceId)}`, (_, isFirst) => {
    if (!isFirst) first.again();
  });
  const whole = all.value?.key === key ? all.value : null;
  const { value: newest } = first.state.value;
  // The first page moves on with time, and what leaves it stays in the list. When it has moved on by more than its
  // length, entries in between are missing, and the list begins anew.
  useEffect(() => {
    const kept = all.peek();
    if (!newest || kept?.key !== key) return;
    const known = new Set(kept.rows.map(keyOf));
    const meets = newest.next === null || newest.rows.some((entry) => known.has(keyOf(entry)));
    all.value = meets ? { ...kept, rows: joined(newest.rows, kept.rows) } : null;
  }, [newest]);
  const readOlder = (from: Page<StoryEntry>): void =>
    act(async () => {
      isReading.value = true;
      try {
        const { rows, next } = await get(AbortSignal.timeout(60_000), from.next!);
        all.value = { key, rows: joined(all.peek()?.key === key ? all.peek()!.rows : from.rows, rows), next };
      } finally {
        isReading.value = false;
      }
      return undefined;
    });
  return card(
    {
      title: 'Story',
      bare: true,
      side: span(
        { class: 'row small' },
        a({ href: addressOf(['rollouts'], { deviceId }) }, 'Its rollouts'),
        a({ href: addressOf(['transactions'], { deviceId }) }, 'All transactions'),
        csvButton<StoryEntry>({
          name: `story-${deviceId}`,
          columns: ['at', 'kind', 'connection', 'command', 'event', 'change', 'action'],
          page: (after, signal) =>
            readPage(operation('readDeviceStory', { deviceId }), 'entries', {
              query: { ...query, after, limit: EXPORT_LIMIT },
              signal,
            }),
        }),
      ),
    },
    div({ class: 'pad' }, filterBar([sinceFilter()])),
    loaded(
      first,
      (page) => {
        const from = whole ?? page;
        const { rows, next } = from;
        if (rows.length === 0 && next === null)
          return empty({
            title: 'Nothing has happened',
            text:
              place.value.query['since'] === undefined
                ? 'Connections, refused logins, commands, events and changes of the device are shown here.'
                : 'Nothing has happened since this time.',
          });
        return [
          rowsTable({ label: 'Story', columns: COLUMNS, rows, keyOf }),
          next === null
            ? p({ class: 'pad quiet small' }, 'Nothing older is recorded.')
            : div(
                { class: 'pad' },
                button(
                  { type: 'button', disabled: isReading.value, onClick: () => readOlder(from) },
                  'Show older entries',
                ),
              ),
        ];
      },
      { lines: 8 },
    ),
  );
}

/** The story of a device: connections and why they ended, refused logins, commands, events, and changes by people. */
export const deviceStory = (deviceId: string): VNode => use(DeviceStory, { deviceId, key: deviceId });
