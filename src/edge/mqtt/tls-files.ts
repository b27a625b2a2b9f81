import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { DomainError } from '../../errors.ts';
import { readRevoked } from './certificates.ts';

/** What a TLS listener shows, whose client certificates it believes, and which not; PEM. */
export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
  clientCa?: Buffer;
  clientCrl?: Buffer;
}

/** Where they are; null: none. */
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

/** Reads the files of the settings. SETTING_INVALID names the one that cannot be had, or is not what it should be. */
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
