import type { Breakage } from '../breakage.ts';

/** Messages at the wrong time, and a service that is slower than it should be or fails now and then. */
export const PACE: readonly Breakage[] = [
  {
    name: 'retries-at-once',
    about: 'A webhook that has failed comes again after a fifth of a second.',
    kind: 'pace',
    patches: [
      {
        file: 'core/webhooks/retry-schedule.ts',
        search: '5, // soon, after a restart of the receiver or a lost connection',
        replacement: '0.2,',
      },
    ],
    play: 'receiver',
    figures: ['hammering'],
    cause: /webhook \S+ came again \d+\.\d s after attempt 1 failed; the documented pause is 5 s/,
  },
  {
    name: 'window-of-64-commands',
    about: 'A device gets up to 64 commands at once instead of 16.',
    kind: 'pace',
    patches: [
      {
        file: 'core/outbox/outbox.ts',
        search: 'const { database, clock, log, metrics, ownership, window = 16 } = parts;',
        replacement: 'const { database, clock, log, metrics, ownership, window = 64 } = parts;',
      },
    ],
    play: 'away',
    figures: ['window'],
    cause: /gets \d+ commands without a PUBACK or an answer/,
  },
  {
    name: 'event-loop-stands-still',
    about: 'Every four seconds the service does nothing for a second and a half.',
    kind: 'pace',
    patches: [
      {
        file: 'core/webhooks/due-timer.ts',
        search: 'isOn = true;',
        replacement: `isOn = true;
      setInterval(() => {
        for (const until = Date.now() + 1500; Date.now() < until; );
      }, 4000);`,
      },
    ],
    play: 'load',
    figures: ['stalled'],
    cause: /the service answered no call for \d+\.\d s/,
    isOfDevice: false,
  },
  {
    name: 'every-fortieth-call-fails',
    about: 'One in forty commands is answered 500.',
    kind: 'pace',
    patches: [
      {
        file: 'core/transactions/submission.ts',
        search: 'demand.add();',
        replacement: `demand.add();
    calls += 1;
    if (calls % 40 === 0) throw new Error('a fault that was planted');`,
      },
      {
        file: 'core/transactions/submission.ts',
        search: 'type Installing = ',
        replacement: `let calls = 0;
type Installing = `,
      },
    ],
    play: 'load',
    figures: ['errors'],
    cause: /: 500 /,
  },
  {
    name: 'slower-with-each-command',
    about: 'Each command takes four milliseconds longer than the one before.',
    kind: 'pace',
    patches: [
      {
        file: 'core/transactions/submission.ts',
        search: 'demand.add();',
        replacement: `demand.add();
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, 4 * calls));`,
      },
      {
        file: 'core/transactions/submission.ts',
        search: 'type Installing = ',
        replacement: `let calls = 0;
type Installing = `,
      },
    ],
    play: 'load',
    figures: ['p99'],
    cause: /201, transaction \d+, after \d{4} ms/,
  },
  {
    name: 'webhooks-wait-for-company',
    about: 'Webhooks are sent four seconds later, together with those that came since.',
    kind: 'pace',
    patches: [
      {
        file: 'core/webhooks/webhooks.ts',
        search: `if (!hasRoom(receiver)) metrics.deliveriesHeld.inc();
    pump(receiver);`,
        replacement: 'clock.after(4000, () => pump(receiver));',
      },
    ],
    play: 'load',
    figures: ['p99', 'late'],
    cause: /receiver {2}gets the result of transaction \d+/,
  },
];
