import type { Group } from '../line/command.ts';
import { CONSUMER_COMMANDS } from './consumer-commands.ts';
import { eventsCommand } from './events-command.ts';

export const EVENTS_GROUPS: readonly Group[] = [
  { name: 'events', about: eventsCommand.summary, commands: [eventsCommand] },
  {
    name: 'consumer',
    about: 'Readers of the events that keep their places in the service',
    commands: CONSUMER_COMMANDS,
  },
];
