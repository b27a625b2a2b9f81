import { writeFileSync } from 'node:fs';
import { readAtMost, requireWritable } from '../files-of-options.ts';
import { UsageError } from '../usage-error.ts';
import type { Certificate } from './certificate.ts';
import { certificatePage } from './certificate-page.ts';
import { certificateText } from './certificate-text.ts';
import { keyIdOf, open } from './envelope.ts';
import { readPublicKey } from './signing.ts';

/** The largest signed report, in bytes: no test writes one of a tenth of it. */
const LARGEST = 64 * 1024 * 1024;

export interface VerifySettings {
  /** The file with the signed report. */
  readonly file: string;
  /** The file with the public key of the tester. */
  readonly keyFile: string;
  readonly pageFile: string | undefined;
  readonly json: boolean;
}

/** The outcome of a check, and the text about it; `outcome` is `forged` when the report is not to be believed. */
export interface Verified {
  readonly outcome: Certificate['outcome'] | 'forged';
  readonly text: string;
}

/** Checks the signature of a report, and shows the report. Throws a UsageError when a file cannot be read or written. */
export function verifyReport({ file, keyFile, pageFile, json }: VerifySettings): Verified {
  const publicKey = readPublicKey(keyFile);
  if (pageFile !== undefined) requireWritable('page', pageFile);
  let written: string;
  try {
    written = readAtMost(file, LARGEST);
  } catch (error) {
    throw new UsageError('verify', (error as Error).message);
  }
  const opened = open(written, publicKey);
  if (typeof opened === 'string') return { outcome: 'forged', text: `${file} is not to be believed: ${opened}\n` };
  const keyId = keyIdOf(publicKey);
  if (pageFile !== undefined) writeFileSync(pageFile, certificatePage(opened, keyId));
  return { outcome: opened.outcome, text: json ? `${JSON.stringify(opened)}\n` : certificateText(opened, keyId) };
}
