import type { Breakage } from '../breakage.ts';

/** Commands that reach a device in another order than that of their transactionIds. */
export const ORDER: readonly Breakage[] = [
  {
    name: 'queue-ordered-by-operation',
    about: 'The commands that wait for a device are sent in the order of their operations.',
    kind: 'order',
    patches: [
      {
        file: 'core/transactions/due-repository.ts',
        search: '   ORDER BY transaction_id LIMIT (? + 0)',
        replacement: '   ORDER BY operation, transaction_id LIMIT (? + 0)',
      },
    ],
    play: 'away',
    figures: ['unordered', 'lost'],
    cause: /command \d+ came after command \d+|got the later command \d+ instead/,
  },
  {
    name: 'new-commands-overtake-the-queue',
    about: 'A new command is sent at once, although older ones still wait for the device.',
    kind: 'order',
    patches: [
      {
        file: 'core/outbox/outbox.ts',
        search: 'if (waits || hasBacklog(connection) || connection.inFlight >= connection.window) {',
        replacement: 'if (connection.inFlight >= connection.window) {',
      },
    ],
    play: 'away',
    figures: ['unordered', 'lost'],
    cause: /command \d+ came after command \d+|got the later command \d+ instead/,
  },
  {
    name: 'installs-are-overtaken',
    about: 'Commands do not wait until the download URL of an earlier install is made.',
    kind: 'order',
    patches: [
      {
        file: 'core/outbox/dispatching.ts',
        search: 'const before = connection.preparing;',
        replacement: 'const before = undefined;',
      },
    ],
    play: 'away',
    figures: ['unordered'],
    cause: /command \d+ came after command \d+/,
  },
];
