import type { Group } from '../line/command.ts';
import { ADMIN_COMMANDS } from './admin-commands.ts';
import { KEY_COMMANDS } from './key-commands.ts';

export const ADMIN_GROUPS: readonly Group[] = [
  {
    name: 'admin',
    about: 'Administration: developers, applications, devices, software of the service',
    commands: ADMIN_COMMANDS,
  },
  { name: 'keys', about: 'Keys of the service: for secrets at rest, and for access tokens', commands: KEY_COMMANDS },
];
