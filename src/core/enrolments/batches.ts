import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Sql } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { readGivenCertificate } from '../../runtime/given-certificate.ts';
import type { Ids } from '../../runtime/ids.ts';
import { hashSecret } from '../../runtime/secret-hash.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Authorities } from '../authorities/authorities.ts';
import * as repository from './batch-repository.ts';
import { type Batch, type Enrolment, type EnrolmentState, isOpen, isStale } from './enrolment.ts';
import { countPending, findEnrolment, listEnrolments, saveEnrolment } from './enrolment-repository.ts';

/** The most batches of a developer whose codes are valid. */
const MOST_BATCHES = 1_000;
/** The days for which a certificate of a device is valid when the batch does not say. */
const USUAL_DAYS = 365;
/** The longest time for which a code is valid. */
const LONGEST_MICROS = 366 * 86_400_000_000;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  /** Whether devices may enrol by certificate. */
  areClaims: boolean;
  /** Whether the service signs certificates for devices. */
  deviceCertificates: boolean;
  authorities: Pick<Authorities, 'signs'>;
  requireDeveloper(developerId: string): Promise<unknown>;
  requireStaying(developerId: string, sql?: Sql): Promise<unknown>;
}

export type WantedBatch = Pick<Batch, 'name' | 'mostDevices' | 'expiresAt'> &
  Partial<Pick<Batch, 'approval' | 'deviceIds' | 'registered' | 'claimCertificate' | 'authorityId'>> & {
    certificateDays?: number;
  };

/** A batch with the number of its requests that wait for a person. */
export type ShownBatch = Batch & { pending: number };

export type EnrolmentBatches = ReturnType<typeof createBatches>;

/** The batches of devices that may enrol, and the approval of their requests by a person: administration. */
export function createBatches({ database, clock, ids, areClaims, requireDeveloper, requireStaying, ...parts }: Parts) {
  const { read } = database;
  const { authorities, deviceCertificates } = parts;

  const shown = async (batch: Batch): Promise<ShownBatch> => ({
    ...batch,
    pending: batch.approval === 'manual' ? await countPending(read, batch.batchId, 0) : 0,
  });

  async function find(batchId: string, sql: Sql = read): Promise<Batch> {
    const batch = await repository.findBatch(sql, batchId);
    if (!batch) throw new DomainError('ENROLMENT_BATCH_NOT_FOUND');
    return batch;
  }

  /** The certificate alone, whatever else is in the text. */
  function readClaim(pem: string | null): string | null {
    if (pem === null) return null;
    const read = areClaims
      ? readGivenCertificate(pem, clock.now())
      : 'The service needs LAPEL_ENROLMENT_CERTIFICATES=true';
    if (typeof read !== 'string') return read.toString();
    const type = areClaims ? 'string_pattern_mismatch' : 'extra_forbidden';
    throw DomainError.invalid({ loc: ['body', 'claimCertificate'], msg: read, type });
  }

  /** How the devices of a batch get certificates. Throws REQUEST_INVALID for a device CA that signs none for them. */
  async function readIssuing(
    developerId: string,
    { authorityId = null, certificateDays }: Pick<WantedBatch, 'authorityId' | 'certificateDays'>,
  ): Promise<Pick<Batch, 'authorityId' | 'certificateDays'>> {
    const fault = (field: string, msg: string, type: 'extra_forbidden' | 'string_pattern_mismatch'): DomainError =>
      DomainError.invalid({ loc: ['body', field], msg, type });
    if (authorityId === null) {
      if (certificateDays !== undefined)
        throw fault('certificateDays', 'Input needs the authorityId of a device CA', 'extra_forbidden');
      return { authorityId, certificateDays: null };
    }
    if (!deviceCertificates)
      throw fault('authorityId', 'The service needs LAPEL_DEVICE_CERTIFICATES=true', 'extra_forbidden');
    if (!(await authorities.signs(developerId, authorityId)))
      throw fault('authorityId', 'Value should be a device CA of the developer that signs', 'string_pattern_mismatch');
    return { authorityId, certificateDays: certificateDays ?? USUAL_DAYS };
  }

  return {
    /**
     * Makes a batch. Its code is returned only now, because only a hash is stored; a batch with a certificate has none. Throws DEVELOPER_NOT_FOUND,
     * DEVELOPER_LEAVING, TOO_MANY_ENROLMENT_BATCHES, and REQUEST_INVALID for an end that is past or too far away, or a faulty
     * certificate, or a device CA that is not one of the developer, or signs no more.
     */
    async create(developerId: string, wanted: WantedBatch): Promise<{ batch: ShownBatch; code: string | null }> {
      const now = clock.now();
      if (wanted.expiresAt <= now || wanted.expiresAt > now + LONGEST_MICROS) {
        const msg = 'Input should be a time in the next 366 days';
        const type = wanted.expiresAt <= now ? 'greater_than_equal' : 'less_than_equal';
        throw DomainError.invalid({ loc: ['body', 'expiresAt'], msg, type });
      }
      const { approval = 'automatic', deviceIds = null, registered = false } = wanted;
      const claimCertificate = readClaim(wanted.claimCertificate ?? null);
      const made = { developerId, enrolled: 0, createdAt: now, revokedAt: null };
      await requireStaying(developerId);
      const rules = { approval, deviceIds, registered, claimCertificate, ...(await readIssuing(developerId, wanted)) };
      const batch: Batch = { ...wanted, ...made, batchId: ids.next('enb', now), ...rules };
      const code = ids.secret(); // nobody learns the one of a batch with a certificate
      await database.transact(async (unit) => {
        await requireStaying(developerId, unit);
        if ((await repository.countOpen(unit, developerId, now)) >= MOST_BATCHES)
          throw new DomainError('TOO_MANY_ENROLMENT_BATCHES', { values: { limit: MOST_BATCHES } });
        await repository.insertBatch(unit, batch, hashSecret(code));
      });
      return { batch: { ...batch, pending: 0 }, code: claimCertificate === null ? code : null };
    },

    /** A page of a developer's batches, the newest first. Throws DEVELOPER_NOT_FOUND. */
    async list(developerId: string, page: { offset: number; limit: number }) {
      await requireDeveloper(developerId);
      const { batches, total } = await repository.listBatches(read, developerId, page);
      return { batches: await Promise.all(batches.map(shown)), total };
    },

    /** Throws ENROLMENT_BATCH_NOT_FOUND. */
    find: async (batchId: string): Promise<ShownBatch> => shown(await find(batchId)),

    /**
     * Ends a batch: nobody enrols with its code any more. Devices that have enrolled stay. Throws
     * ENROLMENT_BATCH_NOT_FOUND.
     */
    async revoke(batchId: string): Promise<ShownBatch> {
      const batch = await database.transact(async (unit) => {
        const found = await repository.findBatch(unit, batchId, unit.forUpdate);
        if (!found) throw new DomainError('ENROLMENT_BATCH_NOT_FOUND');
        if (found.revokedAt !== null) return found;
        const revokedAt: Micros = clock.now();
        await repository.revokeBatch(unit, batchId, revokedAt);
        return { ...found, revokedAt };
      });
      return shown(batch);
    },

    /** The devices that have asked, in the order of their deviceIds. Throws ENROLMENT_BATCH_NOT_FOUND. */
    async devices(
      batchId: string,
      query: { state?: EnrolmentState | undefined; after?: string | undefined; limit: number },
    ): Promise<Enrolment[]> {
      await find(batchId);
      return listEnrolments(read, batchId, query);
    },

    /**
     * Decides about a device that waits. An approved device gets its credential when it asks again. A decision that is made
     * already may be repeated. Throws ENROLMENT_BATCH_NOT_FOUND, ENROLMENT_NOT_FOUND, ENROLMENT_DECIDED, and
     * ENROLMENT_BATCH_CLOSED for the approval of a device that the batch could not enrol any more.
     */
    decide: (batchId: string, deviceId: string, state: 'approved' | 'refused'): Promise<Enrolment> =>
      database.transact(async (unit) => {
        const batch = await repository.findBatch(unit, batchId, unit.forUpdate);
        if (!batch) throw new DomainError('ENROLMENT_BATCH_NOT_FOUND');
        const known = await findEnrolment(unit, batchId, deviceId, unit.forUpdate);
        const now = clock.now();
        if (!known || isStale(known, now)) throw new DomainError('ENROLMENT_NOT_FOUND');
        if (known.state === state) return known;
        if (known.state !== 'pending') throw new DomainError('ENROLMENT_DECIDED', { values: { state: known.state } });
        if (state === 'approved' && (!isOpen(batch, now) || batch.enrolled >= batch.mostDevices))
          throw new DomainError('ENROLMENT_BATCH_CLOSED');
        const decided: Enrolment = { ...known, state, decidedAt: now };
        saveEnrolment(unit, decided);
        return decided;
      }),
  };
}
