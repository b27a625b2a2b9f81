import type { Group } from '../line/command.ts';
import { ENDPOINT_COMMANDS } from './endpoint-commands.ts';
import { SENDING_COMMANDS } from './sending-commands.ts';

export const ENDPOINT_GROUPS: readonly Group[] = [
  {
    name: 'endpoint',
    about: 'Places to which events are sent, beside the URLs of the settings; their state, replays',
    commands: [...ENDPOINT_COMMANDS, ...SENDING_COMMANDS],
  },
];
