import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readKeyFile } from '../key-file.ts';
import type { Options } from '../options.ts';
import { UsageError } from '../usage-error.ts';
import type { VerifySettings } from './verify-report.ts';

/** The file of the signed report of a test, and the private key of its tester. */
export interface Signing {
  readonly file: string;
  readonly privateKey: KeyObject;
}

/** Reads the options for a signed report; null without them. Throws a UsageError. */
export function readSigning(options: Options): Signing | null {
  const file = options.text('signed-report');
  const key = options.text('report-key');
  if (file === undefined && key === undefined) return null;
  if (key === undefined) throw new UsageError('--report-key', 'is needed with --signed-report: your private key');
  if (file === undefined) throw new UsageError('--signed-report', 'is needed with --report-key: the file to write');
  return { file, privateKey: readKeyFile('report-key', key, createPrivateKey) };
}

/** Reads the options of `verify`. Throws a UsageError that names the wrong one. */
export function readVerify(file: string | undefined, options: Options): VerifySettings {
  if (file === undefined) throw new UsageError('verify', 'needs one file of --signed-report');
  const key = options.text('public-key');
  if (key === undefined) throw new UsageError('--public-key', 'is needed: the public key of the tester');
  return {
    file,
    publicKey: readKeyFile('public-key', key, createPublicKey),
    pageFile: options.text('page'),
    json: options.has('json'),
  };
}
