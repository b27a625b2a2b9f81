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

/** The parameters of an installation: the size and the SHA-256 are those of `promised`. */
export const installParameters = (
  { package: name, version }: PackageFile,
  url: string,
  promised: Buffer,
): Command['parameters'] => ({
  package: name,
  version,
  url,
  expiresAt: new Date(Date.now() + HOUR_MILLISECONDS).toISOString().replace('Z', '000Z'),
  size: promised.length,
  sha256: sha256Of(promised),
});

/**
 * Makes the command for a new package. `served`: makes the bytes at the URL from those that the command promises; by
 * default they are the same.
 */
export function installOf(
  { nextPackage, files, commands }: Stage,
  {
    operation = 'installSoftware',
    service = 'whole' as Service,
    isHeld = false,
    served = ({ bytes }: PackageFile): Buffer => bytes,
  } = {},
): Install {
  const wanted = nextPackage();
  const file = files.host(served(wanted), service, { isHeld });
  return { command: commands.next(operation, installParameters(wanted, file.url, wanted.bytes)), wanted, file };
}
