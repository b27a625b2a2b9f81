import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { readServiceCommand } from '@lapel/cli/line/service-commands';
import { UsageError } from '@lapel/cli/line/usage-error';
import { ownVersion } from '@lapel/schemas/base/version';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Config } from './config.ts';
import { doctor } from './doctor.ts';
import type { Manifest } from './platform/backup/manifest.ts';
import { isTooLarge, NO_WAY_BACK, noRoom, type Told, tellPlan } from './platform/database/upgrade-plan.ts';
import { systemClock } from './runtime/clock.ts';
import { randomIds } from './runtime/ids.ts';
import { Refused } from './runtime/refused.ts';

type Given = ReturnType<typeof readServiceCommand>;
type Say = (text: string) => void;
/** Resolves to the exit code. Throws UsageError, DomainError, Refused, and errors of the system. */
type Maintenance = (config: Config, given: Given, say: Say) => Promise<number>;

const sizeOf = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

/** The content of a backup: `lapel.db, admin-token (12.3 MiB), 40 objects (1.5 MiB)`. */
const contentOf = ({ files, objects }: Manifest): string =>
  `${files.map(({ name }) => name).join(', ')} (${sizeOf(files.reduce((sum, { bytes }) => sum + bytes, 0))}), ${
    objects === null ? 'no objects' : `${objects.count} objects (${sizeOf(objects.bytes)})`
  }`;

function requireEmbedded(databaseUrl: string | null): void {
  if (databaseUrl === null) return;
  const problem = 'backups are of SQLite; for PostgreSQL use a base backup and the archive of its log';
  throw new DomainError('SETTING_INVALID', { values: { setting: 'LAPEL_DATABASE_URL', problem } });
}

const backup: Maintenance = async ({ dataDir, databaseUrl, objects }, { flag, argument: folder }, say) => {
  requireEmbedded(databaseUrl);
  const { makeBackup } = await import('./platform/backup/make-backup.ts');
  const withObjects = objects.endpoint === null && !flag('no-objects');
  const made = await makeBackup({ clock: systemClock, version: ownVersion(), dataDir, folder, withObjects });
  say(`${folder} is a checked backup of ${made.at}: ${contentOf(made)}\n`);
  return 0;
};

const restore: Maintenance = async ({ dataDir, databaseUrl }, { argument: folder }, say) => {
  requireEmbedded(databaseUrl);
  const { restoreBackup } = await import('./platform/backup/restore-backup.ts');
  const restored = await restoreBackup({ folder, dataDir });
  say(`${dataDir} is as it was at ${restored.at}: ${contentOf(restored)}
Everything that was stored later is missing. To look at it before webhooks are sent:
  lapel serve --data-dir ${dataDir} --webhooks-held true
`);
  return 0;
};

const move: Maintenance = async ({ dataDir, databaseUrl: url }, { text }, say) => {
  const to = text('to');
  if (to === undefined) throw new UsageError('--to', 'is missing: postgres or sqlite');
  if (url === null) throw new UsageError('--database-url', 'is missing: the URL of the PostgreSQL database');
  const { moveAll } = await import('./platform/database/move/move.ts');
  const { sqliteSource, sqliteTarget } = await import('./platform/database/move/sqlite-side.ts');
  const { postgresSource, postgresTarget } = await import('./platform/database/move/postgres-side.ts');
  const isToServer = to === 'postgres';
  const from = isToServer ? sqliteSource(dataDir) : await postgresSource(url);
  const target = () => (isToServer ? postgresTarget(url, systemClock.now()) : sqliteTarget(dataDir, systemClock.now()));
  await moveAll(from, target, (table, { rows, checksum }) =>
    say(`${table.padEnd(22)} ${String(rows).padStart(10)} rows  ${checksum}\n`),
  );
  say(`Everything of ${from.name} is moved. Start the service with the new database only.\n`);
  return 0;
};

async function migrateFolder(folder: string, isDry: boolean, told: Told): Promise<number> {
  const { planFolder, upgradeFolder } = await import('./platform/database/sqlite/upgrade.ts');
  if (!isDry) return upgradeFolder(folder, systemClock.now(), told);
  const plan = await planFolder(folder);
  if (!plan) return 0;
  tellPlan(plan, told);
  if (isTooLarge(plan)) throw new Refused(noRoom(plan));
  return plan.steps.length;
}

async function migrateServer(url: string, isDry: boolean, told: Told): Promise<number> {
  const { upgradeServer, planServer } = await import('./platform/database/postgres/upgrade-server.ts');
  if (!isDry) return upgradeServer(url, systemClock.now(), told);
  const plan = await planServer(url);
  if (plan) tellPlan(plan, told);
  return plan?.steps.length ?? 0;
}

const migrate: Maintenance = async ({ dataDir, databaseUrl: url }, { flag }, say) => {
  const isDry = flag('dry-run');
  const told: Told = (line) => say(`${line}\n`);
  const count = await (url === null ? migrateFolder(dataDir, isDry, told) : migrateServer(url, isDry, told));
  if (count === 0) say('Nothing to migrate: the database is of this release, or there is none yet.\n');
  else if (isDry) say(`Nothing was changed. ${NO_WAY_BACK}.\n`);
  return 0;
};

const PERSON_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;
/** Days for which the token of `lapel owner` is valid: long enough to make another one. */
const WAY_IN_DAYS = 7;

const owner: Maintenance = async ({ dataDir, databaseUrl: url }, { argument: personId }, say) => {
  if (!PERSON_ID.test(personId))
    throw new UsageError('PERSON', 'has letters, digits, dots, underscores and hyphens only, 64 at most');
  const { besideService } = await import('./platform/database/beside.ts');
  const { letOwnerIn } = await import('./core/people/let-owner-in.ts');
  const parts = { clock: systemClock, ids: randomIds };
  const wanted = { personId, days: WAY_IN_DAYS, account: userInfo().username };
  const place = { url, folder: dataDir, nowMicros: systemClock.now() };
  const token = await besideService(place, (unit) => letOwnerIn(unit, wanted, parts));
  say(`${personId} is an owner, with this token for ${WAY_IN_DAYS} days. It is shown only now, and the audit log knows of it:
${token}
`);
  return 0;
};

const audit: Maintenance = async ({ dataDir, databaseUrl: url }, { argument, text }, say) => {
  if (argument !== 'verify') throw new UsageError(argument, 'is not a command; did you mean lapel audit verify?');
  const [position, hash] = [text('position'), text('hash')];
  if ((position === undefined) !== (hash === undefined))
    throw new UsageError('--position', 'and --hash belong together: the end of the chain that was noted before');
  if (position !== undefined && !/^[1-9]\d{0,14}$/.test(position))
    throw new UsageError('--position', `"${position}" is not a position`);
  const known = hash === undefined ? undefined : { position: Number(position), hash };
  const { readBeside } = await import('./platform/database/beside.ts');
  const { checkChain } = await import('./core/audit/audit-chain.ts');
  const { faultOf, verificationText } = await import('@lapel/cli/admin/audit-verification');
  const place = { url, folder: dataDir, nowMicros: systemClock.now() };
  const found = await readBeside(place, (sql) => checkChain(sql, known));
  say(verificationText(found));
  const fault = faultOf(found);
  if (fault !== undefined) throw new Refused(fault);
  return 0;
};

const clock: Maintenance = async ({ dataDir, databaseUrl }, { argument }, say) => {
  if (argument !== 'confirm') throw new UsageError(argument, 'is not a command; did you mean lapel clock confirm?');
  if (databaseUrl !== null) throw new Refused('with PostgreSQL the clock of its server decides: set the clocks (NTP)');
  const { noteSeenTime } = await import('./platform/database/time-witness.ts');
  await noteSeenTime(dataDir, systemClock.now());
  say(`${new Date().toISOString()} is confirmed\n`);
  return 0;
};

/** Without addresses in the settings, the documents name those that `lapel serve` has by default. */
const docs: Maintenance = async ({ http, mqtt, entrance, publicUrl, timeZone, apiRelease }, { argument }, say) => {
  const { writeSite } = await import('./edge/docs/folder.ts');
  const count = await writeSite(argument, {
    apiRelease,
    timeZone,
    publicUrl: publicUrl ?? `http://${http.host}:${http.port}`,
    mqttUrls: entrance.mqttUrls ?? [`mqtt://${mqtt.host}:${mqtt.port}`],
  });
  say(`${count} pages are in ${argument}; begin with ${join(argument, 'index.html')}\n`);
  return 0;
};

/** The commands that work on the settings and the data of this machine, without a service. `main.ts` runs them. */
export const MAINTENANCE = { doctor, migrate, backup, restore, move, owner, audit, clock, docs } satisfies Record<
  string,
  Maintenance
>;
