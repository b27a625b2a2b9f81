import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { readPage, showRows } from '../pages.ts';
import { momentOf, time } from '../times.ts';
import { CURSOR, SINCE, tool, UNTIL } from '../tool.ts';

type Row = SchemaTypes['rest/own-audit-list']['entries'][number];

/** An entry of the audit log. Its sentence has names that people have given. */
export const entryLine = ({
  at,
  sentence,
  status,
  details,
  address,
}: Pick<Row, 'at' | 'sentence' | 'status' | 'details' | 'address'>): string =>
  [
    `- ${time(at)} ${data(sentence, 200)}`,
    status !== null && status >= 400 ? `refused with ${status}` : undefined,
    details && `details ${data(JSON.stringify(details), 260)}`,
    address !== null && `from ${data(address, 45)}`,
  ]
    .filter(Boolean)
    .join(', ');

export const changes = tool<{ since?: string; until?: string; cursor?: string }>({
  name: 'changes',
  title: 'What changed, and who did it?',
  description:
    'What changed, when, and who did it? The audit log of the application, the newest first: settings, keys, packages, rollouts, tags, what administration did, what assistants did for whom, and refused requests.',
  properties: { since: SINCE, until: UNTIL, cursor: CURSOR },
  async run(session, { since, until, cursor }, report) {
    const query = { since: momentOf(since, session.now()), until: momentOf(until, session.now(), 'until'), limit: 25 };
    const page = await readPage<Row>(session, 'listOwnAudit', { list: 'entries', cursor, query });
    if (page.rows.length === 0) report.say('No change is recorded in this time.');
    showRows(report, page, entryLine);
  },
});
