import type { IncomingMessage } from 'node:http';
import type { Application } from '../../core/applications/application-repository.ts';
import { acceptsCertificate } from '../../core/applications/certificates.ts';
import { hasSecret } from '../../core/applications/has-secret.ts';
import { DomainError } from '../../errors.ts';
import { bearerToken } from '../http/bearer.ts';
import type { ApiServices } from './services.ts';

const invalid = (problem: string): DomainError => new DomainError('TOKEN_INVALID', { cause: new Error(problem) });

type Services = Pick<ApiServices, 'accessTokens' | 'applications' | 'clientCertificates' | 'clock'>;

/**
 * The first three checks of a request (contract, section 1): the token, its scope, and that it belongs to the
 * application in the path. The application is looked up for each request, so deleting it, or ending its secret, ends
 * its tokens at once. So do the certificates of the application: a token that is bound to one is good only on a
 * connection that shows it, while it is valid and registered (RFC 8705 3). Throws TOKEN_MISSING, TOKEN_INVALID, SCOPE_INSUFFICIENT, APPLICATION_FOREIGN,
 * APPLICATION_UNREGISTERED.
 */
export function createAuthorize({ accessTokens, applications, clientCertificates, clock }: Services) {
  function checkCertificate(
    thumbprint: string | undefined,
    application: Application | undefined,
    request: Pick<IncomingMessage, 'headers' | 'socket'>,
  ): void {
    if (thumbprint === undefined) throw invalid('the application needs tokens that are bound to its certificate');
    const shown = clientCertificates.of(request);
    if (shown?.thumbprint !== thumbprint) throw invalid('the client does not show the certificate of the token');
    if (application && !acceptsCertificate(application, shown, clock.now())) {
      throw invalid('the certificate of the token has expired, or is not one of the application any more');
    }
  }

  return async (
    request: Pick<IncomingMessage, 'headers' | 'socket'>,
    scope: string,
    params: Record<string, string>,
  ): Promise<Application> => {
    const token = bearerToken(request.headers.authorization);
    const { applicationId, scopes, secretMark, thumbprint } = await accessTokens.verify(token);
    const application = await applications.findLive(applicationId);
    // A token of this service names the secret that it was issued for, so it ends with that secret. Tokens of a legacy
    // issuer, and of earlier releases, do not name it.
    if (application && secretMark !== undefined && !hasSecret(application, secretMark, clock.now())) {
      throw invalid('the secret that the token was issued for has ended');
    }
    if (thumbprint !== undefined || application?.authentication === 'certificate') {
      checkCertificate(thumbprint, application, request);
    }
    if (!scopes.has(scope)) throw new DomainError('SCOPE_INSUFFICIENT', { values: { scope } });
    const { applicationId: named = applicationId } = params;
    if (named !== applicationId) throw new DomainError('APPLICATION_FOREIGN');
    if (!application) throw new DomainError('APPLICATION_UNREGISTERED');
    return application;
  };
}
