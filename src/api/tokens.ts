import { parseScopes, SCOPES } from '../applications/scopes.ts';
import type { TokenError } from '../contracts/types.ts';
import type { RateLimitVerdict } from '../http/rate-limit.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

// RFC 6749 5.1: on every answer of the endpoint.
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };
// RFC 7617. The empty secret is well-formed, and wrong.
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** The token endpoint (specification, "Primary authentication"; RFC 6749 4.4). Its errors have a form of their own (RFC 6749 5.2). */
export async function issueToken(
  { applications, accessTokens, tokenLimit, metrics }: ApiServices,
  { headers, body }: Pick<Input<unknown, unknown>, 'headers' | 'body'>,
): Promise<Answer> {
  const client = basicCredentials(headers.authorization);
  if (!client) return refused('invalid_client', 'client authentication is missing or malformed');
  const known = await applications.authenticateClient(client.applicationId, client.secret);
  // Whoever guesses cannot use up the limit of an application: all that fail share one.
  const verdict = tokenLimit.take(known ? client.applicationId : '');
  if (verdict && !verdict.allowed) {
    metrics.httpRefused.inc({ bound: 'token_rate_limit' });
    return limited(verdict);
  }
  if (!known) return refused('invalid_client', 'unknown application or wrong secret');
  if (!(body instanceof URLSearchParams)) {
    return refused('invalid_request', 'the body should be a form: application/x-www-form-urlencoded, in UTF-8');
  }
  const grantTypes = body.getAll('grant_type');
  const scopeTexts = body.getAll('scope');
  // RFC 6749 3.2: parameters must not be included more than once.
  if (grantTypes.length > 1 || scopeTexts.length > 1) return refused('invalid_request', 'a parameter is repeated');
  if (!grantTypes[0]) return refused('invalid_request', 'grant_type is missing');
  if (grantTypes[0] !== 'client_credentials') {
    return refused('unsupported_grant_type', 'grant_type should be client_credentials');
  }
  const scopes = parseScopes(scopeTexts[0] ?? '');
  if (!scopes) return refused('invalid_scope', `scope should be some of ${Object.keys(SCOPES).join(' ')}`);
  const { accessToken, expiresIn, scope } = await accessTokens.issue(client.applicationId, scopes);
  metrics.tokensIssued.inc();
  const token = { access_token: accessToken, token_type: 'bearer', expires_in: expiresIn, scope };
  return { status: 200, headers: NO_STORE, body: token };
}

function limited({ headers, waitSeconds }: RateLimitVerdict): Answer {
  const body: TokenError = {
    error: 'temporarily_unavailable',
    error_description: `too many requests; try again in ${waitSeconds} s`,
  };
  return { status: 429, headers: { ...NO_STORE, ...headers }, body };
}

function refused(error: TokenError['error'], description: string): Answer {
  const body = { error, error_description: description };
  if (error !== 'invalid_client') return { status: 400, headers: NO_STORE, body };
  return { status: 401, headers: { ...NO_STORE, 'WWW-Authenticate': 'Basic realm="lapel", charset="UTF-8"' }, body };
}

/** User and password, each form-encoded (RFC 6749 2.3.1). */
function basicCredentials(authorization: string | undefined): { applicationId: string; secret: string } | undefined {
  const encoded = BASIC.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) return undefined;
  return { applicationId: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The public keys of the access tokens (RFC 7517). Verifiers may keep them for five minutes. */
export function readJwks({ accessTokens }: ApiServices): Answer {
  return { status: 200, headers: { 'Cache-Control': 'public, max-age=300' }, body: accessTokens.jwks() };
}

/** RFC 8414 2. */
export function readMetadata(_: ApiServices, { baseUrl }: Pick<Input, 'baseUrl'>): Answer {
  return {
    status: 200,
    body: {
      issuer: baseUrl,
      token_endpoint: `${baseUrl}/api/v1/authenticate`,
      jwks_uri: `${baseUrl}/.well-known/jwks.json`,
      scopes_supported: Object.keys(SCOPES),
      // There is no authorization endpoint.
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
    },
  };
}
