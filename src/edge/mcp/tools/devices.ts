import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { seen, time } from '../times.ts';
import { DEVICE, tool } from '../tool.ts';

const MIB = 1024 ** 2;

export const device = tool<{ deviceId: string }>({
  name: 'device',
  title: 'Look at one device',
  description:
    'Look at one device: status, last seen, battery, storage, network, language, firmware, installed software, tags, and the notes that people wrote on it.',
  properties: { deviceId: DEVICE },
  required: ['deviceId'],
  async run(session, { deviceId }, report) {
    const params = { deviceId };
    const status = await session.ask<SchemaTypes['rest/device-status']>('readStatus', { params });
    const { zone } = session;
    const { battery, storage, network, software } = status;
    const tags = await session.ask<SchemaTypes['common/tags']>('readTags', { params });
    const { notes } = await session.ask<SchemaTypes['common/device-note-list']>('listDeviceNotes', { params });
    report.say(
      `Device ${deviceId} is ${status.connected ? 'connected' : 'offline'}; ${seen(status.lastSeenAt, zone)}.`,
      `Firmware ${data(status.firmwareVersion, 60)}, management client ${data(status.managementClientVersion, 60)}, language ${data(status.lang, 40)}; reported ${time(status.reportedAt, zone)}.`,
      battery && `Battery ${battery.level}%, ${battery.charging ? 'charging' : 'not charging'}.`,
      storage && `Storage: ${Math.floor(storage.free / MIB)} MiB free of ${Math.floor(storage.total / MIB)} MiB.`,
      network && `Network ${data(network.type, 24)}, SSID ${data(network.ssid, 40)}, ${network.rssi ?? 'unknown'} dBm.`,
      `Tags: ${
        Object.entries(tags)
          .map(([key, value]) => data(`${key}=${value}`, 80))
          .join(', ') || 'none'
      }.`,
      `Console: ${session.link('devices', deviceId)}`,
      software && `Installed software (${software.length}):`,
    );
    for (const { package: name, version, versionCode } of (software ?? []).slice(0, 25)) {
      report.row(`- ${data(name, 100)} ${data(version, 60)} (code ${versionCode})`);
    }
    if (notes.length > 0) report.say(`Notes (${notes.length}):`);
    for (const { text, author, createdAt } of notes.slice(0, 8)) {
      report.row(`- ${time(createdAt)} by ${data(author, 60)}: ${data(text)}`);
    }
  },
});
