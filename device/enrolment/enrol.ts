import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import type { Login } from '../connection/connection.ts';
import { pause, type Timers } from '../connection/timers.ts';
import type { LogLevel } from '../core/effects.ts';
import { makeCertificationRequest } from './certification-request.ts';
import { type Certificate, post, type Reply } from './post.ts';
import type { Store } from './stored-logins.ts';

const HOUR = 3_600_000;
/** However long the service wants it to wait. */
const LONGEST_PAUSE = 24 * HOUR;
const FIRST_PAUSE = 1000;
const NONCE_BYTES = 24;

/** How a device from the factory comes to its login. */
export interface Enrolment {
  /** The address of the REST API, as `https://lapel.example.com`. */
  api: string;
  /** The one-time code of its batch; or the batch, and the certificate that the device came with. */
  claim: { code: string } | ({ batchId: string } & Certificate);
  /** Whether the batch gives certificates: then the device makes a key, and sends a certification request. */
  wantsCertificate?: boolean;
  /** PEM of the CAs that may have signed the certificate of the service; those of the system if left out. */
  ca?: string;
}

interface Parts {
  deviceId: string;
  store: Store;
  timers: Timers;
  random: () => number;
  signal: AbortSignal;
  log: (level: LogLevel, text: string) => void;
}

/** The nonce proves that it is the same device that asks again. It is on the disk before the first request. */
function nonceOf(store: Store): string {
  const kept = store.setting('nonce');
  if (typeof kept === 'string') return kept;
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  store.set('nonce', nonce);
  return nonce;
}

/** The login of an answer 201, with the key of its request. */
export function loginOf({ body }: Reply, key: string | undefined): Login | undefined {
  const { credential, certificate } = body;
  if (typeof certificate === 'string' && key !== undefined)
    return isOfKey(certificate, key) ? { certificate, key } : undefined;
  return typeof credential === 'string' && credential !== '' ? { credential } : undefined;
}

/** A certificate that is none would be kept, and no login would succeed with it, after no restart. */
function isOfKey(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/**
 * Asks for a login until there is one ("Enrolment" in docs/devices.md). Rejects only when `signal` is aborted, or the disk
 * fails at the nonce.
 */
export async function enrol({ api, claim, wantsCertificate, ca }: Enrolment, parts: Parts): Promise<Login> {
  const { deviceId, store, timers, random, signal, log } = parts;
  const nonce = nonceOf(store);
  const made = wantsCertificate === true ? makeCertificationRequest(deviceId) : undefined;
  const proof = 'code' in claim ? { code: claim.code } : { batchId: claim.batchId };
  const body = { deviceId, nonce, ...proof, ...(made && { csr: made.csr }) };
  const shown = 'code' in claim ? undefined : claim;
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    const reply = await post(`${api}/v1/enrolments`, body, { ca, shown, signal }).catch((error: unknown) => {
      log('warning', `no answer to the enrolment: ${String(error)}`);
      return undefined;
    });
    const login = reply?.status === 201 ? loginOf(reply, made?.key) : undefined;
    if (login) return login;
    const isRefused = reply && reply.status !== 202 && reply.status !== 429 && reply.status < 500;
    if (reply?.status === 202) log('info', 'the enrolment waits for a person who approves it.');
    else if (reply)
      log('warning', `the service answers the enrolment with ${reply.status}: ${JSON.stringify(reply.body)}`);
    failures = reply?.status === 202 ? 0 : failures + 1;
    const usual = isRefused ? HOUR : Math.min(HOUR, FIRST_PAUSE * 2 ** Math.min(failures, 12));
    const wanted = reply?.retryAfter === undefined ? usual : Math.max(1000 * reply.retryAfter, isRefused ? HOUR : 0);
    // A timer of JavaScript that gets too many milliseconds ends at once.
    await pause(timers, Math.min(wanted, LONGEST_PAUSE) * (1 + random() / 4), signal);
  }
}
