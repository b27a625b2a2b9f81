import { DomainError, isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Database, Sql } from '../../platform/database/sql.ts';
import { toUtc } from '../../runtime/clock.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import type { Applications } from '../applications/applications.ts';
import { findFirmware } from '../devices/status-repository.ts';
import type { Due } from '../outbox/due.ts';
import { readVersionRange } from '../selection/version-range.ts';
import { NO_BINARY, type Obstacle } from '../software/installs.ts';
import type { Software } from '../software/software.ts';
import type { Refusal } from '../software/trust.ts';
import { type InstallOperation, isInstall, lineOf } from './operations.ts';
import { isFinished } from './transaction.ts';
import { findParameters, findTransaction } from './transaction-repository.ts';

export interface InstallName {
  package: string;
  version: string;
}

/** The parameters of a download: the schema mqtt/install-parameters without package and version. */
interface DeviceDownload {
  url: string;
  /** UTC. */
  expiresAt: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the file, hexadecimal. */
  sha256: string;
  /** The signature of the version (base64), and its key. */
  signature?: string;
  signatureKeyId?: string;
}

/** The reason why the service ends a transaction by itself, with a code of the contract. */
export interface Failure {
  code: 'DISTRIBUTION_STOPPED' | 'BINARY_DELETED' | Refusal['code'];
  message: string;
}

// A device gets a fresh URL at every delivery, and another one whenever it asks.
const URL_LIFETIME_SECONDS = 3600;

const STOPPED: Failure = { code: 'DISTRIBUTION_STOPPED', message: 'the distribution of this version was stopped.' };
const DELETED: Failure = { code: 'BINARY_DELETED', message: 'the binary of this version was deleted.' };
/** The answer to a device that asks for a fresh URL while the object store is away. */
const UNREACHABLE = { code: 'BUSY', message: 'the object store did not answer; ask again later.' } as const;
const PREPARING = { code: 'BUSY', message: 'the file is being read for its SHA-256; ask again later.' } as const;

interface Parts {
  database: Database;
  installs: Software['installs'];
  findApplication: Applications['findIn'];
  log: Log;
  /** Ends a transaction that will not be sent to its device. */
  fail(deviceId: string, transactionId: number, failure: Failure): Promise<void>;
}

/** Throws FIRMWARE_REQUIRED unless a device has reported firmware in a SemVer range. */
async function requireFirmware(sql: Sql, deviceId: string, range: string): Promise<void> {
  const firmware = await findFirmware(sql, deviceId);
  if (firmware !== null && readVersionRange(range)?.has(firmware)) return;
  throw new DomainError('FIRMWARE_REQUIRED', { values: { range, firmware: firmware ?? 'none' } });
}

/** The rules of op 28 and of firmware updates: which versions may be installed, and the URL that is made at delivery. */
export function createInstallation({ database, installs, findApplication, log, fail }: Parts) {
  /**
   * Makes a fresh URL for the version of a transaction, or returns the reason why there is none. Rejects when the object
   * store does not answer.
   */
  async function download(
    operation: InstallOperation,
    name: InstallName,
    applicationId: string,
    waits: boolean,
  ): Promise<DeviceDownload | Failure | typeof PREPARING> {
    // The package's name may belong to another developer by now, whose files this device must not get.
    const { developerId } = await findApplication(database.read, applicationId);
    const current = await installs.findCurrent(lineOf(operation), name, developerId);
    if (!current) return DELETED;
    if (lineOf(operation) === 'software' && current.distributionStartedAt === null) return STOPPED;
    const found = await installs.download(current, { expiresIn: URL_LIFETIME_SECONDS, waits });
    if (found === 'preparing') return PREPARING;
    if (!found) return DELETED;
    // The reason is the error that a caller gets: a key may have been revoked, or a file replaced, since the call.
    if ('code' in found) return { code: found.code, message: new DomainError(found.code, found).message };
    return { ...found, expiresAt: toUtc(found.expiresAt) };
  }

  async function prepareInstall(operation: InstallOperation, due: Due): Promise<object | null> {
    const name = due.parameters as InstallName;
    const record = await findTransaction(database.read, due.transactionId);
    if (!record || isFinished(record.status)) return null; // cancelled while the object store was away
    const found = await download(operation, name, due.applicationId, true);
    if ('code' in found) {
      if (found.code === 'BUSY') throw new Error(found.message); // impossible here, since `download` was told to wait
      await fail(record.deviceId, due.transactionId, found);
      return null;
    }
    // The transaction may have been cancelled during the calls to the object store; then it must not be sent.
    const now = await findTransaction(database.read, due.transactionId);
    return !now || isFinished(now.status) ? null : { package: name.package, version: name.version, ...found };
  }

  return {
    /**
     * The reason why the developer cannot install the version's file, as far as `admit` does not know it. Called before
     * the unit of work, because the check uses the network.
     */
    async obstacle(operation: InstallOperation, name: InstallName, developerId: string): Promise<Obstacle | undefined> {
      const current = await installs.findCurrent(lineOf(operation), name, developerId);
      return current ? installs.obstacle(current) : NO_BINARY;
    },

    /**
     * Checks the rules of op 28 and of firmware updates. Nothing is locked, because they are checked again at every delivery.
     * Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND, DISTRIBUTION_NOT_STARTED, FIRMWARE_NOT_LISTED, the obstacle, and, for
     * a device, FIRMWARE_REQUIRED.
     */
    async admit(
      sql: Sql,
      operation: InstallOperation,
      name: InstallName,
      developerId: string,
      obstacle: Obstacle | undefined,
      deviceId?: string,
    ): Promise<void> {
      if (lineOf(operation) === 'firmware') {
        await installs.findFirmware(sql, name).catch((cause: unknown) => {
          throw cause instanceof DomainError ? new DomainError('FIRMWARE_NOT_LISTED', { cause }) : cause;
        });
      } else {
        const { distributionStartedAt, requiresFirmware } = await installs.findInstallable(sql, developerId, name);
        if (distributionStartedAt === null) throw new DomainError('DISTRIBUTION_NOT_STARTED');
        if (requiresFirmware !== null && deviceId !== undefined) await requireFirmware(sql, deviceId, requiresFirmware);
      }
      if (obstacle) throw new DomainError(obstacle.code, obstacle);
    },

    /**
     * For the outbox: makes the parameters for this delivery, or returns null when the transaction has ended instead. Rejects
     * when the object store does not answer; the transaction stays, and is prepared again.
     */
    prepare(due: Due): Promise<object | null> | undefined {
      return isInstall(due.operation) ? prepareInstall(due.operation, due) : undefined;
    },

    /**
     * Makes a fresh URL for a device that is installing (the request `softwareDownloadUrl`), only for an unfinished install of
     * its own. Throws TRANSACTION_NOT_FOUND.
     */
    async freshUrl(
      deviceId: string,
      transactionId: number,
    ): Promise<DeviceDownload | Failure | typeof UNREACHABLE | typeof PREPARING> {
      const record = await findTransaction(database.read, transactionId);
      if (record?.deviceId !== deviceId || isFinished(record.status) || !isInstall(record.operation)) {
        throw new DomainError('TRANSACTION_NOT_FOUND');
      }
      const parameters = (await findParameters(database.read, transactionId)) as InstallName;
      return download(record.operation, parameters, record.applicationId, false).catch((err: unknown) => {
        if (!isDatabaseAway(err)) log[levelOf(err)]({ err, transactionId }, 'a fresh download URL could not be made');
        return UNREACHABLE;
      });
    },
  };
}

export type Installation = ReturnType<typeof createInstallation>;
