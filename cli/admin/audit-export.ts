import { ADMIN_OPERATIONS } from '@lapel/client/admin-operations';
import { ADMIN_OPTIONS, openAdministration } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { jsonText } from '../show/json-text.ts';

const PAGE = 1000;

/** Writes the audit log as lines of JSON. Each page is asked for when the one before it was written. */
export const auditExport: Command = {
  name: 'admin audit export',
  summary: 'Writes the audit log to standard output, the newest entry first, each as a line of JSON',
  options: {
    since: { value: 'TIME', text: 'only changes from this time on, in UTC: 2026-11-20T08:30:00Z' },
    until: { value: 'TIME', text: 'only changes before this time' },
    ...ADMIN_OPTIONS,
  },
  examples: ['lapel admin audit export --since 2026-11-01T00:00:00Z > audit.ndjson'],
  async run(given, terminal) {
    const administration = await openAdministration(given, terminal);
    let query: Record<string, string | number | undefined> | undefined = {
      since: given.text('since'),
      until: given.text('until'),
      limit: PAGE,
    };
    while (query) {
      const page = await administration.page('export the audit log', { ...ADMIN_OPERATIONS.listAudit, query });
      const { entries } = page.body as { entries: object[] };
      terminal.stdout.write(entries.map((entry) => `${jsonText(entry)}\n`).join(''));
      query = page.next && { ...page.next, limit: PAGE };
    }
    return { json: undefined, text: '' };
  },
};
