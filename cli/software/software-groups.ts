import type { Group } from '../line/command.ts';
import { appKeys } from './app-keys.ts';
import { appList } from './app-list.ts';
import { appSign } from './app-sign.ts';
import { appUpload } from './app-upload.ts';
import { PACKAGE_COMMANDS, VERSION_COMMANDS } from './software-commands.ts';

export const SOFTWARE_GROUPS: readonly Group[] = [
  {
    name: 'app',
    about: 'Software in one command: upload, distribute, install; signatures',
    commands: [appUpload, appList, appSign, appKeys],
  },
  { name: 'package', about: 'Packages of a developer, one step at a time', commands: PACKAGE_COMMANDS },
  { name: 'version', about: 'Versions of a package, one step at a time', commands: VERSION_COMMANDS },
];
