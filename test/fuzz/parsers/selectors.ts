import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { readDuration } from '@lapel/schemas/base/duration';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { DeviceSelector, FleetDeviceQuery } from '@lapel/schemas/contracts/types';
import { fleetPlaces } from '../../../src/core/selection/fleet-repository.ts';
import { readFleetFilter } from '../../../src/core/selection/read-fleet-filter.ts';
import { readSelector } from '../../../src/core/selection/read-selector.ts';
import { createSelection } from '../../../src/core/selection/selection.ts';
import { checkQueryParameters } from '../../../src/edge/http/query-parameters.ts';
import { APPLICATION, FLEET, type FleetDevice, has, isConnected, NOW, openFleet } from '../fleet.ts';
import type { FuzzedParser } from '../parser.ts';

const contracts = loadContracts();
const sql = openFleet();
const selection = createSelection({
  database: { aside: sql },
  presence: { newerThanStored: () => undefined },
  connected: (deviceIds) => new Set(deviceIds.filter((deviceId) => isConnected({ deviceId }))),
});
const WORDS = [
  '"',
  ',',
  '{',
  '}',
  '[',
  ']',
  ':',
  'null',
  '__proto__',
  '>=1.0.0',
  '||',
  ' - ',
  '^',
  '*',
  'x',
  '\\u0000',
  'ü',
];

/** Reads the input; undefined when it is refused with the error that is documented. */
function reads<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'REQUEST_INVALID') return undefined;
    throw error;
  }
}

const idsOf = (devices: readonly FleetDevice[]): string[] => devices.map(({ deviceId }) => deviceId);

function parsed(input: Buffer): unknown {
  try {
    return isUtf8(input) ? JSON.parse(input.toString()) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a device has the tags of a selector. */
const hasTags = ({ tags: own }: FleetDevice, tags: DeviceSelector['tags'] = {}): boolean =>
  Object.entries(tags).every(([key, wanted]) => {
    const value = Object.hasOwn(own, key) ? own[key] : undefined;
    return value === undefined ? wanted === null : [wanted].flat().includes(value);
  });

/** Selectors of devices in bodies. The database must find the devices that the documents name. */
export const selector: FuzzedParser = {
  documents: [
    {},
    { devices: idsOf(FLEET.slice(3, 6)) },
    { tags: { site: 'osaka', line: ['日本', "o'saka"], a: null }, connected: true },
    { package: 'com.a.x', versionRange: '>=1.0.0 <2.0.0 || 2.x', lang: 'ja-JP', percent: 50, salt: 's' },
    { package: 'com.b.y', versionNot: '1.0.0', firmwareVersionRange: '^1.0.0', lastSeenWithin: 3600 },
    { firmwareVersion: 'ü', lang: 'STRASSE' },
    { firmwareVersionNot: '1.2.0', package: 'com.a.x', version: '1.0.0', connected: false },
  ].map((body) => Buffer.from(JSON.stringify(body))),
  words: [...WORDS, '"tags":', '"devices":', '"percent":', '"site"', '"connected":true', FLEET[1]!.deviceId],
  async read(input) {
    const value = parsed(input);
    if (value === undefined) return false;
    const read = reads(() => {
      const written = contracts.check('common/device-selector', value, 'body');
      return { written, selector: readSelector(written, NOW) };
    });
    if (!read) return false;
    const { tags, devices, ...terms } = read.written;
    const expected = devices
      ? FLEET.filter(({ deviceId }) => devices.includes(deviceId))
      : FLEET.filter((device) => hasTags(device, tags) && has(device, terms as object));
    const found: string[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Awaited<ReturnType<typeof selection.page>> = await selection.page(APPLICATION, read.selector, {
        after,
        limit: 7,
      });
      found.push(...page.deviceIds);
      after = page.next;
    }
    assert.deepEqual(found, idsOf(expected), 'the pages have the devices that are written');
    const { matching, isEstimate } = await selection.count(APPLICATION, read.selector);
    if (!isEstimate && !devices) assert.equal(matching, expected.length, 'the count is that of the pages');
    return true;
  },
};

/** Whether a device has what the parameters of a query say, besides its terms. */
function isWanted(device: FleetDevice, query: FleetDeviceQuery): boolean {
  const {
    prefix,
    developerId,
    applicationId,
    activation,
    blocked,
    batteryBelow,
    batteryFrom,
    notSeenFor,
    tag = [],
  } = query;
  const wanted = Map.groupBy(tag, (text) => (text.startsWith('!') ? text.slice(1) : text.slice(0, text.indexOf('='))));
  const tagged = [...wanted].every(([key, texts]) =>
    texts.some((text) =>
      text.startsWith('!')
        ? !Object.hasOwn(device.tags, key)
        : Object.hasOwn(device.tags, key) && device.tags[key] === text.slice(key.length + 1),
    ),
  );
  return (
    tagged &&
    device.deviceId.startsWith(prefix ?? '') &&
    (developerId ?? 'dev') === 'dev' &&
    (applicationId ?? APPLICATION) === APPLICATION &&
    (activation ?? 'activated') === 'activated' &&
    (blocked === undefined || String(device.blocked) === blocked) &&
    (batteryBelow === undefined || (device.battery !== null && device.battery < batteryBelow)) &&
    (batteryFrom === undefined || (device.battery !== null && device.battery >= batteryFrom)) &&
    (notSeenFor === undefined || (device.seenAt ?? 0) < NOW - readDuration(notSeenFor))
  );
}

/** Filters of devices in queries. */
export const filter: FuzzedParser = {
  documents: [
    '',
    'prefix=35000&developerId=dev&applicationId=app&activation=activated&blocked=false&sort=lastSeen&limit=5',
    'tag=site%3Dosaka&tag=site%3D%E6%97%A5%E6%9C%AC&tag=%21line&connected=true',
    'package=com.a.x&versionRange=%3E%3D1.0.0+%3C2.0.0&lang=ja-JP&percent=50&salt=s',
    'firmware=&batteryFrom=1&notSeenFor=1h',
    'batteryBelow=60&firmwareVersionNot=1.2.0&lastSeenWithin=3600&sort=-lastSeen',
  ].map((text) => Buffer.from(text)),
  words: [
    '&',
    '=',
    '%',
    '+',
    '%00',
    '%ff',
    '%21',
    'tag=',
    'a%3D',
    'prefix=',
    'connected=false',
    '__proto__',
    '%5B',
    '35',
    'ü',
  ],
  async read(input) {
    const read = reads(() => {
      const query = checkQueryParameters(contracts, 'admin/fleet-device-query', input.toString()) as FleetDeviceQuery;
      return { query, filter: readFleetFilter(query, NOW) };
    });
    if (!read) return false;
    const { query, filter } = read;
    const asked = { filter, order: query.sort, after: undefined, limit: FLEET.length };
    const found = await selection.matching(await fleetPlaces(sql, asked), filter.terms);
    const { firmware, connected, tag: _, ...terms } = query;
    const written = {
      ...terms,
      ...(firmware !== undefined && { firmwareVersion: firmware === '' ? null : firmware }),
      ...(connected !== undefined && { connected: connected === 'true' }),
    };
    const expected = FLEET.filter((device) => isWanted(device, query) && has(device, written as object));
    assert.deepEqual(
      found.map(({ deviceId }) => deviceId).toSorted(),
      idsOf(expected),
      'the list has the wanted devices',
    );
    return true;
  },
};
