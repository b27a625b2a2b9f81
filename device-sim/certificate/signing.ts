import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { requireWritable } from '../files-of-options.ts';
import { readKeyFile } from '../key-file.ts';
import type { Certificate } from './certificate.ts';
import { seal } from './envelope.ts';

/** The file of the signed report of a test, and that of the private key of its tester. */
export interface Signing {
  readonly file: string;
  readonly keyFile: string;
}

/**
 * Makes the function that writes the signed report. It reads the key and tries the file before the test, which takes
 * minutes. Throws a UsageError.
 */
export function openSigning(signing: Signing | null): (certificate: () => Certificate) => void {
  if (signing === null) return () => undefined;
  const privateKey = readKeyFile('report-key', signing.keyFile, createPrivateKey);
  requireWritable('signed-report', signing.file);
  return (certificate) => writeFileSync(signing.file, seal(certificate(), privateKey));
}

/** Reads the key with which a report is checked. Throws a UsageError. */
export const readPublicKey = (keyFile: string): KeyObject => readKeyFile('public-key', keyFile, createPublicKey);
