import type { IncomingMessage } from 'node:http';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Application } from '../../core/applications/application-repository.ts';
import { acceptsCertificate } from '../../core/applications/certificates.ts';
import { hasSecret } from '../../core/applications/has-secret.ts';
import { scopesOf } from '../../core/people/member-roles.ts';
import { bearerToken } from '../http/bearer.ts';
import { ANY_SCOPE } from '../http/route.ts';
import type { ApiServices, Caller } from './services.ts';

const invalid = (problem: string): DomainError => new DomainError('TOKEN_INVALID', { cause: new Error(problem) });

type Services = Pick<ApiServices, 'accessTokens' | 'applications' | 'clientCertificates' | 'clock' | 'members'>;

const NEEDS_CERTIFICATE = 'the application needs tokens that are bound to its certificate';

/**
 * The first three checks of a request (contract, section 1): the token, its scope, and that it belongs to the
 * application in the path. The application is looked up for each request, so deleting it, or ending its secret, ends
 * its tokens at once. So do the certificates of the application: a token that is bound to one is good only on a
 * connection that shows it, while it is valid and registered (RFC 8705 3). The token of a person of the developer is
 * accepted for each application of the developer that does not demand certificates. Throws TOKEN_MISSING, TOKEN_INVALID,
 * SCOPE_INSUFFICIENT, APPLICATION_FOREIGN, APPLICATION_UNREGISTERED.
 */
export function createAuthorize({ accessTokens, applications, clientCertificates, clock, members }: Services) {
  function checkCertificate(
    thumbprint: string | undefined,
    application: Application | undefined,
    request: Pick<IncomingMessage, 'headers' | 'socket'>,
  ): void {
    if (thumbprint === undefined) throw invalid(NEEDS_CERTIFICATE);
    const shown = clientCertificates.of(request);
    if (shown?.thumbprint !== thumbprint) throw invalid('the client does not show the certificate of the token');
    if (
      application &&
      !acceptsCertificate(application, shown, { now: clock.now(), methods: clientCertificates.methods })
    ) {
      throw invalid('the certificate of the token has expired, or is not one of the application any more');
    }
  }

  async function ofMember(token: string, scope: string, named: string | undefined): Promise<Caller> {
    const member = await members.identify(token);
    if (!member) throw new DomainError('TOKEN_INVALID', { cause: new Error('the token of a person is not valid') });
    const scopes = new Set(scopesOf(member.role));
    const isAllowed = scope === ANY_SCOPE || scopes.has(scope);
    const { developerId, memberId: personId } = member;
    if (!isAllowed) throw new DomainError('SCOPE_INSUFFICIENT', { values: { scope, personId } });
    // Where the path names no application, the first one stands for the developer: what is read there is the same for all,
    // so it does not matter whether that one demands certificates.
    const [first] = named === undefined ? (await applications.list(developerId, FIRST)).applications : [];
    const application = named === undefined ? first : await applications.findLive(named);
    if (application?.developerId !== developerId)
      throw new DomainError('APPLICATION_FOREIGN', { values: { personId } });
    if (named !== undefined && application.authentication === 'certificate') throw invalid(NEEDS_CERTIFICATE);
    return { ...application, member, scopes };
  }

  return async (
    request: Pick<IncomingMessage, 'headers' | 'socket'>,
    scope: string,
    params: Record<string, string>,
  ): Promise<Caller> => {
    const token = bearerToken(request.headers.authorization);
    if (members.isToken(token)) return ofMember(token, scope, params['applicationId']);
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
    if (scope !== ANY_SCOPE && !scopes.has(scope)) throw new DomainError('SCOPE_INSUFFICIENT', { values: { scope } });
    const { applicationId: named = applicationId } = params;
    if (named !== applicationId) throw new DomainError('APPLICATION_FOREIGN');
    if (!application) throw new DomainError('APPLICATION_UNREGISTERED');
    return { ...application, scopes };
  };
}

const FIRST = { offset: 0, limit: 1 };
