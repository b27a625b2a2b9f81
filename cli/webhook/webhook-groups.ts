import type { Group } from '../line/command.ts';
import { SETTINGS_COMMANDS } from './settings-commands.ts';
import { WEBHOOK_COMMANDS } from './webhook-commands.ts';
import { webhookListen } from './webhook-listen.ts';
import { webhookVerify } from './webhook-verify.ts';

export const WEBHOOK_GROUPS: readonly Group[] = [
  {
    name: 'settings',
    about: 'Webhook URLs of an application, and the key that signs webhooks',
    commands: SETTINGS_COMMANDS,
  },
  {
    name: 'webhook',
    about: 'Webhooks: a receiver for development, and the state of each delivery',
    commands: [webhookListen, ...WEBHOOK_COMMANDS, webhookVerify],
  },
];
