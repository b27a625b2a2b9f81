import { X509Certificate } from 'node:crypto';
import type { Login } from '../connection/connection.ts';
import type { Timers } from '../connection/timers.ts';
import type { LogLevel } from '../core/effects.ts';
import { makeCertificationRequest } from './certification-request.ts';
import { loginOf } from './enrol.ts';
import { post } from './post.ts';

/** A certificate is renewed when this part of its time is left. */
const LAST_PART = 1 / 3;
const LOOK_MILLISECONDS = 3_600_000;

interface Parts {
  deviceId: string;
  api: string;
  ca: string | undefined;
  /** The present login. */
  current: () => Login;
  /** A new certificate, beside the present one. */
  renewed: (login: Login) => void;
  now: () => number;
  timers: Timers;
  signal: AbortSignal;
  log: (level: LogLevel, text: string) => void;
}

/** A clock that is wrong may make it renew too early, which does no harm, or too late. */
export function isDue(certificate: string, now: number): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [begins, ends] = [Date.parse(validFrom), Date.parse(validTo)];
  return ends - now < (ends - begins) * LAST_PART;
}

/** Looks every hour whether the certificate has to be renewed, until `signal` is aborted. */
export function keepCertificate(parts: Parts): void {
  const { deviceId, api, ca, current, renewed, now, timers, signal, log } = parts;
  let cancel = (): void => {};

  async function renew(): Promise<void> {
    const login = current();
    if (!('certificate' in login) || !isDue(login.certificate, now())) return;
    const { key, csr } = makeCertificationRequest(deviceId);
    const reply = await post(`${api}/v1/enrolments/renewals`, { deviceId, csr }, { ca, shown: login, signal });
    const next = reply.status === 201 ? loginOf(reply, key) : undefined;
    if (next) renewed(next);
    else log('warning', `the certificate was not renewed: ${reply.status} ${JSON.stringify(reply.body)}`);
  }

  async function look(): Promise<void> {
    await renew().catch((error: unknown) => {
      if (!signal.aborted) log('warning', `the certificate was not renewed: ${String(error)}`);
    });
    if (!signal.aborted) cancel = timers.after(LOOK_MILLISECONDS, () => void look());
  }

  signal.addEventListener('abort', () => cancel(), { once: true });
  void look();
}
