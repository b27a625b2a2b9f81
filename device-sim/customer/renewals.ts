import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import type { Timers } from '../timers.ts';
import { type HeldCertificate, keepCertificate } from './certificates.ts';
import { makeCertificationRequest } from './certification-request.ts';
import { type Reply, unexpected } from './service-client.ts';

/** A certificate is renewed when this part of its life is left. */
const LAST_PART = 1 / 3;
const LOOK_MILLISECONDS = 3_600_000;

interface Parts {
  /** The REST API, over HTTPS. */
  api: string;
  folder: string;
  /** The certificates of the devices; a renewal replaces what they hold. */
  held: ReadonlyMap<string, HeldCertificate>;
  timers: Timers;
  /** Milliseconds since 1970. */
  now?: () => number;
  onFailure: (error: Error) => void;
}

export const isDue = ({ cert }: HeldCertificate, now: number): boolean => {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [begins, ends] = [Date.parse(validFrom), Date.parse(validTo)];
  return ends - now < (ends - begins) * LAST_PART;
};

/** Sends a request over a connection that shows the certificate. */
const post = (url: string, body: object, { cert, key }: HeldCertificate): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const sent = request(url, { method: 'POST', headers, cert, key, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text || '{}') as Reply['body'] });
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });

/**
 * Renews the certificates of devices before they end, as docs/devices.md says: with a new key, and over a connection that
 * shows the present certificate. A device uses the next one from its next connection on.
 */
export function createRenewals({ api, folder, held, timers, now = Date.now, onFailure }: Parts) {
  let cancel: (() => void) | undefined;
  let stopped = false;

  async function renew(deviceId: string, certificate: HeldCertificate): Promise<void> {
    const { key, csr } = makeCertificationRequest(deviceId);
    const reply = await post(`${api}/v1/enrolments/renewals`, { deviceId, csr }, certificate);
    if (reply.status !== 201) throw unexpected(`device ${deviceId} cannot renew its certificate`, reply);
    const cert = String(reply.body['certificate']);
    keepCertificate(folder, deviceId, { cert, key });
    certificate.cert = Buffer.from(cert);
    certificate.key = Buffer.from(key);
  }

  async function look(): Promise<void> {
    for (const [deviceId, certificate] of held) {
      if (stopped) return;
      try {
        if (isDue(certificate, now())) await renew(deviceId, certificate);
      } catch (error) {
        onFailure(error as Error);
      }
    }
    if (!stopped) cancel = timers.after(LOOK_MILLISECONDS, () => void look());
  }

  return {
    /** Renews what is due, and then looks every hour. */
    start: look,
    stop(): void {
      stopped = true;
      cancel?.();
    },
  };
}
