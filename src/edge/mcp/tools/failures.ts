import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { readPage, showRows } from '../pages.ts';
import { cursorOf } from '../report.ts';
import { momentOf, time } from '../times.ts';
import { CURSOR, SINCE, TEXT, tool, UNTIL } from '../tool.ts';
import { code, commandLine } from './command-words.ts';

type Row = SchemaTypes['common/transaction-row-list']['transactions'][number];

interface Given {
  since?: string;
  until?: string;
  operation?: string;
  package?: string;
  version?: string;
  errorCode?: string;
}

/** The failures that are read for one count: the newest ones. */
const PAGES = 3;
const ROWS = 500;

const groupOf = ({ error, operation, subject }: Row): string => JSON.stringify([error?.code, operation, subject]);

export const failures = tool<Given>({
  name: 'failures',
  title: 'What failed?',
  description:
    'What failed since when? Counts the failed commands and installations by version and error code, with the number of devices, examples and the last message; narrow it by operation, package, version or error code.',
  properties: {
    since: { ...SINCE, description: `${String(SINCE['description'])} By default 24h.` },
    until: UNTIL,
    operation: TEXT('Operation, such as installSoftware.', 40),
    package: TEXT('Package of the installations.'),
    version: TEXT('Version; needs package.', 128),
    errorCode: TEXT('Error code, such as STORAGE_FULL.', 64),
  },
  async run(session, given, report) {
    const since = momentOf(given.since ?? '24h', session.now());
    const query = {
      ...given,
      status: 'failed',
      since,
      until: momentOf(given.until, session.now(), 'until'),
      limit: ROWS,
    };
    const rows: Row[] = [];
    let next: string | undefined;
    for (let page = 0; page < PAGES && (page === 0 || next !== undefined); page += 1) {
      const cursor = next === undefined ? undefined : cursorOf({ after: next });
      const found = await readPage<Row>(session, 'listOwnTransactions', { list: 'transactions', cursor, query });
      rows.push(...found.rows);
      next = found.next;
    }
    const devices = new Set(rows.map(({ deviceId }) => deviceId)).size;
    report.say(
      `${rows.length} commands failed since ${time(since)}, on ${devices} devices${next === undefined ? '' : '; there are more: these are the newest'}.`,
      `Console: ${session.link('transactions')}?status=failed`,
    );
    const groups = Object.values(Object.groupBy(rows, groupOf)) as Row[][];
    for (const group of groups.sort((one, other) => other.length - one.length)) {
      const [row] = group as [Row];
      const own = [...new Set(group.map(({ deviceId }) => deviceId))];
      const subject = row.subject === null ? '' : ` ${data(row.subject, 100)}`;
      const line = `- ${group.length} x ${code(row.error?.code)} at ${row.operation}${subject}: ${own.length} devices, last ${time(row.completedAt)}, such as ${own.slice(0, 3).join(' ')} (command ${row.transactionId}), message ${data(row.error?.message, 100)}`;
      if (!report.row(line)) break;
    }
  },
});

export const commands = tool<
  Omit<Given, 'until'> & {
    deviceId?: string;
    status?: string;
    rolloutId?: string;
    cursor?: string;
    transactionId?: number;
  }
>({
  name: 'commands',
  title: 'List commands, or look at one',
  description:
    'List the commands (transactions) of a device or of all devices, by status and operation, the newest first; or look at one command with its transactionId: its attempts, times, result, error, and the webhook that reports it.',
  properties: {
    transactionId: { type: 'integer', minimum: 1, description: 'Look at this command.' },
    deviceId: { type: 'string', pattern: '^[0-9]{15}$', description: 'Only of this device.' },
    status: { enum: ['queued', 'delivered', 'processing', 'succeeded', 'failed', 'cancelled'] },
    operation: TEXT('Operation, such as installSoftware.', 40),
    rolloutId: TEXT('Only of this rollout.', 64),
    since: SINCE,
    cursor: CURSOR,
  },
  async run(session, { transactionId, cursor, since, ...query }, report) {
    if (transactionId === undefined) {
      const page = await readPage<Row>(session, 'listOwnTransactions', {
        list: 'transactions',
        cursor,
        query: { ...query, since: momentOf(since, session.now()), limit: 30 },
      });
      if (page.rows.length === 0) report.say('No command is listed.');
      showRows(report, page, commandLine);
      return;
    }
    const row = await session.ask<SchemaTypes['common/transaction-detail']>('readOwnTransaction', {
      params: { transactionId },
    });
    report.say(
      `Command ${commandLine(row)}.`,
      `Published ${time(row.publishedAt)}, delivered ${time(row.deliveredAt)}, last word ${time(row.updatedAt)}.`,
      row.expiresAt !== undefined && `It must be delivered until ${time(row.expiresAt)}.`,
      row.answerBy !== undefined && `It must be answered until ${time(row.answerBy)}.`,
      row.supersededBy !== undefined && `Command ${row.supersededBy} took its place.`,
      row.parameters && `Parameters: ${data(JSON.stringify(row.parameters), 400)}.`,
      row.result && `Result: ${data(JSON.stringify(row.result), 600)}.`,
      row.late && `A late result came ${time(row.late.at)}: ${row.late.status}.`,
      row.webhook &&
        `Its webhook ${row.webhook.deliveryId} is ${row.webhook.status} after ${row.webhook.attempts} attempts.`,
      `Console: ${session.link('transactions', transactionId)}`,
    );
  },
});
