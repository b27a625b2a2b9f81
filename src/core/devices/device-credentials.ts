import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Owners } from '../../runtime/device-owners.ts';
import type { Ids } from '../../runtime/ids.ts';
import { hashSecret } from '../../runtime/secret-hash.ts';
import {
  findCertified,
  findCredentialHash,
  findLogin,
  offerCredential,
  saveFirstLogin,
  takeOffered,
  takeOfferedCertificate,
  updateCredential,
} from './device-repository.ts';
import { matchOf, type Proof } from './login-proof.ts';

/**
 * Ends a device's connection, if it has one, at the commit of the unit. The MQTT will of the connection is published
 * (`kept`) after a new credential or a forced disconnect, and dropped when the device is blocked, moved or removed.
 */
export type Revoke = (unit: UnitOfWork, deviceId: string, will: 'kept' | 'dropped') => Promise<void> | undefined;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  owners: Pick<Owners, 'learn'>;
  revoke: Revoke;
}

/** The credentials and certificates with which devices log in. */
export function createDeviceCredentials({ database, clock, ids, owners, revoke }: Parts) {
  /** Stores the login with an offered credential or certificate. True also if another login has done so at the same time. */
  async function takeOffer(deviceId: string, proof: Proof, nextHash: Buffer | null): Promise<boolean> {
    if ('certificateFingerprint' in proof) {
      const { certificateFingerprint: shown } = proof;
      const take = (unit: UnitOfWork) => takeOfferedCertificate(unit, deviceId, shown);
      if (await database.transact(take, { device: deviceId, pace: 'crowd' })) return true;
      return (await findCertified(database.read, deviceId))?.issued?.fingerprint === shown;
    }
    const hash = nextHash as Buffer;
    if (await database.transact((unit) => takeOffered(unit, deviceId, hash), { device: deviceId, pace: 'crowd' }))
      return true;
    return (await findCredentialHash(database.read, deviceId))?.equals(hash) ?? false;
  }

  return {
    /**
     * Replaces the credential and closes the connection. The old credential is invalid at once, and so is every client
     * certificate except the one with the given fingerprint. Throws DEVICE_NOT_FOUND.
     */
    async replaceCredential(
      deviceId: string,
      request: { credential?: string; certificateFingerprint?: string } = {},
    ): Promise<{ credential: string }> {
      const { credential = ids.secret(), certificateFingerprint = '' } = request;
      const login = { hash: hashSecret(credential), certificate: certificateFingerprint };
      await database.transact(
        async (unit) => {
          if (!(await updateCredential(unit, deviceId, login))) {
            throw new DomainError('DEVICE_NOT_FOUND');
          }
          await revoke(unit, deviceId, 'kept');
        },
        { device: deviceId },
      );
      return { credential };
    },

    /**
     * Offers another credential. The present one stays valid until the device logs in with the offered one; then it ends.
     * Another offer takes the place of this one. Throws DEVICE_NOT_FOUND.
     */
    async offerCredential(
      deviceId: string,
      { credential = ids.secret() }: { credential?: string } = {},
    ): Promise<{ credential: string }> {
      await database.transact(
        async (unit) => {
          if (!(await offerCredential(unit, deviceId, hashSecret(credential), clock.now())))
            throw new DomainError('DEVICE_NOT_FOUND');
        },
        { device: deviceId },
      );
      return { credential };
    },

    /**
     * Checks the device's credential, or the certificate that it uses instead, and whether the device is blocked. A device
     * counts as blocked, too, while its developer or its application is being removed. A
     * unit of work passes itself as `sql`, so that the check sees its uncommitted changes. The first login of a device is
     * stored, because from then on it cannot enrol any more. A login with an offered credential ends the other one, and one
     * with an offered certificate the other certificate.
     */
    async authenticate(deviceId: string, proof: Proof, sql: Sql = database.read): Promise<'good' | 'bad' | 'blocked'> {
      const login = await findLogin(sql, deviceId);
      const match = login && matchOf(login, proof, clock.now());
      if (!match) return 'bad';
      if (login.blocked || login.leaves) return 'blocked';
      if (match === 'offered' && sql === database.read) {
        if (!(await takeOffer(deviceId, proof, login.nextHash))) return 'bad';
      } else if (login.neverLoggedIn && sql === database.read) {
        const first = (unit: UnitOfWork): Promise<boolean> => saveFirstLogin(unit, deviceId, login.hash);
        if (!(await database.transact(first, { device: deviceId, pace: 'crowd' }))) return 'bad';
      }
      owners.learn(deviceId, login.developerId);
      return 'good';
    },
  };
}
