import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import { limitOption, readLimit } from '../line/limit.ts';
import { type Column, table, timeText } from '../show/table.ts';

type Change = Operations['listOwnAudit']['answer']['entries'][number];
// The number of changes that are listed without --limit.
const FIRST_CHANGES = 20;

const CHANGES: readonly Column<Change>[] = [
  { head: 'TIME', cell: ({ at }) => timeText(at) },
  { head: 'WHO', cell: ({ by }) => by },
  { head: 'WHAT', cell: ({ action, resource }) => `${action.split(' ')[0]} ${resource}`, flexible: true },
  { head: 'FROM', cell: ({ address }) => address },
  { head: 'STATUS', cell: ({ status }) => status },
  { head: 'REQUEST', cell: ({ requestId }) => requestId },
];

/** The audit log of an application. */
export const settingsHistory: Command = {
  name: 'settings history',
  summary: 'Lists who changed what in the application, the newest first; times are in UTC',
  about:
    'The audit log of the application: its settings, keys, packages, versions, distributions and rollouts, reads of its key, and requests with a wrong secret. Commands to devices are transactions instead.',
  options: {
    since: { value: 'TIME', text: 'only changes from this time on, in UTC: 2026-11-20T08:30:00Z' },
    until: { value: 'TIME', text: 'only changes before this time' },
    ...limitOption(FIRST_CHANGES),
    ...APPLICATION_OPTIONS,
  },
  examples: ['lapel settings history', 'lapel settings history --since 2026-11-20T00:00:00Z --limit 0 --json'],
  async run(given, terminal) {
    const limit = readLimit(given, FIRST_CHANGES);
    const [since, until] = [given.text('since'), given.text('until')];
    const query = {
      limit: Math.min(limit, 1000),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
    };
    const application = await openApplication(given, terminal);
    const rows = await application.call('list the changes', (lapel) =>
      take(lapel.each('listOwnAudit', { query }), limit),
    );
    return { json: { ok: true, entries: rows, total: rows.length }, text: table(CHANGES, rows, 'There are none.') };
  },
};
