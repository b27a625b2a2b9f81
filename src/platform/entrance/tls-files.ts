import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { readRevoked } from './revoked.ts';

/**
 * The TLS files in PEM: the server's certificate and key, the CA of client certificates, and their revocation lists.
 */
export interface TlsFiles {
  cert?: Buffer;
  key?: Buffer;
  clientCa?: Buffer;
  clientCrl?: Buffer;
}

/** The paths of the TLS files; null where there is none. */
export interface TlsPaths {
  cert: string | null;
  key: string | null;
  clientCa: string | null;
  clientCrl: string | null;
}

/** The settings that the paths come from, for errors. */
export type TlsSettings = Readonly<Record<keyof TlsPaths, string>>;

/** The path of each file that there is, by its kind. */
export const pathsOf = (paths: TlsPaths): [kind: keyof TlsPaths, path: string][] =>
  Object.entries(paths).filter((entry): entry is [keyof TlsPaths, string] => entry[1] !== null);

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

function readPair({ cert: certPath, key: keyPath }: TlsPaths, settings: TlsSettings): TlsFiles {
  if (certPath === null || keyPath === null) return {};
  const cert = read(settings.cert, certPath, (content) => createSecureContext({ cert: content }));
  const key = read(settings.key, keyPath, (content) => createSecureContext({ cert, key: content }));
  return { cert, key };
}

/**
 * Reads the files of the settings. Throws SETTING_INVALID, naming the file that cannot be read or has the wrong content.
 */
export function readTlsFiles(paths: TlsPaths, settings: TlsSettings): TlsFiles {
  const pair = readPair(paths, settings);
  if (paths.clientCa === null) return pair;
  const clientCa = read(settings.clientCa, paths.clientCa, certificatesIn);
  if (paths.clientCrl === null) return { ...pair, clientCa };
  const clientCrl = read(settings.clientCrl, paths.clientCrl, (content) => {
    createSecureContext({ crl: content });
    return readRevoked(content);
  });
  return { ...pair, clientCa, clientCrl };
}

/**
 * The options of a TLS server. Whether a client without a certificate is refused, the listener decides. Without a CA of the
 * settings no certificate of a client is trusted: by default Node would trust those of all CAs that the machine knows.
 */
export const tlsOptions = ({ cert, key, clientCa, clientCrl }: TlsFiles): TlsOptions => ({
  ...(cert && { cert }),
  ...(key && { key }),
  minVersion: 'TLSv1.2',
  ca: clientCa ?? [],
  ...(clientCa && { requestCert: true }),
  ...(clientCrl && { crl: clientCrl }),
});

const END = '-----END CERTIFICATE-----';

/** All certificates of a PEM file. Throws when it has none, or one that cannot be read. */
export function certificatesIn(pem: Buffer): X509Certificate[] {
  const blocks = pem.toString('latin1').split(END).slice(0, -1);
  if (blocks.length === 0) throw new Error('the file contains no certificate');
  return blocks.map((block) => new X509Certificate(block + END));
}

/** The certificate of a PEM file that expires first. */
export function firstToExpire(pem: Buffer): { fingerprint: string; begins: number; expires: number } {
  const certificates = certificatesIn(pem).map(({ fingerprint256, validFrom, validTo }) => ({
    fingerprint: fingerprint256,
    begins: Date.parse(validFrom) / 1000,
    expires: Date.parse(validTo) / 1000,
  }));
  return certificates.reduce((first, one) => (one.expires < first.expires ? one : first));
}
