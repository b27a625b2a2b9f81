import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../errors.ts';
import { behindBearer } from '../http/bearer.ts';
import { checkOwnChange, checkOwnRead } from './sessions/own-page.ts';
import { sessionSecret } from './sessions/session-cookie.ts';
import type { ConsoleSessions } from './sessions/sessions.ts';

/** The caller of administration: identified by the administrator token, or by a session of the console. */
export type Administrator = { kind: 'token' } | { kind: 'session'; sessionId: string };

interface Parts {
  administratorToken: string;
  sessions: Pick<ConsoleSessions, 'find'>;
}
type Asked = Pick<IncomingMessage, 'headers' | 'method'>;

const BY_TOKEN: Administrator = { kind: 'token' };
const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);
const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/**
 * Accepts the administrator token, compared in constant time (hashing makes both sides equally long), or the cookie of
 * a session in requests of the console itself. Throws ADMIN_TOKEN_INVALID, SESSION_ENDED and CONSOLE_REQUEST_FORGED.
 */
export function createAuthorize({ administratorToken, sessions }: Parts) {
  const wanted = digest(administratorToken);

  async function bySession({ headers, method }: Asked, secret: string): Promise<Administrator> {
    if (READS.has(method)) checkOwnRead(headers);
    else checkOwnChange(headers);
    return { kind: 'session', sessionId: (await sessions.find(secret)).sessionId };
  }

  return (asked: Asked): Administrator | Promise<Administrator> => {
    const { authorization, cookie } = asked.headers;
    const secret = authorization === undefined ? sessionSecret(cookie) : undefined;
    if (secret !== undefined) return bySession(asked, secret);
    const given = behindBearer(authorization) ?? '';
    if (!timingSafeEqual(digest(given), wanted)) throw new DomainError('ADMIN_TOKEN_INVALID');
    return BY_TOKEN;
  };
}
