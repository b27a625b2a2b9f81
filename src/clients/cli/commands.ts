import { login, logout, profiles } from './account/login.ts';
import { ADMIN_COMMANDS } from './admin/admin-commands.ts';
import { KEY_COMMANDS } from './admin/key-commands.ts';
import { DEVICE_COMMANDS } from './device/device-commands.ts';
import { deviceCount } from './device/device-count.ts';
import { deviceIds } from './device/device-ids.ts';
import { deviceList } from './device/device-list.ts';
import { deviceFirmware, deviceShow, deviceTransactions } from './device/device-reads.ts';
import { deviceTag, deviceTags } from './device/device-tags.ts';
import { deviceWatch } from './device/device-watch.ts';
import type { Command, Group } from './line/command.ts';
import { completionOf } from './line/completion.ts';
import { ROLLOUT_COMMANDS } from './rollout/rollout-commands.ts';
import { rolloutStart } from './rollout/rollout-start.ts';
import { rolloutWatch } from './rollout/rollout-watch.ts';
import { appKeys } from './software/app-keys.ts';
import { appList } from './software/app-list.ts';
import { appSign } from './software/app-sign.ts';
import { appUpload } from './software/app-upload.ts';
import { PACKAGE_COMMANDS, VERSION_COMMANDS } from './software/software-commands.ts';
import { SETTINGS_COMMANDS } from './webhook/settings-commands.ts';
import { WEBHOOK_COMMANDS } from './webhook/webhook-commands.ts';
import { webhookListen } from './webhook/webhook-listen.ts';
import { webhookVerify } from './webhook/webhook-verify.ts';

const completion = completionOf(() => ALL_COMMANDS);

/** All client commands, grouped by their first word, in the order of the overview. */
export const GROUPS: readonly Group[] = [
  { name: 'login', about: login.summary, commands: [login] },
  { name: 'logout', about: logout.summary, commands: [logout] },
  { name: 'profiles', about: profiles.summary, commands: [profiles] },
  {
    name: 'device',
    about: 'Devices of an application: status, tags, settings, software, transactions',
    commands: [
      deviceList,
      deviceIds,
      deviceCount,
      deviceShow,
      deviceTag,
      deviceTags,
      ...DEVICE_COMMANDS,
      deviceFirmware,
      deviceTransactions,
      deviceWatch,
    ],
  },
  {
    name: 'rollout',
    about: 'Rollouts: one operation for many devices, in stages',
    commands: [rolloutStart, rolloutWatch, ...ROLLOUT_COMMANDS],
  },
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
  {
    name: 'app',
    about: 'Software in one command: upload, distribute, install; signatures',
    commands: [appUpload, appList, appSign, appKeys],
  },
  { name: 'package', about: 'Packages of a developer, one step at a time', commands: PACKAGE_COMMANDS },
  { name: 'version', about: 'Versions of a package, one step at a time', commands: VERSION_COMMANDS },
  {
    name: 'admin',
    about: 'Administration: developers, applications, devices, software of the service',
    commands: ADMIN_COMMANDS,
  },
  { name: 'keys', about: 'Keys of the service: for secrets at rest, and for access tokens', commands: KEY_COMMANDS },
  { name: 'completion', about: completion.summary, commands: [completion] },
];

export const ALL_COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands);
