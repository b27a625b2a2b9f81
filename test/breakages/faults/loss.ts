import type { Breakage } from '../breakage.ts';

/** Commands, results and events that are lost without a crash. */
export const LOSS: readonly Breakage[] = [
  {
    name: 'last-of-the-queue-forgotten',
    about: 'The last of the commands that wait for a device is not sent when it connects.',
    kind: 'loss',
    patches: [
      {
        file: 'core/transactions/due-repository.ts',
        search: 'const rows = await unit.all<DueRow>(FIND_DUE, deviceId, after, now, limit);',
        replacement: `const rows = await unit.all<DueRow>(FIND_DUE, deviceId, after, now, limit);
  if (rows.length > 1 && rows.length < limit) rows.pop();`,
      },
    ],
    play: 'away',
    figures: ['lost', 'unordered'],
    cause: /got the later command \d+ instead|has not got the command|came after command/,
  },
  {
    name: 'webhooks-not-retried',
    about: 'A webhook that the receiver answers with 5xx is given up after the first attempt.',
    kind: 'loss',
    patches: [
      {
        file: 'core/webhooks/retry-schedule.ts',
        search: `if (code === 410) return { status: 'gone', nextAttemptAt: null };`,
        replacement: `if (code === 410 || code >= 500) return { status: 'gone', nextAttemptAt: null };`,
      },
    ],
    play: 'receiver',
    figures: ['lost'],
    cause: /the service says "succeeded", but no webhook arrived/,
  },
  {
    name: 'second-event-of-a-turn-lost',
    about: 'Of two events that are stored in one turn of the event loop, the second one makes no webhook.',
    kind: 'loss',
    patches: [
      {
        file: 'core/events/device-events.ts',
        search: 'if (await isRepetition(unit, event, receivedAt)) return;',
        replacement: `if (await isRepetition(unit, event, receivedAt)) return;
          if (isBusy) return;
          isBusy = true;
          setImmediate(() => (isBusy = false));`,
      },
      {
        file: 'core/events/device-events.ts',
        search: 'export type DeviceEvents = ReturnType<typeof createDeviceEvents>;',
        replacement: `let isBusy = false;
export type DeviceEvents = ReturnType<typeof createDeviceEvents>;`,
      },
    ],
    play: 'load',
    figures: ['eventsLost'],
    cause: /event \S+ \(\S+\) was acknowledged, and no webhook arrived/,
  },
];
