import { createHash, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Identity, People } from '../../core/people/people.ts';
import type { Role } from '../../core/people/roles.ts';

/** The holder of a token: a person, or somebody with the administrator token, which belongs to nobody. */
export interface Holder {
  role: Role;
  /** Null for the administrator token. */
  person: Identity | null;
}

interface Parts {
  administratorToken: string;
  people: Pick<People, 'identify' | 'isTokenAccepted'>;
}

export type IdentifyToken = ReturnType<typeof createIdentify>;

const slowHash = promisify(scrypt) as (secret: string, salt: string, length: number) => Promise<Buffer>;
const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();
const BY_TOKEN: Holder = { role: 'owner', person: null };

/** Finds out who holds a token. */
export function createIdentify({ administratorToken, people }: Parts) {
  const wanted = digest(administratorToken);
  let hashing: Promise<Buffer> | undefined;

  return {
    /**
     * The holder of a token; undefined for one that is wrong or no longer valid. The administrator token is compared in
     * constant time (hashing makes both sides equally long); it counts as an owner, until an owner lets it be refused.
     */
    async token(token: string): Promise<Holder | undefined> {
      if (timingSafeEqual(digest(token), wanted)) return (await people.isTokenAccepted()) ? BY_TOKEN : undefined;
      const person = await people.identify(token);
      return person && { role: person.role, person };
    },

    /**
     * The hash of the administrator token in the database. It is a slow hash, because people may have chosen the token.
     */
    administrator(): Promise<Buffer> {
      hashing ??= slowHash(administratorToken, 'lapel console sessions', 16);
      return hashing;
    },
  };
}
