import { LapelError } from '@lapel/client/lapel-error';
import { UsageError } from '../usage-error.ts';
import type { Ledger } from './ledger.ts';
import { PRIVATE_ADVICE } from './pointed.ts';
import { reasonOf } from './requests.ts';

/** Why no genuine webhook has arrived. */
export const whyNone = (ledger: Ledger): string =>
  ledger.figures().forged > 0
    ? 'the signature does not match the key'
    : 'the service cannot reach this address (set another one with --webhook-url)';

/**
 * An Error for the reader of the terminal: it quotes the answer of the service, or says that the service cannot be
 * reached.
 */
export function inWords(error: unknown, at: { apiUrl: string; applicationId: string; url: string }): Error {
  if (!(error instanceof LapelError))
    return new Error(`cannot reach ${at.apiUrl}: ${reasonOf(error)}`, { cause: error });
  const text = `${error.status} ${reasonOf(error)}`;
  if (error.request.endsWith('/authenticate')) {
    return new UsageError('--application', `no access token for ${at.applicationId}: ${text}`);
  }
  if (error.status !== 400)
    return new Error(`the application ${at.applicationId} cannot be set up: ${text}`, { cause: error });
  return new UsageError('--webhook-url', `the service refuses the URL ${at.url}: ${text}; ${PRIVATE_ADVICE}`);
}
