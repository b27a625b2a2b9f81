import { oneLine } from '@lapel/cli/show/plain-text';
import { ownVersion } from '@lapel/schemas/base/version';
import { type Config, secretFilesOf } from './config.ts';
import type { DatabaseState } from './platform/database/database-state.ts';
import { systemClock } from './runtime/clock.ts';
import { type Address, type Finding, lookAtDisk, lookAtFiles, lookAtPorts } from './runtime/machine-check.ts';
import { LOOPBACK } from './runtime/setting-values.ts';
import { SECOND } from './runtime/units.ts';

/** Microseconds by which two clocks may differ. */
const SAME_TIME = 2 * SECOND;
/** Connections of devices below which the limit of open files is probably one that nobody chose. */
const FEW_DEVICES = 1000;

/** The findings of a part, under its name. */
type Part = readonly [name: string, findings: readonly Finding[]];

const good = (text: string): Finding => ({ text, level: 'good' });
const advice = (text: string): Finding => ({ text, level: 'advice' });
const bad = (text: string): Finding => ({ text, level: 'bad' });

const sizeOf = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
const newsOf = (missing: number): string =>
  missing === 0 ? '' : `; the next start applies ${missing} migrations (lapel migrate --dry-run)`;

/** Settings that are permitted, and that an operator may not have meant. */
function lookAtSettings(config: Config): Finding[] {
  const { http, publicUrl, webhooksHeld, webhookAllowPrivate, rateLimit, mqtt } = config;
  const isOpen = !LOOPBACK.test(http.host);
  const all = [
    isOpen &&
      publicUrl === null &&
      'LAPEL_PUBLIC_URL is not set: URLs in answers begin with an address of this machine',
    isOpen && webhookAllowPrivate && 'LAPEL_WEBHOOK_ALLOW_PRIVATE: applications can reach addresses in your network',
    isOpen && rateLimit === 0 && 'LAPEL_RATE_LIMIT is 0: one application can use up the service',
    webhooksHeld && 'LAPEL_WEBHOOKS_HELD: webhooks are stored, and none is sent',
    mqtt.maxConnections < FEW_DEVICES &&
      `at most ${mqtt.maxConnections} devices can be connected; the limit of open files decides (ulimit -n, LimitNOFILE)`,
  ];
  const found = all.filter((text) => text !== false).map(advice);
  return found.length > 0 ? found : [good('good')];
}

const addressesOf = ({ http, admin, mqtt, mqtts, mqttWs, objects, metrics }: Config): Address[] => [
  { name: 'API', ...http },
  { name: 'administration', ...admin },
  { name: 'MQTT', ...mqtt },
  ...(mqtts ? [{ name: 'MQTT over TLS', ...mqtts }] : []),
  ...(mqttWs ? [{ name: 'MQTT over WebSocket', ...mqttWs }] : []),
  ...(objects.endpoint === null ? [{ name: 'object store', ...objects }] : []),
  ...(metrics ? [{ name: 'metrics', ...metrics }] : []),
];

function ofRevocationList(listeners: string, expires: number): Finding {
  const when = new Date(expires * 1000).toISOString().slice(0, 16).replace('T', ' ');
  if (expires * 1000 > Date.now())
    return { text: `${listeners}: the revocation list is in date until ${when} UTC`, level: 'good' };
  const text = `${listeners}: the revocation list is out of date since ${when} UTC, so no client certificate is accepted`;
  return { text, level: 'bad' };
}

/** The certificates of the listeners. Throws DomainError for files that cannot be used. */
async function lookAtCertificates(config: Config): Promise<Finding[]> {
  const { tlsSetsOf } = await import('./platform/entrance/entrance.ts');
  const { firstToExpire, readTlsFiles } = await import('./platform/entrance/tls-files.ts');
  const { readRevoked } = await import('./platform/entrance/revoked.ts');
  return tlsSetsOf(config).flatMap(({ listeners, paths, settings }): Finding[] => {
    const { cert, clientCa, clientCrl } = readTlsFiles(paths, settings);
    const { expires } = firstToExpire((cert ?? clientCa)!);
    const left = expires * 1000 - Date.now();
    const when = new Date(expires * 1000).toISOString().slice(0, 10);
    const days = Math.floor(left / 86_400_000);
    const text = left > 0 ? `valid until ${when} (${days} days)` : `expired on ${when}: clients refuse it`;
    const level = left <= 0 ? 'bad' : days < 7 ? 'advice' : 'good';
    const list = clientCrl && readRevoked(clientCrl).firstToExpire;
    return [
      { text: `${listeners.join(', ')}: ${text}`, level },
      ...(list ? [ofRevocationList(listeners.join(', '), list.expires)] : []),
    ];
  });
}

/** The findings about a database, and what it says about time and receivers. */
interface Looked {
  findings: Finding[];
  state: DatabaseState | undefined;
  /** Microseconds by which the clock of the server is ahead. */
  ahead: number;
}

async function lookAtFolder(folder: string, whole: boolean): Promise<Looked> {
  const { examineDatabase } = await import('./platform/database/sqlite/examine.ts');
  const { bytes, missing, faults, notes, state } = examineDatabase(folder, { whole });
  const found = whole ? 'intact: the whole file was checked' : 'opens; --check-database checks the whole file';
  const findings =
    faults.length > 0
      ? faults.map((fault) => bad(`damaged: ${fault}; restore a backup`))
      : bytes === undefined
        ? [good(`none in ${folder} yet; the first start creates it`)]
        : [good(`${sizeOf(bytes)}, ${found}${newsOf(missing)}`), ...notes.map(advice)];
  return { findings, state, ahead: 0 };
}

async function lookAtServer(url: string): Promise<Looked> {
  const { examinePostgres } = await import('./platform/database/postgres/examine.ts');
  const { name, bytes, missing, faults, notes, state, ahead = 0 } = await examinePostgres(url);
  const found = bytes
    ? `${sizeOf(bytes)}, opens (pg_amcheck checks the whole database)`
    : 'empty; the first start creates the tables';
  const findings =
    faults.length > 0
      ? faults.map((fault) => bad(`${name} cannot be used: ${fault}`))
      : [good(`${name}: ${found}${newsOf(missing)}`), ...notes.map(advice)];
  return { findings, state, ahead };
}

/** The encryption of secrets at rest. Throws DomainError for keys that cannot be read. */
async function lookAtEncryption({ encryption, databaseUrl: url, dataDir: folder }: Config): Promise<Finding[]> {
  const { readKeys } = await import('./platform/encryption/key-ring.ts');
  const { readBeside } = await import('./platform/database/beside.ts');
  const { faultOfRing } = await import('./core/encryption/encryption.ts');
  const { listKeys } = await import('./core/encryption/encryption-repository.ts');
  const ring = await readKeys(encryption);
  const place = { url, folder, nowMicros: systemClock.now() };
  // There may be no database yet, or one of an older release; the part about the database says what is wrong with it.
  const stored = await readBeside(place, listKeys).catch(() => []);
  const fault = faultOfRing(ring, stored);
  if (fault !== undefined) return [bad(fault)];
  const [newest] = ring;
  if (!newest) return [good('no key is set: secrets are stored as they are (LAPEL_ENCRYPTION_KEY_FILE)')];
  const current = stored.find(({ state }) => state === 'current')?.keyId;
  const isUsed = current === undefined || current === newest.keyId;
  return [
    isUsed ? good(`key ${newest.keyId}`) : advice(`key ${current}; lapel keys rotate changes to ${newest.keyId}`),
  ];
}

/** Compares the clock of this machine with that of the database, or with the times in it. */
function lookAtClock({ state, ahead }: Looked): Finding[] {
  const seconds = (micros: number): string => `${(Math.abs(micros) / SECOND).toFixed(1)} s`;
  if (Math.abs(ahead) > SAME_TIME)
    return [advice(`${seconds(ahead)} ${ahead > 0 ? 'behind' : 'ahead of'} the clock of the database server (NTP)`)];
  const behind = (state?.latestAt ?? 0) - systemClock.now();
  if (behind > SAME_TIME) return [advice(`${seconds(behind)} behind the time of the latest transaction (NTP)`)];
  return [good(new Date(systemClock.now() / 1000).toISOString())];
}

function lookAtReceivers({ state }: Looked): Finding[] {
  if (state === undefined) return [];
  if (state.failing.length === 0) return [good('no webhook waits for another attempt')];
  return state.failing.map(({ applicationId, setting, deliveries, lastError }) => {
    const waiting = deliveries === 1 ? '1 webhook waits' : `${deliveries} webhooks wait`;
    return advice(`${applicationId} ${setting}: ${waiting} for another attempt: ${oneLine(lastError ?? 'no answer')}`);
  });
}

/** The mark before a line, in the width of all. */
const MARKS = { good: '', advice: 'advice: ', bad: 'PROBLEM: ' } as const;

/**
 * `lapel doctor`: looks at everything that a start needs and that an operator is asked for, and changes nothing. The
 * service may be running. Resolves to exit code 1 when there is a problem; advice is none. Throws DomainError.
 */
export async function doctor(
  config: Config,
  { flag }: { flag(name: string): boolean },
  say: (text: string) => void,
): Promise<number> {
  const { dataDir, databaseUrl } = config;
  const tell = ([name, findings]: Part): void => {
    for (const { text, level } of findings) say(`${name.padEnd(10)} ${MARKS[level]}${text}\n`);
  };
  const parts: Part[] = [];
  const add = (...part: Part): void => {
    parts.push(part);
    tell(part);
  };
  add('version', [good(`Lapel ${ownVersion()}`)]);
  add('settings', lookAtSettings(config));
  add('TLS', await lookAtCertificates(config));
  add('ports', await lookAtPorts(addressesOf(config), { name: 'administration', ...config.admin }));
  add('disk', await lookAtDisk(dataDir));
  add('files', lookAtFiles(dataDir, secretFilesOf(config)));
  const database = await (databaseUrl === null
    ? lookAtFolder(dataDir, flag('check-database'))
    : lookAtServer(databaseUrl));
  add('database', database.findings);
  add('encryption', await lookAtEncryption(config));
  add('clock', lookAtClock(database));
  add('receivers', lookAtReceivers(database));
  return parts.some(([, findings]) => findings.some(({ level }) => level === 'bad')) ? 1 : 0;
}
