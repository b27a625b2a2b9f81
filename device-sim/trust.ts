import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { UsageError } from './usage-error.ts';

/** Makes this process trust the certificate authorities in a PEM file as well, for MQTT and HTTP. */
export function trust(file: string): void {
  try {
    const ca = readFileSync(file, 'utf8');
    createSecureContext({ ca });
    setDefaultCACertificates([...getCACertificates('default'), ca]);
  } catch (error) {
    throw new UsageError('--ca', `${file} cannot be used: ${(error as Error).message}`);
  }
}
