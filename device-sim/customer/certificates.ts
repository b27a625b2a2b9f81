import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Certificate } from '../mqtt/wire.ts';
import { UsageError } from '../usage-error.ts';

/**
 * Reads the client certificate of a device from a folder: `DEVICEID.pem` (with its chain) and `DEVICEID.key`. Undefined
 * if the folder has none for it. Throws a UsageError if the two files are no pair.
 */
export function certificateOf(folder: string, deviceId: string): Certificate | undefined {
  const [certFile, keyFile] = [join(folder, `${deviceId}.pem`), join(folder, `${deviceId}.key`)];
  if (!existsSync(certFile)) return undefined;
  try {
    const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    createSecureContext(certificate);
    return certificate;
  } catch (error) {
    throw new UsageError('--certificates', `${certFile} and ${keyFile} cannot be used: ${(error as Error).message}`);
  }
}
