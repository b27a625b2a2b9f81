import { column, date, type Resource } from './admin-resource.ts';
import { faultOf, type Verification, verificationText } from './audit-verification.ts';

const whoOf = ({
  kind,
  name,
  displayName,
}: {
  kind: string;
  name: string | null;
  displayName: string | null;
}): string => [kind, name, displayName === null ? null : `(${displayName})`].filter((part) => part !== null).join(' ');

/** The audit log. */
export const AUDIT: Resource = {
  resource: 'audit',
  columns: [
    date('TIME', 'at'),
    { head: 'WHAT', cell: ({ sentence }) => String(sentence), flexible: true },
    { head: 'HOW', cell: ({ actor }) => whoOf(actor as Parameters<typeof whoOf>[0]) },
    column('FROM', 'address'),
    column('STATUS', 'status'),
    column('REQUEST', 'requestId'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Lists who changed what, the newest first; times are in UTC',
      about:
        'The audit log has every change through administration, and the changes that applications make to their settings, keys, packages, versions and distributions. Commands to devices are recorded as transactions instead. Entries are kept for 400 days, or as long as LAPEL_AUDIT_RETENTION_DAYS of the service says.',
      operation: 'listAudit',
      kind: 'list',
      list: 'entries',
      first: 100,
      query: {
        since: {
          parameter: 'since',
          value: 'TIME',
          text: 'only changes from this time on, in UTC: 2026-11-20T08:30:00Z',
        },
        until: { parameter: 'until', value: 'TIME', text: 'only changes before this time' },
        actor: {
          parameter: 'actor',
          value: 'WHO',
          text: 'only changes by this kind of caller (session, token, command line, application, service, machine), or by this person or name',
        },
        about: {
          parameter: 'about',
          value: 'KIND:ID',
          text: 'only changes of one device, developer, application, package, rollout or person, as device:490154203237518',
        },
        resource: { parameter: 'resource', value: 'PATH', text: 'only changes of paths that contain this' },
      },
      examples: [
        'lapel admin audit list',
        'lapel admin audit list --about device:490154203237518',
        'lapel admin audit list --resource /admin/v1/devices --since 2026-11-20T00:00:00Z --json',
      ],
    },
    {
      verb: 'verify',
      summary: 'Checks that no entry of the audit log was changed, removed or inserted',
      about:
        'Each complete entry has the hash of itself and of the entry before it. Note the end of the chain elsewhere, and give it to a later check: then nobody can have written the whole chain anew.',
      operation: 'verifyAudit',
      query: {
        position: { parameter: 'position', value: 'N', text: 'the position of an end that was noted', needs: 'hash' },
        hash: { parameter: 'hash', value: 'HASH', text: 'the hash of that end', needs: 'position' },
      },
      show: (found) => verificationText(found as unknown as Verification),
      fails: (found) => faultOf(found as unknown as Verification),
      examples: ['lapel admin audit verify', `lapel admin audit verify --position 1245 --hash ${'9f86d081'.repeat(8)}`],
    },
  ],
};
