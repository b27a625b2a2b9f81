import { randomBytes } from 'node:crypto';

/**
 * A secret of `bytes` random bytes as base64url. A command line would take one that begins with a hyphen for an option, so
 * such a secret is drawn again.
 */
export function newSecret(bytes = 32): string {
  let secret: string;
  do secret = randomBytes(bytes).toString('base64url');
  while (secret.startsWith('-'));
  return secret;
}
