import type { Patch } from '../breakages/breakage.ts';

/** A fault that only a meeting of two moments shows: every single step of the service stays right with it. */
export interface Planted {
  readonly name: string;
  /** The moments that have to meet. */
  readonly about: string;
  /** The world, from seed 1 on, that showed it when that was measured; undefined: none that was played did. */
  readonly within?: number;
  readonly patches: readonly Patch[];
}

const OUTBOX = 'core/outbox';
const TRANSACTIONS = 'core/transactions';
const WEBHOOKS = 'core/webhooks';
const ROLLOUTS = 'core/rollouts';

const UNIT_GOES_ON: Patch = {
  file: 'platform/database/sqlite/group-commit.ts',
  search: '      if (!connection.inTransaction) ending ??= { cause };\n',
  replacement: '      void cause;\n',
};

/** Faults to see whether the worlds would find one like them. */
export const PLANTED: readonly Planted[] = [
  {
    name: 'cursor-stays-after-a-rollback',
    about: 'a claim of commands is rolled back, and its commands are passed over',
    within: 5,
    patches: [
      {
        file: `${OUTBOX}/claiming.ts`,
        search: '            Object.assign(connection, before);\n',
        replacement: '',
      },
    ],
  },
  {
    name: 'cancel-lost-in-a-rollback',
    about: 'the claim of a cancel is rolled back, and the cancel is forgotten',
    within: 110,
    patches: [
      {
        file: `${OUTBOX}/claiming.ts`,
        search: '      unit.onRollback(() => connection.cancelled.add(transactionId));\n',
        replacement: '',
      },
    ],
  },
  {
    name: 'room-not-given-back-in-a-rollback',
    about: 'a command cannot be stored, and the room that it had is never free again',
    within: 5,
    patches: [
      {
        file: `${OUTBOX}/outbox.ts`,
        search: '      connection.inFlight -= 1;\n      connection.cursor = before;\n',
        replacement: '      connection.cursor = before;\n',
      },
    ],
  },
  {
    name: 'cancelled-while-it-is-prepared',
    about: 'a command is cancelled while the URL of its download is made, and is sent all the same',
    within: 41,
    patches: [
      {
        file: `${OUTBOX}/dispatching.ts`,
        search: 'const isCancelled = (): boolean => isCommand && !connection.unsent.has(due.transactionId);',
        replacement: 'const isCancelled = (): boolean => false;',
      },
    ],
  },
  {
    name: 'paused-while-it-waits',
    about: 'a rollout is paused between the claim of a command and its turn to be written',
    within: 2,
    patches: [
      {
        file: `${OUTBOX}/dispatching.ts`,
        search: "const isHeld = (): boolean => due.status === 'queued' && parts.held.isHeld(due.rolloutId);",
        replacement: 'const isHeld = (): boolean => false;',
      },
    ],
  },
  {
    name: 'released-commands-stay',
    about: 'a rollout goes on after a pause that a connected device has seen',
    within: 14,
    patches: [
      {
        file: `${OUTBOX}/outbox.ts`,
        search: '          connection.looksForReleased = true;\n          pump(connection);\n        }\n    },',
        replacement: '          pump(connection);\n        }\n    },',
      },
    ],
  },
  {
    name: 'claims-pass-a-pause',
    about: 'a device connects while the rollout of a waiting command is paused',
    within: 14,
    patches: [
      {
        file: `${TRANSACTIONS}/due-repository.ts`,
        search: 'const RELEASED = `(rollout_id IS NULL',
        replacement: 'const RELEASED = `(1 = 1 OR rollout_id IS NULL',
      },
    ],
  },
  {
    name: 'expired-and-still-sent',
    about: 'a device connects after the end of a command, before the command has been ended',
    within: 135,
    patches: [
      {
        file: `${TRANSACTIONS}/due-repository.ts`,
        search: "const IN_TIME = '(ends_at IS NULL OR ends_at > ?)';",
        replacement: "const IN_TIME = '(ends_at IS NULL OR ends_at > ? OR 1 = 1)';",
      },
    ],
  },
  {
    name: 'no-timer-after-a-minute',
    about: 'the end of a command is more than a minute away, which is the longest wait of one timer',
    within: 9,
    patches: [
      {
        file: `${TRANSACTIONS}/expiry.ts`,
        search: '    if (clock.now() < nextAt) arm();\n    else look();\n',
        replacement: '    if (clock.now() >= nextAt) look();\n',
      },
    ],
  },
  {
    name: 'puback-does-not-save-a-command',
    about: 'a command expires while its PUBACK is known in memory only',
    within: 33,
    patches: [
      {
        file: `${TRANSACTIONS}/early-ends.ts`,
        search: "const at = record.status === 'queued' ? marks.take(unit, transactionId) : null;",
        replacement: 'const at = null as number | null;',
      },
    ],
  },
  {
    name: 'late-result-thrown-away',
    about: 'a device answers after the service has ended its command',
    within: 4,
    patches: [
      {
        file: `${TRANSACTIONS}/early-ends.ts`,
        search: "if (!record.endedEarly || record.late !== null || status === 'processing') return;",
        replacement: 'if (record.endedEarly || !record.endedEarly) return;',
      },
    ],
  },
  {
    name: 'withdrawn-although-it-was-sent',
    about: 'a rollout is paused after a command was published, before its PUBACK',
    within: 2,
    patches: [
      {
        file: `${TRANSACTIONS}/early-ends.ts`,
        search: "if (record?.status !== 'queued' || record.attempts > 0) return 'kept';",
        replacement: "if (record?.status !== 'queued') return 'kept';",
      },
    ],
  },
  {
    name: 'marks-lost-in-a-rollback',
    about: 'the times of PUBACKs cannot be stored, and are forgotten',
    within: 5,
    patches: [
      {
        file: `${TRANSACTIONS}/delivery-marks.ts`,
        search: '      for (const [id, entry] of taken) from.set(id, entry); // the first one counts\n',
        replacement: '',
      },
    ],
  },
  {
    name: 'outcomes-lost-in-a-rollback',
    about: 'outcomes of webhooks cannot be stored, and are forgotten',
    within: 5,
    patches: [
      {
        file: `${WEBHOOKS}/outcome-writer.ts`,
        search: '          waiting = [...batch, ...waiting];\n',
        replacement: '',
      },
    ],
  },
  {
    name: 'retry-without-a-timer',
    about: 'a receiver fails, and no other webhook of it comes after that',
    within: 2,
    patches: [
      {
        file: `${WEBHOOKS}/webhooks.ts`,
        search: '    else if (nextAttemptAt !== null) timer.schedule(receiver, nextAttemptAt);\n',
        replacement: '',
      },
    ],
  },
  {
    name: 'new-webhooks-overtake',
    about: 'a new webhook comes while older ones of its receiver wait in the database',
    within: 27,
    patches: [
      {
        file: `${WEBHOOKS}/webhooks.ts`,
        search:
          '    if (receiver.more || roomIn(receiver) <= 0) receiver.more = true;\n    else hold(receiver, delivery);\n',
        replacement: '    if (roomIn(receiver) > 0) hold(receiver, delivery);\n    else receiver.more = false;\n',
      },
    ],
  },
  {
    name: 'late-success-counts-twice',
    about: 'a device of a rollout answers after its command has expired',
    within: 2,
    patches: [
      {
        file: `${ROLLOUTS}/results.ts`,
        search: '    await moveCount(unit, rolloutId, member.stage, member, to);\n',
        replacement:
          "    await moveCount(unit, rolloutId, member.stage, { ...member, state: 'unfinished', code: null }, to);\n",
      },
    ],
  },
  {
    name: 'result-of-a-former-command',
    about: 'a device of a rollout answers a command that the service has ended, and another one replaced',
    within: 8,
    patches: [
      {
        file: `${ROLLOUTS}/results.ts`,
        search: 'return rollout && member?.transactionId === transactionId && states.includes(member.state)',
        replacement: 'return rollout && member && member.transactionId !== -transactionId',
      },
    ],
  },
  {
    name: 'drained-by-a-former-pause',
    about: 'a rollout is cancelled while the commands of its pause are taken back',
    within: 95,
    patches: [
      {
        file: `${ROLLOUTS}/withdrawal.ts`,
        search: 'if (rollout && !rollout.publishes && rollout.entries === entries)',
        replacement: 'if (rollout)',
      },
    ],
  },
  {
    name: 'issued-in-a-pause',
    about: 'a rollout is paused between the choice of its next devices and the commit of their commands',
    within: 119,
    patches: [
      {
        file: `${ROLLOUTS}/issuing.ts`,
        search: "if (!rollout?.publishes || rollout.state !== 'running') throw CHANGED;",
        replacement: 'if (!rollout) throw CHANGED;',
      },
    ],
  },
  {
    name: 'effects-before-the-disk',
    about: 'the service is killed between a commit and the end of its wait for the disk',
    within: 1,
    patches: [
      {
        file: 'platform/database/sqlite/group-commit.ts',
        search: '      await synced;\n',
        replacement: '      void synced;\n',
      },
    ],
  },
  {
    name: 'commit-goes-on-without-its-transaction',
    about: 'the disk is full in the middle of a group, and SQLite ends its transaction',
    within: 6,
    patches: [
      {
        file: 'platform/database/sqlite/group-commit.ts',
        search: '      if (isStorageFault(cause)) throw cause;\n',
        replacement: '',
      },
      {
        file: 'platform/database/sqlite/group-commit.ts',
        search: '      if (!connection.inTransaction)\n',
        replacement: '      if (connection === undefined)\n',
      },
      UNIT_GOES_ON,
    ],
  },
  {
    name: 'unit-goes-on-without-its-transaction',
    about: 'the disk is full while several statements of a unit are on their way, and SQLite ends its transaction',
    within: 42,
    patches: [UNIT_GOES_ON],
  },
  {
    name: 'request-waits-for-a-restart',
    about: 'the answer to a request of a device cannot be stored at once',
    within: 22,
    patches: [
      {
        file: 'core/requests/device-requests.ts',
        search: '        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));\n',
        replacement: '        return;\n',
      },
    ],
  },
  {
    name: 'leap-of-a-new-service-believed',
    about: 'the clock leaps before the first sweep of a service',
    within: 124,
    patches: [
      {
        file: 'runtime/clock-trust.ts',
        search:
          "      await note().catch((err: unknown) => log.warn({ err }, 'the present time could not be stored'));\n",
        replacement: '',
      },
    ],
  },
  {
    name: 'numbers-go-on-after-a-restore',
    about: 'commands are made between a backup and its restore, and others after it',
    within: 25,
    patches: [
      {
        file: 'platform/database/number-floor.ts',
        search: '  return Math.max(last, floor) + (last > floor + FAR_AHEAD_MICROS ? LONG_STEP : STEP);\n',
        replacement: '  return Math.max(last, Math.min(last, floor));\n',
      },
    ],
  },
  {
    name: 'held-webhooks-are-sent',
    about: 'webhooks are due while somebody looks at a restored service',
    within: 30,
    patches: [
      { file: 'core/core.ts', search: '      held: config.webhooksHeld,\n', replacement: '      held: false,\n' },
    ],
  },
  {
    name: 'rollouts-run-on-after-a-restore',
    about: 'a rollout runs while a backup is made, and the service starts on it',
    within: 47,
    patches: [
      {
        file: `${ROLLOUTS}/driver.ts`,
        search: "if (rollout.state === 'running' || rollout.state === 'scheduled') await pauseRestored(rollout);",
        replacement: 'if (rollout.startedAt === -1) await pauseRestored(rollout);',
      },
    ],
  },
];
