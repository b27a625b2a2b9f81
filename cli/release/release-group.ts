import type { Group } from '../line/command.ts';
import { releaseCommand } from './release.ts';

export const RELEASE_GROUPS: readonly Group[] = [
  { name: 'release', about: releaseCommand.summary, commands: [releaseCommand] },
];
