import { column, date, type Resource } from './admin-resource.ts';

/** The sessions of the console. */
export const SESSION: Resource = {
  resource: 'session',
  columns: [
    column('SESSION', 'sessionId'),
    date('SINCE', 'createdAt'),
    date('USED', 'lastUsedAt'),
    column('FROM', 'address'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Lists the sessions of the console',
      operation: 'listSessions',
      kind: 'list',
      list: 'sessions',
      whole: true,
      examples: ['lapel admin session list'],
    },
    {
      verb: 'end',
      summary: 'Ends a session of the console',
      operation: 'endSession',
      arguments: { SESSION: 'sessionId' },
      done: 'ended',
      examples: ['lapel admin session end session_0199f0a2b3c4d5e6f708192a3b4c5d6e'],
    },
  ],
};
