import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { DomainError } from '../../errors.ts';
import { readRevoked } from './certificates.ts';

/**
 * The TLS files in PEM: the server's certificate and key, the CA of client certificates, and their revocation lists.
 */
export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
  clientCa?: Buffer;
  clientCrl?: Buffer;
}

/** The paths of the TLS files; null where there is none. */
interface TlsPaths {
  cert: string;
  key: string;
  clientCa: string | null;
  clientCrl: string | null;
}

function read(setting: string, file: string, check: (content: Buffer) => unknown): Buffer {
  try {
    const content = readFileSync(file);
    check(content);
    return content;
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new DomainError('SETTING_INVALID', { values: { setting, problem: `cannot use ${file} (${code})` }, cause });
  }
}

/**
 * Reads the files of the settings. Throws SETTING_INVALID, naming the file that cannot be read or has the wrong
 * content.
 */
export function readTlsFiles(files: TlsPaths): TlsFiles {
  const cert = read('LAPEL_TLS_CERT', files.cert, (content) => createSecureContext({ cert: content }));
  const key = read('LAPEL_TLS_KEY', files.key, (content) => createSecureContext({ cert, key: content }));
  if (files.clientCa === null) return { cert, key };
  const clientCa = read('LAPEL_MQTT_CLIENT_CA', files.clientCa, (content) => new X509Certificate(content));
  if (files.clientCrl === null) return { cert, key, clientCa };
  const clientCrl = read('LAPEL_MQTT_CLIENT_CRL', files.clientCrl, (content) => {
    createSecureContext({ crl: content });
    return readRevoked(content);
  });
  return { cert, key, clientCa, clientCrl };
}

const END = '-----END CERTIFICATE-----';

/** When the first of the certificates of a PEM file expires, in seconds since the epoch. */
export function expiryOf(pem: Buffer): number {
  const blocks = pem.toString('latin1').split(END).slice(0, -1);
  return Math.min(...blocks.map((block) => Date.parse(new X509Certificate(block + END).validTo))) / 1000;
}
