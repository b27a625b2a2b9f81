import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificationRequest } from '@lapel/device-sim/customer/certification-request';

const P256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

/** A key with a certification request for it, as a simulated device makes them. */
export function newRequest(): { key: Buffer; csr: string } {
  const { key, csr } = makeCertificationRequest('any');
  return { key: Buffer.from(key), csr };
}

/** The same, made by openssl as a maker of devices does it. */
export function makeRequest(
  folder: string,
  { subject = '/CN=any', key = P256, more = [] }: { subject?: string; key?: string[]; more?: string[] } = {},
): { key: Buffer; csr: string } {
  const [keyFile, csrFile] = [join(folder, 'device.key'), join(folder, 'device.csr')];
  const args = ['req', '-new', '-newkey', ...key, '-nodes', '-keyout', keyFile, '-out', csrFile, '-subj', subject];
  const { status, stderr } = spawnSync('openssl', [...args, ...more]);
  if (status !== 0) throw new Error(stderr.toString());
  return { key: readFileSync(keyFile), csr: readFileSync(csrFile, 'utf8') };
}

/** The line of an encryption key. */
export const keyLine = (id: string): string => `${id} ${randomBytes(32).toString('base64')}\n`;

/** A request whose bytes were changed at one place of its DER form. */
export function damaged(csr: string, at: number): string {
  const bytes = Buffer.from(csr.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64');
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] as number) ^ 1;
  const lines = bytes.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
}
