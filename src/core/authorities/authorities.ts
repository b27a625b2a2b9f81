import { createPrivateKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { makeAuthority, signClient } from '@lapel/schemas/base/certificates';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { endOf, fingerprintOf } from '../../runtime/given-certificate.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Micros } from '../../runtime/units.ts';
import type { IssuedCertificate } from '../devices/login-proof.ts';
import { type Authority, type AuthorityState, stateOf } from './authority.ts';
import * as repository from './authority-repository.ts';
import { readGivenAuthority } from './given-authority.ts';

/** The most device CAs of a developer that sign: one in use, its successor, and one in reserve. */
const MOST_ACTIVE = 3;
/** The most device CAs of a developer, with those that sign no more. */
const MOST_KEPT = 20;
const DAY = 86_400_000_000;
/** How long a CA is valid that the service makes. */
const VALID_DAYS = 3_652;
/** A certificate begins this much earlier, because the clock of the program that checks it may be behind. */
const BEFORE = 300_000_000;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  /** Throws DEVELOPER_NOT_FOUND. */
  requireDeveloper(developerId: string): Promise<unknown>;
  /** Throws DEVELOPER_NOT_FOUND and DEVELOPER_LEAVING. */
  requireStaying(developerId: string, sql?: Sql, lock?: Lock): Promise<unknown>;
  /** Called after a device CA was revoked: connections with its certificates must end, on all nodes. */
  revoked(): void;
}

export type WantedAuthority = { name: string; certificate?: string; privateKey?: string };

/** A device CA with its state, and the number of devices that have a certificate of it. */
export type ShownAuthority = Authority & { state: AuthorityState; fingerprint: string; devices: number };

/** A certificate that was signed, and its form in the row of the device. */
export interface Signed {
  certificate: string;
  /** The certificate of the CA. */
  authorityCertificate: string;
  issued: IssuedCertificate;
  /** The days for which it was wanted. */
  days: number;
}

/** The entry of the audit log for a certificate. */
export const aboutCertificate = ({ issued }: Signed) => ({
  certificateFingerprint: issued.fingerprint,
  authorityId: issued.authorityId,
});

export type Authorities = ReturnType<typeof createAuthorities>;

/**
 * The device CAs of developers. The private keys are encrypted at rest, and leave the service by no way. Nothing trusts a
 * device CA itself: a device is known by the one certificate that is stored with it, so a thief of the key of a CA has no
 * certificate that counts.
 */
export function createAuthorities({ database, clock, ids, requireDeveloper, requireStaying, revoked }: Parts) {
  const { read } = database;

  async function find(authorityId: string, sql: Sql = read, lock: Lock = ''): Promise<Authority> {
    const authority = await repository.findAuthority(sql, authorityId, lock);
    if (!authority) throw new DomainError('DEVICE_AUTHORITY_NOT_FOUND');
    return authority;
  }

  const shown = async (authority: Authority): Promise<ShownAuthority> => ({
    ...authority,
    state: stateOf(authority, clock.now()),
    fingerprint: fingerprintOf(new X509Certificate(authority.certificate)),
    devices: await repository.countIssued(read, authority.authorityId),
  });

  async function generate(developerId: string, now: Micros) {
    const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
    const name = `Devices of ${developerId}`.slice(0, 64); // ub-common-name of RFC 5280
    const until = now + VALID_DAYS * DAY;
    const wanted = { name, publicKey, from: now - BEFORE, until, random: ids.bytes(16) };
    return { certificate: await makeAuthority(wanted, privateKey), key: privateKey };
  }

  function madeOrGiven(developerId: string, { certificate, privateKey }: WantedAuthority, now: Micros) {
    if (certificate === undefined && privateKey === undefined) return generate(developerId, now);
    const missing = (field: string): DomainError =>
      DomainError.invalid({ loc: ['body', field], msg: 'Field required', type: 'missing' });
    if (certificate === undefined) throw missing('certificate');
    if (privateKey === undefined) throw missing('privateKey');
    return readGivenAuthority({ certificate, privateKey }, now);
  }

  /** Makes room for another device CA, by those that sign no more, and of which no device has a certificate. */
  async function makeRoom(unit: UnitOfWork, developerId: string, now: Micros): Promise<void> {
    const known = await repository.listAuthorities(unit, developerId);
    const isActive = (one: Authority): boolean => stateOf(one, now) === 'active';
    let kept = known.length;
    for (const one of known.toReversed()) {
      if (kept < MOST_KEPT) break;
      if (isActive(one) || (await repository.countIssued(unit, one.authorityId)) > 0) continue;
      await repository.deleteAuthority(unit, one.authorityId);
      kept -= 1;
    }
    if (known.filter(isActive).length >= MOST_ACTIVE || kept >= MOST_KEPT)
      throw new DomainError('TOO_MANY_DEVICE_AUTHORITIES', { values: { limit: MOST_ACTIVE, kept: MOST_KEPT } });
  }

  /** Ends a device CA, unless it has ended so already. */
  const end = (authorityId: string, change: (now: Micros) => Partial<Authority>): Promise<Authority> =>
    database.transact(async (unit) => {
      const known = await find(authorityId, unit, unit.forUpdate);
      const ended = { ...known, ...change(clock.now()) };
      const after = {
        ...ended,
        retiredAt: known.retiredAt ?? ended.retiredAt,
        revokedAt: known.revokedAt ?? ended.revokedAt,
      };
      await repository.endAuthority(unit, after);
      return after;
    });

  /** The device CA that signs in the place of one: itself while it signs, otherwise the newest one of its developer. */
  async function signerFor(developerId: string, preferred: string | null): Promise<Authority | undefined> {
    const now = clock.now();
    const known = await repository.listAuthorities(read, developerId);
    const wanted = known.find(({ authorityId }) => authorityId === preferred);
    if (wanted?.revokedAt != null) return undefined;
    if (wanted && stateOf(wanted, now) === 'active') return wanted;
    return known.find((one) => stateOf(one, now) === 'active');
  }

  return {
    /**
     * Makes a device CA, or takes the given one. Throws DEVICE_AUTHORITY_UNENCRYPTED without a key of encryption,
     * DEVELOPER_NOT_FOUND, DEVELOPER_LEAVING, TOO_MANY_DEVICE_AUTHORITIES, and REQUEST_INVALID for a faulty certificate or key.
     */
    async create(developerId: string, wanted: WantedAuthority): Promise<ShownAuthority> {
      await requireStaying(developerId);
      if (!read.vault.seals()) throw new DomainError('DEVICE_AUTHORITY_UNENCRYPTED');
      const now = clock.now();
      const { certificate, key } = await madeOrGiven(developerId, wanted, now);
      const authority: Authority = {
        authorityId: ids.next('dca', now),
        developerId,
        name: wanted.name,
        certificate: certificate.toString(),
        expiresAt: endOf(certificate),
        createdAt: now,
        retiredAt: null,
        revokedAt: null,
      };
      await database.transact(async (unit) => {
        await requireStaying(developerId, unit, unit.forUpdate);
        await makeRoom(unit, developerId, now);
        await repository.insertAuthority(unit, authority, key.export({ format: 'pem', type: 'pkcs8' }).toString());
      });
      return shown(authority);
    },

    /** The device CAs of a developer, the newest first. Throws DEVELOPER_NOT_FOUND. */
    async list(developerId: string): Promise<ShownAuthority[]> {
      await requireDeveloper(developerId);
      return Promise.all((await repository.listAuthorities(read, developerId)).map(shown));
    },

    /** Throws DEVICE_AUTHORITY_NOT_FOUND. */
    find: async (authorityId: string): Promise<ShownAuthority> => shown(await find(authorityId)),

    /** Whether a device CA signs certificates for devices of a developer. */
    async signs(developerId: string, authorityId: string, sql: Sql = read): Promise<boolean> {
      const known = await repository.findAuthority(sql, authorityId);
      return known?.developerId === developerId && stateOf(known, clock.now()) === 'active';
    },

    /** From now on it signs no more. The certificates that it has signed stay valid. Throws DEVICE_AUTHORITY_NOT_FOUND. */
    retire: async (authorityId: string): Promise<ShownAuthority> =>
      shown(await end(authorityId, (now) => ({ retiredAt: now }))),

    /**
     * From now on the certificates that it has signed are invalid, and connections with them end. Throws
     * DEVICE_AUTHORITY_NOT_FOUND.
     */
    async revoke(authorityId: string): Promise<ShownAuthority> {
      const after = await end(authorityId, (now) => ({ retiredAt: now, revokedAt: now }));
      revoked();
      return shown(after);
    },

    /**
     * Signs a certificate for a device, with nothing of the request in it but the key. Undefined when the developer has no
     * device CA that could.
     */
    async sign(
      { developerId, authorityId, deviceId }: { developerId: string; authorityId: string | null; deviceId: string },
      { publicKey, days }: { publicKey: KeyObject; days: number },
    ): Promise<Signed | undefined> {
      const signer = await signerFor(developerId, authorityId);
      const pem = signer && (await repository.findPrivateKey(read, signer.authorityId));
      if (!signer || pem === undefined) return undefined;
      const now = clock.now();
      const issuer = { certificate: new X509Certificate(signer.certificate), key: createPrivateKey(pem) };
      const until = Math.min(now + days * DAY, signer.expiresAt);
      const wanted = { name: deviceId, publicKey, from: now - BEFORE, until, random: ids.bytes(16) };
      const certificate = await signClient(wanted, issuer);
      return {
        certificate: certificate.toString(),
        authorityCertificate: signer.certificate,
        issued: {
          fingerprint: fingerprintOf(certificate),
          authorityId: signer.authorityId,
          until: endOf(certificate),
        },
        days,
      };
    },
  };
}
