import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Micros } from '../../../runtime/units.ts';

/** A sign-in that a browser has begun. The browser keeps it in a cookie, so no stranger can fill the database. */
export interface Attempt {
  /** 256 random bits, which only this browser and the service know. */
  secret: string;
  providerId: string;
  /** The address of the service for the browser, without a slash at its end. */
  base: string;
  /** The page of the console to which the browser returns: its path behind `/console/`, with its query. */
  page: string;
  at: Micros;
}

const SECURE_NAME = '__Host-lapel-sign-in';
const PLAIN_NAME = 'lapel-sign-in';
/** Microseconds that somebody may take at the provider. */
const LONGEST_MICROS = 600_000_000;
/** Microseconds by which the clocks of two nodes may differ: a sign-in can begin at one and end at the other. */
const SKEW_MICROS = 30_000_000;
const LONGEST_COOKIE = 4096;
const SECRET = /^[\w-]{43}$/;
const BEYOND_CONSOLE = /[\\\s]|(?:^|\/)\.\.?(?:\/|$)/;

const attributes = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${name === SECURE_NAME ? '; Secure' : ''}`;

/** The `Set-Cookie` of an attempt. `Lax`: the browser sends it when the page of the provider leads back. */
export const attemptCookie = (attempt: Attempt, { secure }: { secure: boolean }): string =>
  attributes(
    secure ? SECURE_NAME : PLAIN_NAME,
    Buffer.from(JSON.stringify(attempt)).toString('base64url'),
    LONGEST_MICROS / 1_000_000,
  );

/** The `Set-Cookie` headers that remove the attempt, whatever name its cookie has. */
export const noAttempt = (): string[] => [SECURE_NAME, PLAIN_NAME].map((name) => attributes(name, '', 0));

/** Reads the attempt of a `Cookie` header; undefined when there is none, or it is malformed or too old. */
export function attemptOf(cookie: string | undefined, now: Micros): { attempt: Attempt; secure: boolean } | undefined {
  for (const wanted of [SECURE_NAME, PLAIN_NAME]) {
    const pair = cookie?.split(';').find((one) => one.trimStart().startsWith(`${wanted}=`));
    if (pair === undefined || pair.length > LONGEST_COOKIE) continue;
    const attempt = parsed(pair.slice(pair.indexOf('=') + 1));
    if (attempt && attempt.at - now <= SKEW_MICROS && now - attempt.at < LONGEST_MICROS)
      return { attempt, secure: wanted === SECURE_NAME };
  }
  return undefined;
}

function parsed(value: string): Attempt | undefined {
  try {
    const { secret, providerId, base, page, at } = JSON.parse(Buffer.from(value, 'base64url').toString()) as Attempt;
    const isText = [secret, providerId, base, page].every((one) => typeof one === 'string');
    return isText && SECRET.test(secret) && typeof at === 'number' && isPage(page) && URL.canParse(base)
      ? { secret, providerId, base, page, at }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text is the path of a page behind `/console/`, with its query, and leads nowhere else. */
export const isPage = (page: string): boolean => {
  const path = page.split('?', 1)[0] ?? '';
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return false;
  }
  return !page.startsWith('/') && !page.includes('#') && !BEYOND_CONSOLE.test(decoded) && !/[\\\s]/.test(page);
};

/**
 * The values that belong to an attempt. They are made from its secret and all its members, so they need no storage, and
 * a changed cookie does not fit the answer of the provider.
 */
export function valuesOf(attempt: Attempt): { state: string; nonce: string; verifier: string } {
  const { secret, providerId, base, page, at } = attempt;
  const made = (kind: string): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify([kind, providerId, base, page, at]))
      .digest('base64url');
  return { state: made('state'), nonce: made('nonce'), verifier: made('verifier') };
}

/** Compares two texts in constant time. */
export function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
