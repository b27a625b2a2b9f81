import { column, date, flexible, type Resource, SHOWN_ONCE } from './admin-resource.ts';

/** The secrets of an application, of which it can have two while its programs change over. */
export const SECRETS: Resource = {
  resource: 'secret',
  columns: [
    column('SECRET', 'secretId'),
    date('ISSUED', 'createdAt'),
    date('LAST USED', 'lastUsedAt'),
    date('ENDS', 'endsAt'),
    flexible('NAME', 'name'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Lists the valid secrets of an application, not the secrets themselves; times are in UTC',
      operation: 'listSecrets',
      kind: 'list',
      list: 'secrets',
      whole: true,
      arguments: { APPLICATION: 'applicationId' },
      examples: ['lapel admin secret list patrol'],
    },
    {
      verb: 'issue',
      summary: 'Issues another secret; the one of before stays valid until it ends',
      about:
        'Give the new one to each program, look with `lapel admin secret list` when the old one was last used, and end it.',
      operation: 'addSecret',
      arguments: { APPLICATION: 'applicationId' },
      fields: {
        name: { field: 'name', value: 'TEXT', text: 'what the secret is for' },
        'former-ends-at': {
          field: 'formerEndsAt',
          value: 'TIME',
          text: 'when the secret of before ends, in UTC: 2026-12-20T00:00:00Z',
        },
      },
      note: SHOWN_ONCE,
      examples: [
        "lapel admin secret issue patrol --name 'new servers'",
        'lapel admin secret issue patrol --former-ends-at 2026-12-20T00:00:00Z',
      ],
    },
    {
      verb: 'end',
      summary: 'Ends a secret at once, with its access tokens and streams',
      about: 'To replace a secret that somebody has stolen: lapel admin application secret.',
      operation: 'endSecret',
      arguments: { APPLICATION: 'applicationId', SECRET: 'secretId' },
      done: 'ended',
      examples: ['lapel admin secret end patrol Zc7-0aRkWq2nLd_5'],
    },
  ],
};
