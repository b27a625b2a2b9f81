import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Identity, People } from '../../core/people/people.ts';
import type { Role } from '../../core/people/roles.ts';
import { type AdministratorToken, digestOf } from '../../runtime/administrator-token.ts';

/** The holder of a token: a person, or somebody with the administrator token, which belongs to nobody. */
export interface Holder {
  role: Role;
  /** Null for the administrator token. */
  person: Identity | null;
  /** The hash of the token. */
  digest: Buffer;
}

interface Parts {
  administratorToken: Pick<AdministratorToken, 'newest' | 'digests'>;
  people: Pick<People, 'identify' | 'isTokenAccepted'>;
}

export type IdentifyToken = ReturnType<typeof createIdentify>;

const slowHash = promisify(scrypt) as (secret: string, salt: string, length: number) => Promise<Buffer>;

/** Finds out who holds a token. */
export function createIdentify({ administratorToken, people }: Parts) {
  let hashed: { token: string; hash: Promise<Buffer> } | undefined;

  /** Compares a hash in constant time with those of the administrator token. */
  const isAdministrator = (digest: Buffer): boolean =>
    administratorToken.digests().filter((wanted) => timingSafeEqual(digest, wanted)).length > 0;

  return {
    /**
     * The holder of a token; undefined for one that is wrong or no longer valid. The administrator token counts as an
     * owner, until an owner lets it be refused.
     */
    async token(token: string): Promise<Holder | undefined> {
      const digest = digestOf(token);
      if (isAdministrator(digest))
        return (await people.isTokenAccepted()) ? { role: 'owner', person: null, digest } : undefined;
      const person = await people.identify(token);
      return person && { role: person.role, person, digest };
    },

    /** Whether a hash is still that of the administrator token, and the token is not refused. */
    stillAdministrator: async (digest: Buffer): Promise<boolean> =>
      isAdministrator(digest) && (await people.isTokenAccepted()),

    /**
     * The hash of the newest administrator token in the database. It is a slow hash, because people may have chosen the
     * token. Sessions of the token end when there is a newer one.
     */
    administrator(): Promise<Buffer> {
      const token = administratorToken.newest();
      if (hashed?.token !== token) hashed = { token, hash: slowHash(token, 'lapel console sessions', 16) };
      return hashed.hash;
    },
  };
}
