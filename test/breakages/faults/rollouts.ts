import type { Breakage } from '../breakage.ts';

/** Rollouts that do not keep their rules. */
export const ROLLOUTS: readonly Breakage[] = [
  {
    name: 'rollout-stops-one-result-late',
    about: 'The rule that stops a rollout needs one result more than it says.',
    kind: 'rollout',
    patches: [
      {
        file: 'core/rollouts/counts.ts',
        search: 'results >= rule.minimumResults',
        replacement: 'results > rule.minimumResults',
      },
    ],
    play: 'rollouts',
    figures: ['violations'],
    cause: /rollout rol_\w+: it was paused when 6 of 6 results were failures, .* true one result before/,
  },
  {
    name: 'paused-rollout-goes-on',
    about: 'A rollout that its rule has paused goes on making commands, and publishes them.',
    kind: 'rollout',
    patches: [
      {
        file: 'core/rollouts/transitions.ts',
        search: '{ ...rollout, ...hold(unit, rollout), state, reason: cause.reason }',
        replacement: '{ ...rollout, state, reason: cause.reason }',
      },
      {
        file: 'core/rollouts/steps.ts',
        search: `        case 'running':
          return run(rollout);`,
        replacement: `        case 'running':
        case 'paused':
          return run(rollout);`,
      },
      {
        file: 'core/rollouts/steps.ts',
        search: `        case 'paused':
          if (!drained && !(await withdrawal.drain(rollout))) return 'now';
          if (revertsItself(rollout)) await revert(rollout);
          return undefined;`,
        replacement: '',
      },
      {
        file: 'core/rollouts/issuing.ts',
        search: `if (!rollout?.publishes || rollout.state !== 'running') throw CHANGED;`,
        replacement: 'if (!rollout?.publishes) throw CHANGED;',
      },
    ],
    play: 'rollouts',
    figures: ['overshoot'],
    cause: /rollout rol_\w+: command \d+ was published \d+\.\d s after it was paused \(ABORT_RULE\)/,
  },
  {
    name: 'rollout-repeats-successes',
    about: 'A rollout that may try failed devices again also tries those again that have succeeded.',
    kind: 'rollout',
    patches: [
      {
        file: 'core/rollouts/results.ts',
        search: `if (status === 'failed' && retry?.codes.includes(errorCode ?? '') && member.attempts < retry.attempts)`,
        replacement: 'if (retry && member.attempts < retry.attempts)',
      },
    ],
    play: 'rollouts',
    figures: ['violations'],
    cause: /rollout rol_\w+: the device got 2 commands with a final result/,
  },
  {
    name: 'rollout-forgets-a-device',
    about: 'The last device that the selector of a rollout matches is left out.',
    kind: 'rollout',
    patches: [
      {
        file: 'core/rollouts/joining.ts',
        search: 'return found.slice(0, most);',
        replacement: 'return found.slice(0, Math.min(most, found.length - 1));',
      },
    ],
    play: 'rollouts',
    figures: ['violations'],
    cause: /rollout rol_\w+: the selector matches this device, which is not in the rollout/,
  },
  {
    name: 'result-of-a-rollout-not-counted',
    about: 'A rollout does not count the results of devices that it has reached in its second stage.',
    kind: 'rollout',
    patches: [
      {
        file: 'core/rollouts/results.ts',
        search: 'await moveCount(unit, rolloutId, member.stage, member, to);',
        replacement: 'if (member.stage === 0) await moveCount(unit, rolloutId, member.stage, member, to);',
      },
    ],
    play: 'rollouts',
    figures: ['violations'],
    cause: /rollout rol_\w+: the service counts .* unfinished.* for it, and lists 40 succeeded/,
  },
];
