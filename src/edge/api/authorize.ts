import type { IncomingMessage } from 'node:http';
import type { Application } from '../../core/applications/application-repository.ts';
import { hasSecret } from '../../core/applications/has-secret.ts';
import { DomainError } from '../../errors.ts';
import { bearerToken } from '../http/bearer.ts';
import type { ApiServices } from './services.ts';

/**
 * The first three checks of a request (contract, section 1): the token, its scope, and that it belongs to the
 * application in the path. The application is looked up for each request, so deleting it, or ending its secret, ends its
 * tokens at once. Throws TOKEN_MISSING, TOKEN_INVALID, SCOPE_INSUFFICIENT, APPLICATION_FOREIGN,
 * APPLICATION_UNREGISTERED.
 */
export function createAuthorize({
  accessTokens,
  applications,
  clock,
}: Pick<ApiServices, 'accessTokens' | 'applications' | 'clock'>) {
  return async (
    { headers: { authorization } }: Pick<IncomingMessage, 'headers'>,
    scope: string,
    params: Record<string, string>,
  ): Promise<Application> => {
    const { applicationId, scopes, secretMark } = await accessTokens.verify(bearerToken(authorization));
    const application = await applications.findLive(applicationId);
    // A token of this service names the secret that it was issued for, so it ends with that secret. Tokens of a legacy
    // issuer, and of earlier releases, do not name it.
    if (application && secretMark !== undefined && !hasSecret(application, secretMark, clock.now())) {
      throw new DomainError('TOKEN_INVALID', {
        cause: new Error('the secret that the token was issued for has ended'),
      });
    }
    if (!scopes.has(scope)) throw new DomainError('SCOPE_INSUFFICIENT', { values: { scope } });
    const { applicationId: named = applicationId } = params;
    if (named !== applicationId) throw new DomainError('APPLICATION_FOREIGN');
    if (!application) throw new DomainError('APPLICATION_UNREGISTERED');
    return application;
  };
}
