import { type KeyObject, sign, verify } from 'node:crypto';
import type { Failure } from '../mqtt/messages.ts';

/** The signature of a version, as a command or an answer carries it. */
export interface Signed {
  /** base64 */
  readonly signature: string;
  readonly signatureKeyId: string;
}

interface Name {
  readonly package: string;
  readonly version: string;
}

/** The text that is signed, as docs/signing.md describes it. */
const textOf = (name: Name, sha256: string): Buffer =>
  Buffer.from(`lapel-software-v1\n${name.package}\n${name.version}\n${sha256}\n`);

/** Signs a version as `lapel app sign` does. */
export const signatureBy = (key: KeyObject, name: Name, sha256: string): string =>
  sign(null, textOf(name, sha256), key).toString('base64');

/**
 * Checks a version with the keys that the device itself has, whatever the service says about it. Returns the failure, or
 * undefined if one of the keys has signed this package, this version and this file. The key identifier of the command only
 * helps to find the key, so all of the few keys are tried.
 */
export function signatureFailure(
  keys: readonly KeyObject[],
  name: Name,
  { sha256, signature }: { readonly sha256: string; readonly signature?: string | undefined },
): Failure | undefined {
  const rejected = (message: string): Failure => ({ code: 'SIGNATURE_REJECTED', message });
  if (signature === undefined) return rejected('the version is not signed');
  const bytes = Buffer.from(signature, 'base64');
  const isGenuine = keys.some((key) => verify(null, textOf(name, sha256), key, bytes));
  return isGenuine ? undefined : rejected('no key of this device has signed this version');
}
