import type { Group } from '../line/command.ts';
import { ROLLOUT_COMMANDS } from './rollout-commands.ts';
import { rolloutStart } from './rollout-start.ts';
import { rolloutWatch } from './rollout-watch.ts';

export const ROLLOUT_GROUPS: readonly Group[] = [
  {
    name: 'rollout',
    about: 'Rollouts: one operation for many devices, in stages',
    commands: [rolloutStart, rolloutWatch, ...ROLLOUT_COMMANDS],
  },
];
