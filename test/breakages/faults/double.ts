import type { Breakage } from '../breakage.ts';

/** Messages that come twice. */
export const DOUBLE: readonly Breakage[] = [
  {
    name: 'webhook-again-after-2xx',
    about: 'One in ten webhooks is sent again, although the receiver has answered 2xx.',
    kind: 'double',
    patches: [
      {
        file: 'core/webhooks/retry-schedule.ts',
        search: `if (code >= 200 && code < 300) return { status: 'delivered', nextAttemptAt: null };`,
        replacement: `if (code >= 200 && code < 300 && (attempts > 1 || random() > 0.1))
    return { status: 'delivered', nextAttemptAt: null };
  if (code >= 200 && code < 300) return { status: 'pending', nextAttemptAt: nowMicros + 1_000_000 };`,
      },
    ],
    play: 'receiver',
    figures: ['repeated'],
    cause: /webhook \S+ came again after an answer of 2xx/,
  },
  {
    name: 'two-webhooks-for-an-event',
    about: 'An event of a device makes two webhooks.',
    kind: 'double',
    patches: [
      {
        file: 'core/events/device-events.ts',
        search:
          'record(unit, { applicationId, deviceId, setting, type, occurredAt, data, unsent: settings[setting] === null });',
        replacement: `const twice = { applicationId, deviceId, setting, type, occurredAt, data };
    record(unit, twice);
    record(unit, twice);`,
      },
    ],
    play: 'smoke',
    figures: ['eventsDoubled', 'doubled'],
    cause: /event \S+ \(\S+\) arrived with two webhook-ids/,
  },
  {
    name: 'repeated-answer-makes-a-second-result',
    about: 'A device that repeats its answer causes a second webhook with the result.',
    kind: 'double',
    patches: [
      {
        file: 'core/transactions/transaction.ts',
        search: 'return ARROWS[status].includes(event) ? event : null;',
        replacement: 'return ARROWS[status].includes(event) || event === status ? event : null;',
      },
    ],
    play: 'faulty',
    figures: ['doubled'],
    cause: /transaction \d+ has a second result/,
  },
  {
    name: 'answered-commands-stay-due',
    about: 'A device that connects again gets the commands that it has already answered.',
    kind: 'double',
    patches: [
      {
        file: 'core/transactions/settlement.ts',
        search: 'await finishIn(unit, moved, false, settings);',
        replacement: 'await finishIn(unit, moved, true, settings);',
      },
      {
        file: 'core/transactions/due-repository.ts',
        search: "CASE WHEN completed_at IS NULL THEN status ELSE 'cancelled' END AS status",
        replacement: 'status',
      },
    ],
    play: 'away',
    figures: ['doubled'],
    cause: /command \d+ came again, attempt \d+, after its answer was acknowledged/,
  },
  {
    name: 'answered-commands-are-cancelled',
    about: 'A device that connects again gets a cancel for each command that it has already answered.',
    kind: 'double',
    patches: [
      {
        file: 'core/transactions/settlement.ts',
        search: 'await finishIn(unit, moved, false, settings);',
        replacement: 'await finishIn(unit, moved, true, settings);',
      },
    ],
    play: 'away',
    figures: ['violations'],
    cause: /the cancel of command \d+ came, although the command had succeeded/,
  },
  {
    name: 'attempts-not-counted',
    about: 'A command that is sent again has the same attempt number as before.',
    kind: 'double',
    patches: [
      {
        file: 'core/transactions/due-repository.ts',
        search: 'attempts: row.attempts + 1,',
        replacement: 'attempts: Math.max(1, row.attempts),',
      },
    ],
    play: 'away',
    figures: ['violations'],
    cause: /attempt/,
  },
  {
    name: 'cancelled-commands-still-sent',
    about: 'A command that was cancelled before its device came back is sent all the same.',
    kind: 'double',
    patches: [
      {
        file: 'core/transactions/ends.ts',
        search: 'await finishIn(unit, stopped, mayHaveArrived);',
        replacement: 'await finishIn(unit, stopped, true);',
      },
      {
        file: 'core/outbox/dispatching.ts',
        search: `operation: due.status === 'cancelled' ? 'cancel' : due.operation,`,
        replacement: `operation: due.status === 'cancelled' && due.attempts > 1 ? 'cancel' : due.operation,`,
      },
      {
        file: 'core/transactions/transaction-repository.ts',
        search: 'parameters = CASE WHEN CAST(? AS BIGINT) IS NULL THEN parameters END',
        replacement: 'parameters = CASE WHEN CAST(? AS BIGINT) IS NULL THEN parameters ELSE parameters END',
      },
      {
        file: 'core/outbox/dispatching.ts',
        search: `parameters: due.status === 'cancelled' ? {} : due.parameters,`,
        replacement: `parameters: due.status === 'cancelled' && due.attempts > 1 ? {} : due.parameters,`,
      },
    ],
    play: 'away',
    figures: ['doubled', 'violations', 'wrong'],
    cause: /command \d+ came .*although it was cancelled/,
  },
  {
    name: 'new-issue-time-at-each-attempt',
    about: 'A command that is sent again has a new issuedAt, so the device takes it for another command.',
    kind: 'double',
    patches: [
      {
        file: 'core/outbox/dispatching.ts',
        search: 'issuedAt: toUtc(due.createdAt),',
        replacement: 'issuedAt: toUtc(Date.now() * 1000),',
      },
    ],
    play: 'away',
    figures: ['violations', 'doubled', 'wrong', 'reused'],
    cause: /command \d+|transactionId \d+/,
  },
];
