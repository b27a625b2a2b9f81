import type { Breakage } from '../breakage.ts';

/** Memory that is never given back, and parts that disturb one another. */
export const WHOLE_SERVICE: readonly Breakage[] = [
  {
    name: 'memory-kept-for-each-command',
    about: 'Each command leaves half a megabyte in the memory of the service.',
    kind: 'leak',
    patches: [
      {
        file: 'core/transactions/submission.ts',
        search: 'demand.add();',
        replacement: `demand.add();
    kept.push(Buffer.alloc(500_000, 1));`,
      },
      {
        file: 'core/transactions/submission.ts',
        search: 'type Installing = ',
        replacement: `const kept = [];
type Installing = `,
      },
    ],
    play: 'load',
    figures: ['memory'],
    cause: /the memory of the service has grown/,
    isOfDevice: false,
  },
  {
    name: 'one-window-for-all-devices',
    about: 'All devices together, and not each of them, may have 16 commands in flight.',
    kind: 'isolation',
    patches: [
      {
        file: 'core/outbox/outbox.ts',
        search: 'if (waits || hasBacklog(connection) || connection.inFlight >= connection.window) {',
        replacement: 'if (waits || hasBacklog(connection) || inFlightOfAll() >= window) {',
      },
      {
        file: 'core/outbox/outbox.ts',
        search: '    if (connection.inFlight >= connection.window) {\n      metrics',
        replacement:
          '    if (inFlightOfAll() >= window) {\n      clock.after(50, () => pump(connection));\n      metrics',
      },
      {
        file: 'core/outbox/outbox.ts',
        search: 'let stopped = false;',
        replacement: `let stopped = false;
  const inFlightOfAll = () => [...connections.values()].reduce((sum, { inFlight }) => sum + inFlight, 0);`,
      },
    ],
    play: 'slow-readers',
    figures: ['p99', 'lost'],
    cause: /device {4}gets command \d+|has not got the command/,
  },
  {
    name: 'hanging-receiver-blocks-others',
    about: 'All receivers together, and not each of them, may have four webhooks in progress.',
    kind: 'isolation',
    patches: [
      {
        file: 'core/webhooks/webhooks.ts',
        search: 'while (receiver.queue.length > 0 && hasRoom(receiver) && slots.mayTake(receiver)) {',
        replacement: `if (underWay >= 4) clock.after(100, () => pump(receiver));
    while (receiver.queue.length > 0 && underWay < 4 && slots.mayTake(receiver)) {`,
      },
    ],
    play: 'neighbour',
    figures: ['p99', 'late', 'lost'],
    cause: /gets the result of transaction \d+|no webhook arrived/,
  },
];
