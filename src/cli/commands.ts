import { ADMIN_COMMANDS } from './admin-commands.ts';
import { appList } from './app-list.ts';
import { appUpload } from './app-upload.ts';
import type { Command, Group } from './command.ts';
import { completionOf } from './completion.ts';
import { DEVICE_COMMANDS } from './device-commands.ts';
import { deviceFirmware, deviceList, deviceShow, deviceTransactions } from './device-reads.ts';
import { deviceWatch } from './device-watch.ts';
import { login, logout, profiles } from './login.ts';
import { SETTINGS_COMMANDS } from './settings-commands.ts';
import { PACKAGE_COMMANDS, VERSION_COMMANDS } from './software-commands.ts';
import { WEBHOOK_COMMANDS } from './webhook-commands.ts';
import { webhookListen } from './webhook-listen.ts';

const completion = completionOf(() => ALL_COMMANDS);

/** All commands that are clients, by their first word, in the order of the overview. */
export const GROUPS: readonly Group[] = [
  { name: 'login', about: login.summary, commands: [login] },
  { name: 'logout', about: logout.summary, commands: [logout] },
  { name: 'profiles', about: profiles.summary, commands: [profiles] },
  {
    name: 'device',
    about: 'Devices of an application: what they are, and what they shall do',
    commands: [deviceList, deviceShow, ...DEVICE_COMMANDS, deviceFirmware, deviceTransactions, deviceWatch],
  },
  {
    name: 'settings',
    about: 'Where the webhooks of an application go, and the key that signs them',
    commands: SETTINGS_COMMANDS,
  },
  {
    name: 'webhook',
    about: 'Webhooks: a receiver for development, and what became of each',
    commands: [webhookListen, ...WEBHOOK_COMMANDS],
  },
  { name: 'app', about: 'Software in one go: upload, distribute, install', commands: [appUpload, appList] },
  { name: 'package', about: 'Packages of a developer, one step at a time', commands: PACKAGE_COMMANDS },
  { name: 'version', about: 'Versions of a package, one step at a time', commands: VERSION_COMMANDS },
  {
    name: 'admin',
    about: 'Administration: developers, applications, devices, software of the service',
    commands: ADMIN_COMMANDS,
  },
  { name: 'completion', about: completion.summary, commands: [completion] },
];

export const ALL_COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands);
