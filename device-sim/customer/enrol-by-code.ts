import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { UsageError } from '../usage-error.ts';
import { keepCertificate } from './certificates.ts';
import { makeCertificationRequest } from './certification-request.ts';
import { inParallel, unexpected } from './service-client.ts';

/** Where devices enrol, and the code of their batch. */
export interface EnrolmentCode {
  readonly api: string;
  readonly code: string;
  /** The folder for the certificates of devices that send a certification request; without it they get credentials. */
  readonly certificates?: string | undefined;
}

const PARALLEL_REQUESTS = 16;
/** How often a device asks when the service is busy or away, and the longest pause between two requests in seconds. */
const MOST_REQUESTS = 10;
const LONGEST_PAUSE_SECONDS = 10;

/**
 * The secret that a device makes before its first request. A simulated device keeps nothing, so it makes the same one again
 * in a later run; without the code nobody can make it.
 */
const nonceOf = ({ code }: EnrolmentCode, deviceId: string): string =>
  createHash('sha256').update(`nonce of ${deviceId} ${code}`).digest('base64url');

/** One request. Undefined when the service is away, so that the answer may have been lost. */
async function request(at: EnrolmentCode, deviceId: string, csr: string | undefined): Promise<Response | undefined> {
  const body = JSON.stringify({ deviceId, code: at.code, nonce: nonceOf(at, deviceId), csr });
  const headers = { 'content-type': 'application/json' };
  return fetch(`${at.api}/v1/enrolments`, { method: 'POST', headers, body }).catch(() => undefined);
}

type Outcome = { credential: string } | 'pending' | 'refused';

/** The data that a device is given; one with a certificate has no credential that anybody knows. */
function given(at: EnrolmentCode, deviceId: string, body: Record<string, unknown>, key: string | undefined): Outcome {
  if (at.certificates === undefined || key === undefined) return { credential: String(body['credential']) };
  keepCertificate(at.certificates, deviceId, { cert: String(body['certificate']), key });
  return { credential: '' };
}

/** Asks for the credential or the certificate of a device, again after each answer that was lost, as docs/devices.md says. */
async function enrol(at: EnrolmentCode, deviceId: string): Promise<Outcome> {
  const made = at.certificates === undefined ? undefined : makeCertificationRequest(deviceId);
  for (let requests = 1; ; requests += 1) {
    const answer = await request(at, deviceId, made?.csr);
    const isBusy = answer === undefined || answer.status === 429 || answer.status >= 500;
    if (answer && (!isBusy || requests === MOST_REQUESTS)) {
      const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
      if (answer.status === 201) return given(at, deviceId, body, made?.key);
      if (answer.status === 202) return 'pending';
      if (answer.headers.get('lapel-error-code') === 'ENROLMENT_REFUSED') return 'refused';
      throw unexpected(`device ${deviceId} cannot enrol`, { status: answer.status, body });
    }
    await answer?.body?.cancel();
    if (requests === MOST_REQUESTS) throw new Error(`cannot reach ${at.api}`);
    await pause(1000 * Math.min(LONGEST_PAUSE_SECONDS, Number(answer?.headers.get('retry-after') ?? requests)));
  }
}

/**
 * Gets the credentials of devices by the code of a batch, or their certificates, with empty credentials; those that are refused are left out. Rejects with a UsageError if a
 * person must approve them first: the next run asks with the same nonces.
 */
export async function enrolByCode(at: EnrolmentCode, deviceIds: readonly string[]): Promise<Map<string, string>> {
  const credentials = new Map<string, string>();
  let pending = 0;
  await inParallel(deviceIds, PARALLEL_REQUESTS, async (deviceId) => {
    const outcome = await enrol(at, deviceId);
    if (outcome === 'pending') pending += 1;
    else if (outcome !== 'refused') credentials.set(deviceId, outcome.credential);
  });
  if (pending > 0)
    throw new UsageError('--enrol', `${pending} devices wait for a person; approve them, and start this run again`);
  return credentials;
}
