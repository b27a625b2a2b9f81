import { createPublicKey } from 'node:crypto';
import { type Signed, signatureBy } from '../files/signature.ts';
import type { Command } from '../mqtt/messages.ts';
import type { HostedFile, Service } from './file-host.ts';
import { type PackageFile, sha256Of } from './package-files.ts';
import type { Stage } from './stage.ts';

/** An installation: its command, the package that it names, and the file at its URL. */
export interface Install {
  readonly command: Command;
  readonly wanted: PackageFile;
  readonly file: HostedFile;
}

const HOUR_MILLISECONDS = 3_600_000;

/** Makes the signature of a version; undefined: it has none. */
export type Sign = (wanted: PackageFile, sha256: string) => Signed | undefined;

/** Signs as the service does for a device that trusts the key of the test, if there is one. */
export function signerOf({ settings: { signingKey } }: Pick<Stage, 'settings'>): Sign {
  if (!signingKey) return () => undefined;
  const spki = createPublicKey(signingKey).export({ format: 'der', type: 'spki' });
  const signatureKeyId = sha256Of(spki).slice(0, 16);
  return (wanted, sha256) => ({ signature: signatureBy(signingKey, wanted, sha256), signatureKeyId });
}

/** The parameters of an installation: the size and the SHA-256 are those of `promised`. */
export function installParameters(
  wanted: PackageFile,
  url: string,
  promised: Buffer,
  sign: Sign,
): Command['parameters'] {
  const sha256 = sha256Of(promised);
  return {
    package: wanted.package,
    version: wanted.version,
    url,
    expiresAt: new Date(Date.now() + HOUR_MILLISECONDS).toISOString().replace('Z', '000Z'),
    size: promised.length,
    sha256,
    ...sign(wanted, sha256),
  };
}

/**
 * Makes the command for a new package. `served`: makes the bytes at the URL from those that the command promises; by
 * default they are the same.
 */
export function installOf(
  stage: Stage,
  {
    operation = 'installSoftware',
    service = (_wanted: PackageFile): Service => 'whole',
    isHeld = false,
    served = ({ bytes }: PackageFile): Buffer => bytes,
    sign = signerOf(stage),
  } = {},
): Install {
  const { nextPackage, files, commands } = stage;
  const wanted = nextPackage();
  const file = files.host(served(wanted), service(wanted), { isHeld });
  return { command: commands.next(operation, installParameters(wanted, file.url, wanted.bytes, sign)), wanted, file };
}
