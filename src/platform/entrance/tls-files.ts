import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { DomainError } from '../../errors.ts';

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
export interface TlsPaths {
  cert: string;
  key: string;
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

/**
 * Reads the files of the settings. Throws SETTING_INVALID, naming the file that cannot be read or has the wrong
 * content. `checkCrl` throws for a revocation list that the listener could not use.
 */
export function readTlsFiles(
  paths: TlsPaths,
  settings: TlsSettings,
  checkCrl: (content: Buffer) => unknown = () => undefined,
): TlsFiles {
  const cert = read(settings.cert, paths.cert, (content) => createSecureContext({ cert: content }));
  const key = read(settings.key, paths.key, (content) => createSecureContext({ cert, key: content }));
  if (paths.clientCa === null) return { cert, key };
  const clientCa = read(settings.clientCa, paths.clientCa, (content) => new X509Certificate(content));
  if (paths.clientCrl === null) return { cert, key, clientCa };
  const clientCrl = read(settings.clientCrl, paths.clientCrl, (content) => {
    createSecureContext({ crl: content });
    return checkCrl(content);
  });
  return { cert, key, clientCa, clientCrl };
}

/** The options of a TLS server. Whether a client without a certificate is refused, the listener decides. */
export const tlsOptions = ({ cert, key, clientCa, clientCrl }: TlsFiles): TlsOptions => ({
  cert,
  key,
  minVersion: 'TLSv1.2',
  ...(clientCa && { ca: clientCa, requestCert: true }),
  ...(clientCrl && { crl: clientCrl }),
});

const END = '-----END CERTIFICATE-----';

/** The certificate of a PEM file that expires first. */
export function firstToExpire(pem: Buffer): { fingerprint: string; begins: number; expires: number } {
  const blocks = pem.toString('latin1').split(END).slice(0, -1);
  const certificates = blocks.map((block) => {
    const { fingerprint256, validFrom, validTo } = new X509Certificate(block + END);
    return { fingerprint: fingerprint256, begins: Date.parse(validFrom) / 1000, expires: Date.parse(validTo) / 1000 };
  });
  return certificates.reduce((first, one) => (one.expires < first.expires ? one : first));
}
