import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, Sql } from '../../platform/database/sql.ts';
import type { ShownCertificate } from '../../platform/entrance/client-certificates.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Audit } from '../audit/audit.ts';
import { type Authorities, aboutCertificate, type Signed } from '../authorities/authorities.ts';
import { findCertified, findLogin, offerCertificate } from '../devices/device-repository.ts';
import { keyOf } from './csr.ts';
import type { RefusalReason } from './enrolment.ts';
import type { Refusals } from './refusals.ts';

/** The days for which a certificate is valid when the device has it from a release that did not store them. */
const USUAL_DAYS = 365;

/** A request of a device for its next certificate. */
interface Asked {
  deviceId: string;
  /** The certificate that the device shows; undefined without one. */
  shown: ShownCertificate | undefined;
  csr: string;
  address: string;
  requestId: string;
}

interface Parts {
  database: Database;
  clock: Clock;
  metrics: Pick<Metrics, 'enrolments'>;
  audit: Pick<Audit, 'noteIn'>;
  refusals: Refusals;
  authorities: Pick<Authorities, 'sign'>;
  /** LAPEL_DEVICE_CERTIFICATES: whether the service signs certificates for devices. */
  deviceCertificates: boolean;
}

export type Renewals = ReturnType<typeof createRenewals>;

/** The SHA-256 of a certificate as devices have it: hexadecimal. */
const fingerprintOf = ({ thumbprint }: ShownCertificate): string =>
  Buffer.from(thumbprint, 'base64url').toString('hex');

/**
 * Signs the next certificate of a device that shows its present one. The present one stays valid until the device logs in
 * with the next one; then it ends. Asked again, the newest one counts.
 */
export function createRenewals({ database, clock, metrics, audit, refusals, authorities, deviceCertificates }: Parts) {
  function refuse({ deviceId, address }: Asked, reason: RefusalReason): never {
    metrics.enrolments.inc({ outcome: reason });
    refusals.count({ reason, batch: undefined, deviceId, address });
    throw new DomainError('ENROLMENT_REFUSED');
  }

  /** Why the device gets no certificate; undefined if it may have one. */
  async function look(sql: Sql, { deviceId, shown }: Asked): Promise<RefusalReason | undefined> {
    const login = await findLogin(sql, deviceId);
    const present = login?.issued;
    const isPresent = present && shown && present.fingerprint === fingerprintOf(shown) && clock.now() < present.until;
    if (!isPresent || !deviceCertificates) return 'certificate';
    return login.blocked || login.leaves ? 'blocked' : undefined;
  }

  return {
    /**
     * Answers a device with its next certificate. All refusals are one error, ENROLMENT_REFUSED. `admit` is called for a
     * device that has shown its certificate; it may throw RATE_LIMITED. Only then the certification request is read, and a
     * faulty one is REQUEST_INVALID.
     */
    async renew(
      asked: Asked,
      admit: (device: { deviceId: string; developerId: string }) => void,
    ): Promise<Pick<Signed, 'certificate' | 'authorityCertificate'>> {
      const { deviceId, requestId, address } = asked;
      const refused = await look(database.read, asked);
      const device = await findCertified(database.read, deviceId);
      if (refused !== undefined || !device?.issued) return refuse(asked, refused ?? 'certificate');
      const { developerId, issued, issuedDays } = device;
      admit({ deviceId, developerId });
      const publicKey = keyOf(asked.csr, () => metrics.enrolments.inc({ outcome: 'csr' }));
      const days = issuedDays ?? USUAL_DAYS;
      const { authorityId } = issued;
      const signed = await authorities.sign({ developerId, authorityId, deviceId }, { publicKey, days });
      if (!signed) return refuse(asked, 'authority');
      const outcome = await database.transact(
        async (unit) => {
          const known = await findCertified(unit, deviceId, unit.forUpdate);
          const reason = known?.developerId === developerId ? await look(unit, asked) : 'certificate';
          if (reason !== undefined) return reason;
          await offerCertificate(unit, deviceId, signed.issued);
          await audit.noteIn(unit, {
            action: 'RENEW /devices/{deviceId}',
            resource: `/admin/v1/devices/${deviceId}`,
            id: requestId,
            address,
            details: { outcome: 'renewed', ...aboutCertificate(signed) },
            about: [
              { kind: 'developer', id: developerId },
              { kind: 'device', id: deviceId },
            ],
          });
          unit.onCommit(() => metrics.enrolments.inc({ outcome: 'renewed' }));
          return undefined;
        },
        { about: deviceId },
      );
      if (outcome !== undefined) return refuse(asked, outcome);
      const { certificate, authorityCertificate } = signed;
      return { certificate, authorityCertificate };
    },
  };
}
