import type { Signing } from './certificate/signing.ts';
import type { VerifySettings } from './certificate/verify-report.ts';
import type { Options } from './options.ts';
import { UsageError } from './usage-error.ts';

/** Reads the options for a signed report; null without them. Throws a UsageError. */
export function readSigning(options: Options): Signing | null {
  const [file, keyFile] = [options.text('signed-report'), options.text('report-key')];
  if (file === undefined && keyFile === undefined) return null;
  if (keyFile === undefined) throw new UsageError('--report-key', 'is needed with --signed-report: your private key');
  if (file === undefined) throw new UsageError('--signed-report', 'is needed with --report-key: the file to write');
  return { file, keyFile };
}

/** Reads the options of `verify`. Throws a UsageError that names the wrong one. */
export function readVerify(file: string | undefined, options: Options): VerifySettings {
  if (file === undefined) throw new UsageError('verify', 'needs one file of --signed-report');
  const keyFile = options.text('public-key');
  if (keyFile === undefined) throw new UsageError('--public-key', 'is needed: the public key of the tester');
  return { file, keyFile, pageFile: options.text('page'), json: options.has('json') };
}
