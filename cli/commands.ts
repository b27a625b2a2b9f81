import { ACCOUNT_GROUPS } from './account/account-groups.ts';
import { ADMIN_GROUPS } from './admin/admin-groups.ts';
import { ASSISTANT_GROUPS } from './assistant/assistant-group.ts';
import { DEVICE_GROUPS } from './device/device-group.ts';
import { ENDPOINT_GROUPS } from './endpoint/endpoint-group.ts';
import { EVENTS_GROUPS } from './events/events-groups.ts';
import { FILES_GROUPS } from './files/files-groups.ts';
import type { Command, Group } from './line/command.ts';
import { completionOf } from './line/completion.ts';
import { RELEASE_GROUPS } from './release/release-group.ts';
import { ROLLOUT_GROUPS } from './rollout/rollout-group.ts';
import { SOFTWARE_GROUPS } from './software/software-groups.ts';
import { WEBHOOK_GROUPS } from './webhook/webhook-groups.ts';

const completion = completionOf(() => ALL_COMMANDS);

/** All client commands, grouped by their first word, in the order of the overview. */
export const GROUPS: readonly Group[] = [
  ...ACCOUNT_GROUPS,
  ...DEVICE_GROUPS,
  ...ROLLOUT_GROUPS,
  ...RELEASE_GROUPS,
  ...EVENTS_GROUPS,
  ...ENDPOINT_GROUPS,
  ...WEBHOOK_GROUPS,
  ...SOFTWARE_GROUPS,
  ...ASSISTANT_GROUPS,
  ...FILES_GROUPS,
  ...ADMIN_GROUPS,
  { name: 'completion', about: completion.summary, commands: [completion] },
];

export const ALL_COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands);
