import type { Breakage } from '../breakage.ts';

/** Promises that are kept most of the time: only a rare meeting, a new key, or a clock shows the breach. */
export const PROMISES: readonly Breakage[] = [
  {
    name: 'cancel-not-kept-for-the-next-connection',
    about: 'The cancel of a command reaches a device only if it is connected at that moment.',
    kind: 'loss',
    patches: [
      {
        file: 'core/transactions/ends.ts',
        search: 'await finishIn(unit, stopped, mayHaveArrived);',
        replacement: 'await finishIn(unit, stopped, false);',
      },
    ],
    play: 'contract',
    figures: ['violations'],
    cause: /the device has command \d+, unanswered, and never got its cancel, although the command was cancelled/,
  },
  {
    name: 'urls-good-for-two-hours',
    about: 'A download URL is good for two hours, and says so.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/installation.ts',
        search: 'const URL_LIFETIME_SECONDS = 3600;',
        replacement: 'const URL_LIFETIME_SECONDS = 7200;',
      },
    ],
    play: 'contract',
    figures: ['violations'],
    cause: /the download URL of command \d+ is good for 7200 s, and the documents say 3600 s/,
  },
  {
    name: 'expiry-of-urls-an-hour-off',
    about: 'A command says that its download URL ends an hour later than it does.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/installation.ts',
        search: 'expiresAt: toUtc(found.expiresAt)',
        replacement: 'expiresAt: toUtc(found.expiresAt + 3_600_000_000)',
      },
    ],
    play: 'contract',
    figures: ['violations'],
    cause: /the download URL of command \d+ ends at \S+, and `expiresAt` says/,
  },
  {
    name: 'tokens-good-for-two-hours',
    about: 'An access token is valid for two hours.',
    kind: 'content',
    patches: [
      {
        file: 'core/applications/access-tokens.ts',
        search: 'const TOKEN_LIFETIME_SECONDS = 3600;',
        replacement: 'const TOKEN_LIFETIME_SECONDS = 7200;',
      },
    ],
    play: 'contract',
    figures: ['violations'],
    cause: /the service says that a token is valid for 7200 s, and the documents say 3600 s/,
  },
  {
    name: 'new-key-signs-nothing',
    about: 'After a new authenticationKey, webhooks are still signed with the former one only.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/applications/signing-keys-of.ts',
        search: '? [key, former] : [key];',
        replacement: '? [former] : [key];',
      },
    ],
    play: 'contract',
    figures: ['forged'],
    cause: /a webhook is not genuine: webhook-signature/,
  },
  {
    name: 'former-key-forgotten',
    about: 'After a new authenticationKey, the former one signs nothing any more.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/applications/signing-keys-of.ts',
        search: '? [key, former] : [key];',
        replacement: '? [key] : [key];',
      },
    ],
    play: 'contract',
    figures: ['violations'],
    cause: /lacks the signature of the authenticationKey that was replaced within a day/,
  },
  {
    name: 'timestamp-an-hour-off',
    about: 'The time in a webhook is that of another time zone.',
    kind: 'content',
    patches: [
      {
        file: 'core/webhooks/recording.ts',
        search: 'const timestamp = toUtc(event.occurredAt);',
        replacement: 'const timestamp = toUtc(event.occurredAt - 3_600_000_000);',
      },
    ],
    play: 'smoke',
    figures: ['wrong'],
    cause: /the webhook (of transaction \d+|about custom\.sos) has the wrong timestamp/,
  },
  {
    name: 'other-nonce-takes-the-place-of-a-device',
    about: 'A thief who has the code of a batch can enrol as a device that has asked before.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/enrolments/enrolment.ts',
        search: "if (former && !isSameNonce) return { refused: 'other_nonce' };",
        replacement: '',
      },
    ],
    play: 'contract',
    figures: ['wrong'],
    cause: /the answer to an enrolment with another nonce has the wrong answer\.status: 201 instead of 403/,
  },
  {
    name: 'enrolment-gives-another-credential',
    about: 'The credential of an enrolment is not the one that the service has stored.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/enrolments/enrolments.ts',
        search: "if (!signed) return { state: 'enrolled', credential };",
        replacement: "if (!signed) return { state: 'enrolled', credential: ids.secret() };",
      },
    ],
    play: 'contract',
    figures: ['violations'],
    cause: /the service refuses the credential that it gave to the device at its enrolment/,
  },
  {
    name: 'registration-gives-another-credential',
    about: 'The credential of one in four devices is not the one that the service has stored.',
    kind: 'refusal',
    patches: [
      {
        file: 'edge/mqtt/authentication.ts',
        search: "if (found === 'good') return undefined;",
        replacement: "if (found === 'good' && Number(client.id.slice(-2)) % 4 !== 0) return undefined;",
      },
    ],
    play: 'everyday',
    figures: ['violations'],
    cause: /\d{15}: the service broke the contract: it refuses the credential that it gave to the device/,
  },
  {
    name: 'stage-without-its-approval',
    about: 'The next stage of a rollout begins without the approval that it needs.',
    kind: 'rollout',
    patches: [
      {
        file: 'core/rollouts/steps.ts',
        search: 'if (rules.approval && approved < stage) return undefined;',
        replacement: '',
      },
    ],
    play: 'rollouts',
    figures: ['violations'],
    cause: /rollout rol_\w+: stage 2 began, and nobody had approved stage 1/,
  },
  {
    name: 'stage-without-its-soak',
    about: 'The next stage of a rollout begins at once, without the soak of the one before.',
    kind: 'rollout',
    patches: [
      {
        file: 'core/rollouts/steps.ts',
        search: '(rules.continueWhen?.soakFor ?? 0) * SECOND',
        replacement: '0 * SECOND',
      },
    ],
    play: 'advance',
    figures: ['violations'],
    cause: /rollout rol_\w+: stage 2 began \d+\.\d s after stage 1, whose soak is 5 s/,
  },
  {
    name: 'stage-without-its-share',
    about: 'The next stage of a rollout begins before the one before had its share of successes.',
    kind: 'rollout',
    patches: [
      {
        file: 'core/rollouts/steps.ts',
        search: 'if (!isLetPass && !hasShare(rules, counts, stage)) {',
        replacement: 'if (!isLetPass && counts.every(({ state }) => state !== "succeeded")) {',
      },
    ],
    play: 'advance',
    figures: ['violations'],
    cause: /rollout rol_\w+: stage 2 began when \d+ of \d+ devices of stage 1 had succeeded/,
  },
  {
    name: 'standstill-of-300-ms-each-second',
    about: 'Each second the service does nothing for 300 ms.',
    kind: 'pace',
    patches: [
      {
        file: 'core/webhooks/due-timer.ts',
        search: 'isOn = true;',
        replacement: `isOn = true;
      setInterval(() => {
        for (const until = Date.now() + 300; Date.now() < until; );
      }, 1000);`,
      },
    ],
    play: 'load',
    figures: ['halted'],
    cause: /the service answered no call for \d+ ms/,
    isOfDevice: false,
  },
  {
    name: 'memory-kept-for-each-connection',
    about: 'Each login leaves 50 kB in the memory of the service.',
    kind: 'leak',
    patches: [
      {
        file: 'edge/mqtt/authentication.ts',
        search: "if (found === 'good') return undefined;",
        replacement: `if (found === 'good') {
      kept.push(Buffer.alloc(50_000, 1));
      return undefined;
    }`,
      },
      {
        file: 'edge/mqtt/authentication.ts',
        search: '/**\n * Decides which clients may log in',
        replacement: 'const kept = [];\n/**\n * Decides which clients may log in',
      },
    ],
    play: 'connections',
    figures: ['memoryPerConnection'],
    cause: /the service keeps \d+ MB more in its objects/,
    isOfDevice: false,
  },
];
