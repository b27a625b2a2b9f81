import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Certificate } from '../mqtt/wire.ts';
import { UsageError } from '../usage-error.ts';

/** The certificate of a device, which a renewal replaces; the next connection uses the new one. */
export type HeldCertificate = { -readonly [Name in keyof Certificate]: Certificate[Name] };

const filesOf = (folder: string, deviceId: string) => ({
  certFile: join(folder, `${deviceId}.pem`),
  keyFile: join(folder, `${deviceId}.key`),
});

/** Whether a folder has the client certificate of a device. */
export const hasCertificate = (folder: string, deviceId: string): boolean =>
  existsSync(filesOf(folder, deviceId).certFile);

/**
 * Reads the client certificate of a device from a folder: `DEVICEID.pem` (with its chain) and `DEVICEID.key`. Undefined
 * if the folder has none for it. Throws a UsageError if the two files are no pair.
 */
export function certificateOf(folder: string, deviceId: string): HeldCertificate | undefined {
  const { certFile, keyFile } = filesOf(folder, deviceId);
  if (!existsSync(certFile)) return undefined;
  try {
    const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    createSecureContext(certificate);
    return certificate;
  } catch (error) {
    throw new UsageError('--certificates', `${certFile} and ${keyFile} cannot be used: ${(error as Error).message}`);
  }
}

/** Writes the certificate of a device and its key. Only the owner may read the key. */
export function keepCertificate(folder: string, deviceId: string, { cert, key }: { cert: string; key: string }): void {
  const { certFile, keyFile } = filesOf(folder, deviceId);
  try {
    writeFileSync(keyFile, key, { mode: 0o600 });
    writeFileSync(certFile, cert);
  } catch (error) {
    throw new UsageError('--certificates', `cannot write to ${folder}: ${(error as Error).message}`);
  }
}
