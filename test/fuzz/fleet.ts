import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import Sqlite from 'better-sqlite3';
import semver from 'semver';
import { isInShare } from '../../src/core/selection/share.ts';
import { readMigrations } from '../../src/platform/database/migration-files.ts';
import type { Sql } from '../../src/platform/database/sql.ts';

/** A device as the database has it. */
export interface FleetDevice {
  deviceId: string;
  firmware: string | null;
  lang: string | null;
  battery: number | null;
  /** Microseconds; null: never. */
  seenAt: number | null;
  software: Readonly<Record<string, string>>;
  tags: Readonly<Record<string, string>>;
  blocked: boolean;
}

/** The time from which durations count back. */
export const NOW = 2_000_000_000_000_000;
export const APPLICATION = 'app';
export const PACKAGES = ['com.a.x', 'com.b.y'] as const;
const VERSIONS = ['1.0.0', '1.2.0', '2.0.0-rc.1', 'nightly', '1.0.0+b', 'ü'];
const SITES = ['osaka', 'Osaka', '日本', "o'saka", '%', '_', ' ', '!key', 'a=b', '😀'];
const of = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;

/** Devices that differ in what selectors are about; some know nothing of it. */
export const FLEET: readonly FleetDevice[] = Array.from({ length: 40 }, (_, n) => ({
  deviceId: deviceIdFor(27, n),
  firmware: n % 5 === 0 ? null : of(VERSIONS, n),
  lang: n % 4 === 0 ? null : of(['ja-jp', 'en', 'straße', 'tr'], n),
  battery: n % 3 === 0 ? null : of([0, 1, 50, 99, 100], n),
  seenAt: n % 6 === 0 ? null : NOW - of([0, 1, 60, 3600, 86_400, 31_536_000], n) * 1_000_000,
  software: Object.fromEntries(
    PACKAGES.flatMap((name, at) => (n % (at + 2) === 0 ? [] : [[name, of(VERSIONS, n + at)]])),
  ),
  tags: Object.fromEntries(
    ['site', 'line', 'a'].flatMap((key, at) => ((n + at) % 3 === 0 ? [] : [[key, of(SITES, n + at)]])),
  ),
  blocked: n % 7 === 0,
}));

export const isConnected = ({ deviceId }: Pick<FleetDevice, 'deviceId'>): boolean => Number(deviceId) % 2 === 0;

/** An embedded database in memory, with these devices of one application. */
export function openFleet(): Sql {
  const database = new Sqlite(':memory:');
  for (const { text } of readMigrations('sqlite')) database.exec(text);
  const insert = (table: string, row: Record<string, string | number | Buffer | null>): void => {
    const names = Object.keys(row);
    const places = names.map(() => '?').join(', ');
    database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`).run(...Object.values(row));
  };
  const nothing = Buffer.alloc(1);
  insert('developers', { developer_id: 'dev', name: 'dev', device_limit: 100, created_at: 0 });
  const application = { application_id: APPLICATION, developer_id: 'dev', name: 'app', secret_hash: nothing };
  insert('applications', { ...application, created_at: 0 });
  for (const { deviceId: device_id, software, tags, seenAt, blocked, ...device } of FLEET) {
    const state = {
      activation: 'activated',
      application_id: APPLICATION,
      blocked: blocked ? 1 : 0,
      created_at: 0,
      lot: 0,
    };
    insert('devices', { device_id, developer_id: 'dev', credential_hash: nothing, ...state });
    insert('device_status', { device_id, reported: '{}', reported_at: 0, ...device });
    if (seenAt !== null) insert('device_presence', { device_id, last_seen_at: seenAt });
    for (const [name, version] of Object.entries(software))
      insert('device_software', { device_id, package: name, version, since: 0 });
    for (const [tag_key, tag_value] of Object.entries(tags))
      insert('device_tags', { device_id, tag_key, tag_value, application_id: APPLICATION });
  }
  const statements = new Map<string, Sqlite.Statement>();
  function prepared(text: string): Sqlite.Statement {
    const known = statements.get(text) ?? database.prepare(text);
    statements.set(text, known);
    return known;
  }
  return {
    all: async <Row>(text: string, ...values: never[]) => prepared(text).all(...values) as Row[],
    get: async <Row>(text: string, ...values: never[]) => prepared(text).get(...values) as Row | undefined,
    run: async (text, ...values) => prepared(text).run(...values).changes,
  } as Sql;
}

/** Conditions on a device as they are written, in a body or in a query. */
export interface Written {
  firmwareVersion?: string | null;
  firmwareVersionNot?: string;
  firmwareVersionRange?: string;
  package?: string;
  version?: string;
  versionNot?: string;
  versionRange?: string;
  lang?: string;
  connected?: boolean;
  lastSeenWithin?: number;
  percent?: number;
  salt?: string;
}

const isVersion = (
  known: string | null,
  is: string | null | undefined,
  not: string | undefined,
  range: string | undefined,
): boolean =>
  (is === undefined || known === is) &&
  (not === undefined || known !== not) &&
  (range === undefined || (known !== null && semver.satisfies(known, range, { includePrerelease: true })));

/** Whether a device has what is written: as the documents say it, and without SQL. */
export function has(device: FleetDevice, written: Written): boolean {
  const { package: name, version, versionNot, versionRange, lang, connected, lastSeenWithin, percent } = written;
  const installed = name === undefined ? null : (device.software[name] ?? null);
  const mayLack = versionNot !== undefined && version === undefined && versionRange === undefined;
  return (
    isVersion(device.firmware, written.firmwareVersion, written.firmwareVersionNot, written.firmwareVersionRange) &&
    (name === undefined || installed !== null || mayLack) &&
    isVersion(installed, version, versionNot, versionRange) &&
    (lang === undefined || device.lang === lang.toLowerCase()) &&
    (connected === undefined || isConnected(device) === connected) &&
    (lastSeenWithin === undefined || (device.seenAt ?? 0) >= NOW - lastSeenWithin * 1_000_000) &&
    (percent === undefined || isInShare(device.deviceId, { percent, salt: written.salt ?? '' }))
  );
}
