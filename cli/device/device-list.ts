import type { LapelClient } from '@lapel/client/lapel-client';
import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import { limitOption, readLimit } from '../line/limit.ts';
import { type Column, table, timeText } from '../show/table.ts';
import { deviceBefore } from './device-before.ts';
import { batteryText, networkText, type Status, tagsText, yesNo } from './device-texts.ts';
import { readSelectorQuery, SELECTOR_OPTIONS, type SelectorQuery } from './selector-options.ts';

type Tags = Operations['readTags']['answer'];
type Listed = Status & { tags: Tags };

const COLUMNS: readonly Column<Listed>[] = [
  { head: 'DEVICE', cell: ({ deviceId }) => deviceId },
  { head: 'CONNECTED', cell: ({ connected }) => yesNo(connected), state: true },
  { head: 'LAST SEEN', cell: ({ lastSeenAt }) => (lastSeenAt === null ? null : timeText(lastSeenAt)) },
  { head: 'FIRMWARE', cell: ({ firmwareVersion }) => firmwareVersion },
  { head: 'BATTERY', cell: (status) => batteryText(status) || null },
  { head: 'LANGUAGE', cell: ({ lang }) => lang },
  { head: 'NETWORK', cell: (status) => networkText(status) || null, flexible: true },
  { head: 'TAGS', cell: ({ tags }) => tagsText(tags) || null, flexible: true },
];

const PAGE = 1000;

/**
 * Yields the selected devices with their whole status. Both lists are in the order of deviceIds, so a page of statuses
 * is read only for a device that the page before did not reach.
 */
async function* selected(lapel: LapelClient, query: SelectorQuery, limit: number): AsyncGenerator<Listed> {
  let known = new Map<string, Status>();
  let reached = '';
  for await (const { deviceId, tags } of lapel.each('listOwnDevices', {
    query: { ...query, activation: 'activated', limit },
  })) {
    if (deviceId > reached) {
      const after = deviceBefore(deviceId);
      const { devices } = await lapel.listStatuses({ query: { ...(after !== undefined && { after }), limit } });
      known = new Map(devices.map((status) => [status.deviceId, status]));
      reached = devices.at(-1)?.deviceId ?? deviceId;
    }
    const status = known.get(deviceId);
    // A device that was deactivated after its row was read has no status.
    if (status) yield { ...status, tags };
  }
}

export const deviceList: Command = {
  name: 'device list',
  summary: 'Lists the devices of the application with their last reported status and their tags',
  options: { ...limitOption(), ...SELECTOR_OPTIONS, ...APPLICATION_OPTIONS },
  examples: [
    'lapel device list',
    'lapel device list --connected',
    "lapel device list --tag site=osaka --tag site=kyoto --tag '!retired'",
    "lapel device list --package com.example.camera --version-range '<2.0.0'",
    'lapel device list --json | jq .devices[].deviceId',
  ],
  async run(given, terminal) {
    const limit = readLimit(given);
    const query = readSelectorQuery(given);
    const application = await openApplication(given, terminal);
    const devices = await application.call('list the devices', (lapel) =>
      take(selected(lapel, query, Math.min(limit, PAGE)), limit),
    );
    const none =
      Object.keys(query).length > 0
        ? 'No device matches.'
        : 'There are none; activate one with lapel device activate DEVICE';
    return { json: { ok: true, devices, total: devices.length }, text: table(COLUMNS, devices, none) };
  },
};
