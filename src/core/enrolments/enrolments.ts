import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { ShownCertificate } from '../../platform/entrance/client-certificates.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { hashSecret, matchesSecret } from '../../runtime/secret-hash.ts';
import type { Audit } from '../audit/audit.ts';
import { type Authorities, aboutCertificate, type Signed } from '../authorities/authorities.ts';
import { findEnrolling, giveCertificate, insertDevice, updateCredential } from '../devices/device-repository.ts';
import { countEnrolled, findBatch, findBatchByCode } from './batch-repository.ts';
import { isClaim } from './claims.ts';
import { keyToSign } from './csr.ts';
import {
  type Batch,
  closedFor,
  type Enrolment,
  MOST_PENDING,
  nextStep,
  PENDING_MICROS,
  type RefusalReason,
  type Step,
} from './enrolment.ts';
import { countPending, findEnrolment, removeStale, saveEnrolment } from './enrolment-repository.ts';
import type { Refusals } from './refusals.ts';

/** A request of a device for its credential. */
interface Asked {
  deviceId: string;
  /** The one-time code of the batch; or the batch, and the certificate that the device shows. */
  proof: { code: string } | { batchId: string; shown: ShownCertificate | undefined };
  /** The secret that the device made before its first request. */
  nonce: string;
  /** The certification request of a device that gets a certificate, in PEM. */
  csr: string | undefined;
  address: string;
  requestId: string;
}

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  metrics: Pick<Metrics, 'enrolments'>;
  audit: Pick<Audit, 'noteIn'>;
  refusals: Refusals;
  authorities: Pick<Authorities, 'sign'>;
  /** LAPEL_DEVICE_CERTIFICATES: whether the service signs certificates for devices. */
  deviceCertificates: boolean;
  /** Throws DEVELOPER_NOT_FOUND and DEVELOPER_LEAVING. */
  requireStaying(developerId: string, sql?: Sql): Promise<unknown>;
}

/** The credential or certificate that a unit of work gives to a device. */
interface Giving {
  batch: Batch;
  asked: Asked;
  /** The device's row, and its former request, as the unit has locked them. */
  device: Enrolling;
  known: Enrolment | undefined;
  /** The certificate of the device; undefined when it gets a credential. */
  signed: Signed | undefined;
  outcome: 'enrolled' | 'again';
}

type Enrolling = Awaited<ReturnType<typeof findEnrolling>>;

/** Undone when the device appeared while the unit of work waited for a lock; the unit is then repeated. */
class Overtaken extends Error {}
const MOST_ATTEMPTS = 3;

/** The answer to a device: its credential; or its certificate, with that of the CA. */
type Given = { credential: string } | Pick<Signed, 'certificate' | 'authorityCertificate'>;

export type Enrolments = ReturnType<typeof createEnrolments>;

/**
 * Gives devices their first credential or certificate, for the one-time code of their batch. The rules are in `nextStep`. They are
 * checked before a unit of work begins, so that a refused request costs no commit and no lock, and once more inside.
 */
export function createEnrolments({ database, clock, ids, metrics, audit, refusals, requireStaying, ...parts }: Parts) {
  async function stays(developerId: string, sql: Sql): Promise<boolean> {
    try {
      await requireStaying(developerId, sql);
      return true;
    } catch (error) {
      if (error instanceof DomainError && error.code.startsWith('DEVELOPER_')) return false;
      throw error;
    }
  }

  function refuse({ deviceId, address }: Asked, reason: RefusalReason, batch: Batch | undefined): never {
    metrics.enrolments.inc({ outcome: reason });
    refusals.count({ reason, batch, deviceId, address });
    throw new DomainError('ENROLMENT_REFUSED');
  }

  async function note(
    unit: UnitOfWork,
    batch: Batch,
    { deviceId, requestId, address }: Asked,
    { outcome, signed }: { outcome: string; signed?: Signed | undefined },
  ) {
    const { batchId, name, developerId } = batch;
    await audit.noteIn(unit, {
      action: outcome === 'pending' ? 'ASK /devices/{deviceId}/enrolment' : 'ENROL /devices/{deviceId}',
      resource: `/admin/v1/devices/${deviceId}`,
      id: requestId,
      address,
      details: { batchId, batch: name, outcome, ...(signed && aboutCertificate(signed)) },
      about: [
        { kind: 'developer', id: developerId },
        { kind: 'device', id: deviceId },
      ],
    });
    unit.onCommit(() => metrics.enrolments.inc({ outcome }));
  }

  /** Stores a new credential for the device, or its certificate, and returns it. */
  async function give(
    unit: UnitOfWork,
    { batch, asked, device, known, signed, outcome }: Giving,
  ): Promise<{ state: 'enrolled' } & Given> {
    const { batchId, developerId } = batch;
    const { deviceId, nonce, address } = asked;
    // A device with a certificate has none that anybody knows.
    const credential = ids.secret();
    const hash = hashSecret(credential);
    const now = clock.now();
    if (device && !signed) await updateCredential(unit, deviceId, { hash, certificate: device.certificate });
    if (!device) {
      const row = { deviceId, developerId, hardwareProperties: null, createdAt: now };
      if (!(await insertDevice(unit, row, hash))) throw new Overtaken();
    }
    if (signed) await giveCertificate(unit, deviceId, { hash, ...signed });
    saveEnrolment(unit, {
      batchId,
      deviceId,
      state: 'enrolled',
      nonceHash: hashSecret(nonce),
      credentialHash: hash,
      address,
      requestedAt: known?.requestedAt ?? now,
      decidedAt: known?.decidedAt ?? now,
    });
    await note(unit, batch, asked, { outcome, signed });
    if (!signed) return { state: 'enrolled', credential };
    const { certificate, authorityCertificate } = signed;
    return { state: 'enrolled', certificate, authorityCertificate };
  }

  async function wait(unit: UnitOfWork, batch: Batch, asked: Asked) {
    const { batchId } = batch;
    const { deviceId, nonce, address } = asked;
    const now = clock.now();
    removeStale(unit, batchId, now - PENDING_MICROS);
    if ((await countPending(unit, batchId, now - PENDING_MICROS)) >= MOST_PENDING) return 'pending_full';
    const row = { batchId, deviceId, nonceHash: hashSecret(nonce), credentialHash: null, address };
    saveEnrolment(unit, { ...row, state: 'pending', requestedAt: now, decidedAt: null });
    await note(unit, batch, asked, { outcome: 'pending' });
    return { state: 'pending' as const };
  }

  /**
   * Decides about a request. A unit of work reads the batch again, and locks all rows. Without a batch the same rows are
   * looked for.
   */
  async function look(unit: UnitOfWork | undefined, batch: Batch | undefined, { deviceId, nonce }: Asked) {
    const sql = unit ?? database.read;
    const lock = unit?.forUpdate ?? '';
    const looked = findEnrolling(sql, deviceId, lock);
    const [isStaying, device, locked, known] = await inOneGo(
      stays(batch?.developerId ?? '', sql),
      looked,
      batch && unit ? findBatch(unit, batch.batchId, lock) : batch,
      // Only the statements of a unit keep their order. Elsewhere a device that was registered between these two reads
      // would be one that has never asked.
      (unit ? Promise.resolve() : looked).then(() => findEnrolment(sql, batch?.batchId ?? '', deviceId, lock)),
    );
    const isSameNonce = matchesSecret(nonce, known?.nonceHash);
    const now = clock.now();
    const closed = closedFor(locked, deviceId, now);
    const found = { device, known, isSameNonce };
    if (closed || !locked) return { step: { refused: closed ?? 'unknown_code' } satisfies Step, ...found };
    if (!isStaying) return { step: { refused: 'developer' } satisfies Step, ...found };
    if (unit && !device && known?.state === 'enrolled' && (await findEnrolling(unit, deviceId))) throw new Overtaken();
    return { step: nextStep({ batch: locked, ...found, now }), ...found };
  }

  /**
   * Carries out a request that was not refused by what was read before, in a unit of work. All units of a batch lock its
   * row, so this process runs them one after another: side by side they would only take the connections of other units.
   */
  function carryOut(batch: Batch, asked: Asked, signed: Signed | undefined) {
    return database.transact(
      async (unit) => {
        const { step, ...found } = await look(unit, batch, asked);
        if (typeof step === 'object') return step.refused;
        if (step === 'wait') return { state: 'pending' as const };
        if (step === 'ask') return wait(unit, batch, asked);
        // A person has approved the device since it was looked for: it asks again.
        if (batch.authorityId !== null && !signed) return { state: 'pending' as const };
        if (step === 'enrol') countEnrolled(unit, batch.batchId);
        return give(unit, { batch, asked, ...found, signed, outcome: step === 'again' ? 'again' : 'enrolled' });
      },
      { about: [batch.batchId, asked.deviceId] },
    );
  }

  async function repeated(...[batch, asked, signed]: Parameters<typeof carryOut>): ReturnType<typeof carryOut> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await carryOut(batch, asked, signed);
      } catch (error) {
        if (!(error instanceof Overtaken) || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  return {
    /**
     * Answers a device with its credential, or tells it to ask again later. All refusals are one error,
     * ENROLMENT_REFUSED, and an unknown code takes the same queries as a known one, so a guesser learns nothing. So does a
     * batch whose certificate the device does not show.
     * `admit` is called for the code of an open batch; it may throw RATE_LIMITED. Only then a certification request is read,
     * and a faulty one is REQUEST_INVALID. It is signed before the unit of work begins, which must not wait for it.
     */
    async ask(
      asked: Asked,
      admit: (batch: Pick<Batch, 'batchId' | 'developerId'>) => void,
    ): Promise<({ state: 'enrolled' } & Given) | { state: 'pending' }> {
      const { proof, deviceId } = asked;
      const isByCode = 'code' in proof;
      const named = isByCode
        ? await findBatchByCode(database.read, hashSecret(proof.code))
        : await findBatch(database.read, proof.batchId);
      const isProven = named !== undefined && (isByCode || isClaim(named, proof.shown, deviceId, clock.now()));
      const batch = isProven ? named : undefined;
      const { step, known, isSameNonce } = await look(undefined, batch, asked);
      if (!batch) return refuse(asked, isByCode ? 'unknown_code' : 'certificate', named);
      const isClosed = closedFor(batch, asked.deviceId, clock.now()) !== undefined;
      if (!isClosed) admit(batch);
      // While the same request runs, the device's row may be from before its commit, and that of the enrolment from after.
      const isSure = isClosed || !(known?.state === 'enrolled' && isSameNonce);
      if (typeof step === 'object' && isSure) return refuse(asked, step.refused, batch);
      if (batch.authorityId !== null && !parts.deviceCertificates) return refuse(asked, 'authority', batch);
      const publicKey = keyToSign(batch, asked.csr, () => metrics.enrolments.inc({ outcome: 'csr' }));
      if (step === 'wait') return { state: 'pending' };
      let signed: Signed | undefined;
      if (publicKey && step !== 'ask') {
        const { developerId, authorityId, certificateDays } = batch;
        const days = certificateDays ?? 0;
        signed = await parts.authorities.sign({ developerId, authorityId, deviceId }, { publicKey, days });
        if (!signed) return refuse(asked, 'authority', batch);
      }
      const answer = await repeated(batch, asked, signed);
      return typeof answer === 'string' ? refuse(asked, answer as RefusalReason, batch) : answer;
    },
  };
}
