import type { IncomingMessage } from 'node:http';
import { scopesOf } from '../../core/people/member-roles.ts';
import { DomainError } from '../../errors.ts';
import { bearerToken } from '../http/bearer.ts';
import type { ApiServices, Caller } from './services.ts';

type Services = Pick<ApiServices, 'accessTokens' | 'applications' | 'members'>;

/**
 * The first three checks of a request (contract, section 1): the token, its scope, and that it belongs to the
 * application in the path. The application is looked up for each request, so deleting it, or replacing its secret, ends
 * its tokens at once. The token of a person of the developer is accepted for each application of the developer. Throws
 * TOKEN_MISSING, TOKEN_INVALID, SCOPE_INSUFFICIENT, APPLICATION_FOREIGN, APPLICATION_UNREGISTERED.
 */
export function createAuthorize({ accessTokens, applications, members }: Services) {
  async function ofMember(token: string, scope: string, named: string | undefined): Promise<Caller> {
    const member = await members.identify(token);
    if (!member) throw new DomainError('TOKEN_INVALID', { cause: new Error('the token of a person is not valid') });
    const scopes = new Set(scopesOf(member.role));
    const isAllowed = scopes.has(scope);
    if (!isAllowed) throw new DomainError('SCOPE_INSUFFICIENT', { values: { scope } });
    const { developerId } = member;
    // Where the path names no application, the first one stands for the developer.
    const [first] = named === undefined ? (await applications.list(developerId, FIRST)).applications : [];
    const application = named === undefined ? first : await applications.findLive(named);
    if (application?.developerId !== developerId) throw new DomainError('APPLICATION_FOREIGN');
    return { ...application, member, scopes };
  }

  return async (
    { headers: { authorization } }: Pick<IncomingMessage, 'headers'>,
    scope: string,
    params: Record<string, string>,
  ): Promise<Caller> => {
    const token = bearerToken(authorization);
    if (members.isToken(token)) return ofMember(token, scope, params['applicationId']);
    const { applicationId, scopes, secretMark } = await accessTokens.verify(token);
    const application = await applications.findLive(applicationId);
    // A token of this service names the secret that it was issued for, so it ends with that secret. Tokens of a legacy
    // issuer, and of earlier releases, do not name it.
    if (application && secretMark !== undefined && secretMark !== application.secretMark) {
      throw new DomainError('TOKEN_INVALID', {
        cause: new Error('the secret that the token was issued for was replaced'),
      });
    }
    if (!scopes.has(scope)) throw new DomainError('SCOPE_INSUFFICIENT', { values: { scope } });
    const { applicationId: named = applicationId } = params;
    if (named !== applicationId) throw new DomainError('APPLICATION_FOREIGN');
    if (!application) throw new DomainError('APPLICATION_UNREGISTERED');
    return { ...application, scopes };
  };
}

const FIRST = { offset: 0, limit: 1 };
