import type { Group } from '../line/command.ts';
import { DEVICE_COMMANDS } from './device-commands.ts';
import { deviceCount } from './device-count.ts';
import { deviceFleet } from './device-fleet.ts';
import { deviceIds } from './device-ids.ts';
import { deviceList } from './device-list.ts';
import { deviceNote } from './device-note.ts';
import { deviceFirmware, deviceShow, deviceTransactions } from './device-reads.ts';
import { deviceTag, deviceTags } from './device-tags.ts';
import { deviceWatch } from './device-watch.ts';

export const DEVICE_GROUPS: readonly Group[] = [
  {
    name: 'device',
    about: 'Devices of an application: status, tags, settings, software, transactions',
    commands: [
      deviceList,
      deviceIds,
      deviceCount,
      deviceFleet,
      deviceShow,
      deviceTag,
      deviceTags,
      deviceNote,
      ...DEVICE_COMMANDS,
      deviceFirmware,
      deviceTransactions,
      deviceWatch,
    ],
  },
];
