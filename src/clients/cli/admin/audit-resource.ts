import { column, date, type Resource } from './admin-resource.ts';

const whoOf = ({ kind, name }: { kind: string; name: string | null }): string =>
  name === null ? kind : `${kind} ${name}`;

/** Who changed what. */
export const AUDIT: Resource = {
  resource: 'audit',
  columns: [
    date('TIME', 'at'),
    { head: 'WHO', cell: ({ actor }) => whoOf(actor as Parameters<typeof whoOf>[0]) },
    { head: 'WHAT', cell: ({ action, resource }) => `${String(action).split(' ')[0]} ${String(resource)}` },
    column('STATUS', 'status'),
    column('REQUEST', 'requestId'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Who changed what, the newest first; times are in UTC',
      about:
        'Every change through administration, and what applications change of their own things. Commands to devices are transactions, and not among them. Entries are kept for 400 days.',
      method: 'GET',
      path: '/admin/v1/audit',
      kind: 'list',
      list: 'entries',
      first: 100,
      query: {
        since: { parameter: 'since', value: 'TIME', text: 'from this moment on, in UTC: 2026-11-20T08:30:00Z' },
        until: { parameter: 'until', value: 'TIME', text: 'before this moment' },
        actor: {
          parameter: 'actor',
          value: 'WHO',
          text: 'session, token, command line, application, service; or a name',
        },
        resource: { parameter: 'resource', value: 'PATH', text: 'what the path begins with' },
      },
      examples: [
        'lapel admin audit list',
        'lapel admin audit list --resource /admin/v1/devices --since 2026-11-20T00:00:00Z --json',
      ],
    },
  ],
};
