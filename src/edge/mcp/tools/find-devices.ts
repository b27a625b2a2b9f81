import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { readPage, showRows } from '../pages.ts';
import { seen } from '../times.ts';
import { CURSOR, TEXT, tool } from '../tool.ts';

type Row = SchemaTypes['common/device-row-list']['devices'][number];

interface Given {
  tags?: Record<string, string>;
  connected?: boolean;
  firmwareVersion?: string;
  firmwareVersionNot?: string;
  package?: string;
  version?: string;
  versionNot?: string;
  rollout?: string;
  memberState?: string;
  lang?: string;
  deviceIdPrefix?: string;
  notSeenFor?: string;
  batteryBelow?: number;
  cursor?: string;
}

/** The members that a selector of a rollout has as well, so that the devices can be counted. */
const COUNTED = [
  'tags',
  'connected',
  'firmwareVersion',
  'firmwareVersionNot',
  'package',
  'version',
  'versionNot',
  'rollout',
  'memberState',
  'lang',
] as const;

const row = ({ deviceId, connected, lastSeenAt, firmware, battery, unfinished, activation, tags }: Row): string =>
  [
    deviceId,
    connected ? 'connected' : `offline, ${seen(lastSeenAt)}`,
    activation !== 'activated' && activation,
    firmware !== null && `firmware ${data(firmware, 40)}`,
    battery !== null && `battery ${battery}%`,
    unfinished > 0 && `unfinished commands: ${unfinished}`,
    ...Object.entries(tags)
      .slice(0, 6)
      .map(([key, value]) => `tag ${data(`${key}=${value}`, 60)}`),
  ]
    .filter(Boolean)
    .join(', ');

export const findDevices = tool<Given>({
  name: 'find_devices',
  title: 'Find devices',
  description:
    'Find, list and count devices by a selector: tags, connected or offline, firmware version, installed package and version, language, low battery, not seen for days, members of a rollout. Answers how many match, how many are connected, which versions they have, and the devices.',
  properties: {
    tags: {
      type: 'object',
      maxProperties: 16,
      additionalProperties: { type: 'string', maxLength: 128 },
      description: 'Tags that the devices have, by key.',
    },
    connected: { type: 'boolean', description: 'true: connected now; false: offline.' },
    firmwareVersion: TEXT('Firmware version that was last reported.', 128),
    firmwareVersionNot: TEXT('Any other firmware version than this.', 128),
    package: TEXT('Installed package.'),
    version: TEXT('Installed version; needs package.', 128),
    versionNot: TEXT('Another version, or without the package; needs package.', 128),
    rollout: TEXT('rolloutId.', 64),
    memberState: TEXT('State in the rollout, such as failed or waiting; needs rollout.', 32),
    lang: TEXT('Language, such as ja-JP.', 35),
    deviceIdPrefix: { type: 'string', pattern: '^[0-9]{1,15}$', description: 'The first digits of the deviceId.' },
    notSeenFor: TEXT('Silent for at least this time, such as 7d or 12h.', 12),
    batteryBelow: { type: 'integer', minimum: 1, maximum: 100, description: 'Battery below this percentage.' },
    cursor: CURSOR,
  },
  async run(session, given, report) {
    const { tags, connected, deviceIdPrefix, cursor, ...query } = given;
    // Administration has no count of a selector.
    const isCounted =
      session.applicationId !== undefined &&
      deviceIdPrefix === undefined &&
      given.notSeenFor === undefined &&
      given.batteryBelow === undefined;
    if (cursor === undefined && isCounted) {
      const devices: Record<string, unknown> = {};
      for (const name of COUNTED) if (given[name] !== undefined) devices[name] = given[name];
      const body = { devices };
      const {
        matching,
        connected: online,
        estimate,
        firmwareVersions,
        versions,
      } = await session.ask<SchemaTypes['rest/device-count']>('countDevices', { body });
      const counts = (some: { version: string | null; devices: number }[]): string =>
        some
          .slice(0, 8)
          .map(({ version, devices: of }) => `${data(version, 40)} ${of}`)
          .join(', ');
      report.say(
        `Activated devices that match: ${estimate ? 'about ' : ''}${matching}, connected of them now: ${online}.`,
        matching > 0 && `By firmware version: ${counts(firmwareVersions)}.`,
        versions && matching > 0 && `By version of ${data(given.package, 80)}: ${counts(versions)}.`,
      );
    }
    const page = await readPage<Row>(session, 'listOwnDevices', {
      list: 'devices',
      cursor,
      query: {
        ...query,
        prefix: deviceIdPrefix,
        ...(connected !== undefined && { connected: String(connected) }),
        ...(tags && { tag: Object.entries(tags).map(([key, value]) => `${key}=${value}`) }),
        limit: 40,
      },
    });
    if (page.rows.length === 0) report.say('No device is listed.');
    showRows(report, page, row);
    report.say(`Console: ${session.link('devices')}`);
  },
});
