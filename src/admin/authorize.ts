import { createHash, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../errors.ts';

const BEARER = /^bearer +(.+)$/i;
const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** Compares the administrator token in constant time; hashing makes both sides equally long. Throws ADMIN_TOKEN_INVALID. */
export function createAuthorize(administratorToken: string) {
  const wanted = digest(administratorToken);
  return (authorization: string | undefined): void => {
    const given = BEARER.exec(authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(given), wanted)) throw new DomainError('ADMIN_TOKEN_INVALID');
  };
}
