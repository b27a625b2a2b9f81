import { createHash } from 'node:crypto';
import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import type { ApplicationAuthentication } from '@lapel/schemas/contracts/types';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { ShownCertificate } from '../../platform/entrance/client-certificates.ts';
import type { Clock } from '../../runtime/clock.ts';
import { endOf, readGivenCertificate, thumbprintOf } from '../../runtime/given-certificate.ts';
import { isInDate } from '../../runtime/tolerance.ts';
import type { Micros } from '../../runtime/units.ts';
import * as repository from './application-repository.ts';

type ApplicationCertificate = repository.ApplicationCertificate;
type Kind = ApplicationCertificate['kind'];

interface Parts {
  database: Database;
  clock: Pick<Clock, 'now'>;
  /** Called in each unit of work that changes an application. */
  changes(unit: UnitOfWork, applicationId: string): void;
  /** The ways in which this service lets applications prove who they are, by their names of RFC 8705. */
  methods: readonly string[];
}

/** The certificates and names that an application may have at a time: enough to replace each before it ends. */
const MOST_CERTIFICATES = 8;
const METHODS: Readonly<Record<Kind, string>> = {
  certificate: 'self_signed_tls_client_auth',
  subject: 'tls_client_auth',
  dns: 'tls_client_auth',
  uri: 'tls_client_auth',
};
const SETTINGS: Readonly<Record<string, string>> = {
  self_signed_tls_client_auth: 'LAPEL_APPLICATION_SELF_SIGNED',
  tls_client_auth: 'LAPEL_APPLICATION_CA',
};

const fault = (field: string, msg: string, type: Fault['type'] = 'string_pattern_mismatch'): DomainError =>
  DomainError.invalid({ loc: ['body', field], msg, type });

function fits({ kind, value }: ApplicationCertificate, shown: ShownCertificate): boolean {
  if (kind === 'certificate') return shown.thumbprint === value;
  if (!shown.isTrusted) return false;
  if (kind === 'subject') return shown.subject === value;
  return kind === 'dns' ? shown.hasDns(value) : shown.hasUri(value);
}

/**
 * Whether a certificate proves that its holder is the application: it is valid now, and administration has registered it,
 * or a name in it if a trusted CA has signed it (RFC 8705 2.1.2, 2.2.2). `methods`: the ways that this service accepts.
 */
export const acceptsCertificate = (
  { certificates }: Pick<repository.Application, 'certificates'>,
  shown: ShownCertificate,
  { now, methods }: { now: Micros; methods: readonly string[] },
): boolean =>
  isInDate(now, { from: shown.validFrom, until: shown.validTo }) &&
  certificates.some((known) => methods.includes(METHODS[known.kind]) && fits(known, shown));

const ONE = 'one of certificate, subject, dns and uri';

/** The marks by which a registered certificate is recognized, and its end. */
function readCertificate(pem: string, now: Micros): { value: string; expiresAt: Micros } {
  const read = readGivenCertificate(pem, now);
  if (typeof read === 'string') throw fault('certificate', read);
  return { value: thumbprintOf(read), expiresAt: endOf(read) };
}

/** The input of a registration: a name for people, and exactly one of the others. */
export type WantedCertificate = { name: string } & Partial<Record<Kind, string>>;

function read(wanted: WantedCertificate, now: Micros): Pick<ApplicationCertificate, 'kind' | 'value' | 'expiresAt'> {
  const kinds = (['certificate', 'subject', 'dns', 'uri'] as const).filter((kind) => wanted[kind] !== undefined);
  const [kind] = kinds;
  const [, second] = kinds;
  if (kind === undefined) throw fault('certificate', `Exactly ${ONE} should be given`, 'missing');
  if (second !== undefined) throw fault(second, `Only ${ONE} should be given`, 'extra_forbidden');
  const value = wanted[kind] ?? '';
  return kind === 'certificate' ? { kind, ...readCertificate(value, now) } : { kind, value, expiresAt: null };
}

/** The certificates of applications. All methods throw APPLICATION_NOT_FOUND. */
export function createCertificates({ database, clock, changes, methods }: Parts) {
  async function lock(unit: UnitOfWork, applicationId: string): Promise<repository.Application> {
    const application = await repository.findApplication(unit, applicationId, unit.forUpdate);
    if (application?.deletedAt !== null) throw new DomainError('APPLICATION_NOT_FOUND');
    return application;
  }

  return {
    async list(applicationId: string): Promise<readonly ApplicationCertificate[]> {
      const application = await repository.findApplication(database.read, applicationId);
      if (application?.deletedAt !== null) throw new DomainError('APPLICATION_NOT_FOUND');
      return application.certificates;
    },

    /** Throws REQUEST_INVALID, APPLICATION_CERTIFICATE_EXISTS, TOO_MANY_APPLICATION_CERTIFICATES. */
    async add(applicationId: string, wanted: WantedCertificate): Promise<ApplicationCertificate> {
      return database.transact(async (unit) => {
        changes(unit, applicationId);
        const { certificates } = await lock(unit, applicationId);
        const createdAt = clock.now();
        const { kind, value, expiresAt } = read(wanted, createdAt);
        const method = METHODS[kind];
        if (!methods.includes(method))
          throw fault(kind, `The service does not accept this without ${SETTINGS[method]}`, 'extra_forbidden');
        const certificateId = createHash('sha256').update(`${kind} ${value}`).digest('hex').slice(0, 16);
        const added = { certificateId, name: wanted.name, kind, value, expiresAt, createdAt };
        if (certificates.some((known) => known.certificateId === certificateId))
          throw new DomainError('APPLICATION_CERTIFICATE_EXISTS');
        if (certificates.length >= MOST_CERTIFICATES)
          throw new DomainError('TOO_MANY_APPLICATION_CERTIFICATES', { values: { limit: MOST_CERTIFICATES } });
        await repository.updateCertificates(unit, applicationId, [...certificates, added]);
        return added;
      });
    },

    /**
     * Takes a certificate or a name away. Tokens and streams that were opened with it end at once. Throws
     * APPLICATION_CERTIFICATE_NOT_FOUND.
     */
    async revoke(applicationId: string, certificateId: string): Promise<void> {
      await database.transact(async (unit) => {
        changes(unit, applicationId);
        const { certificates } = await lock(unit, applicationId);
        const left = certificates.filter((known) => known.certificateId !== certificateId);
        if (left.length === certificates.length) throw new DomainError('APPLICATION_CERTIFICATE_NOT_FOUND');
        await repository.updateCertificates(unit, applicationId, left);
      });
    },

    /**
     * Sets how the application gets its tokens. With `certificate`, its secret gets none, and tokens without a certificate
     * end at once. Throws REQUEST_INVALID when it has no certificate. Returns the former value.
     */
    setAuthentication(
      applicationId: string,
      authentication: ApplicationAuthentication,
    ): Promise<ApplicationAuthentication> {
      return database.transact(async (unit) => {
        changes(unit, applicationId);
        const { certificates, authentication: before } = await lock(unit, applicationId);
        if (authentication === 'certificate' && certificates.length === 0)
          throw fault('authentication', 'The application should have a certificate first', 'enum');
        await repository.updateAuthentication(unit, applicationId, authentication);
        return before;
      });
    },
  };
}
