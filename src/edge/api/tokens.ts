import { DomainError, ERRORS, type ErrorCode, faultText } from '@lapel/schemas/contracts/errors';
import type { TokenError } from '@lapel/schemas/contracts/types';
import type { Proof } from '../../core/applications/access-tokens.ts';
import { acceptsCertificate } from '../../core/applications/certificates.ts';
import { parseScopes, SCOPES } from '../../core/applications/scopes.ts';
import type { RateLimitVerdict } from '../http/rate-limit.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

type Services = Pick<
  ApiServices,
  'applications' | 'clientCertificates' | 'clock' | 'accessTokens' | 'tokenLimit' | 'metrics'
>;

// Headers of every answer of the token endpoint (RFC 6749 5.1).
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };
// The form of a Basic header (RFC 7617). An empty secret has this form as well; it is refused later as wrong.
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** The application that asks, and what it has proved itself with. */
type Client = { applicationId: string } & Proof;

/** Finds the client by its secret (RFC 6749 2.3.1). */
async function clientBySecret({ applications }: Services, authorization: string): Promise<Client> {
  const client = basicCredentials(authorization);
  if (!client) throw wrongClient('client authentication is missing or malformed');
  const { applicationId, secret } = client;
  const found = await applications.authenticateClient(applicationId, secret);
  if (!found) throw wrongClient('unknown application or wrong secret', { applicationId });
  const { secretMark, authentication } = found;
  if (authentication === 'certificate') {
    throw wrongClient('the application gets its tokens with its certificate only', { applicationId });
  }
  return { applicationId, secretMark };
}

/** Finds the client by its certificate (RFC 8705 2), and the `client_id` of its form. */
async function clientByCertificate(
  { applications, clientCertificates, clock }: Services,
  { stream, readForm }: Pick<Input, 'stream' | 'readForm'>,
): Promise<Client> {
  const shown = clientCertificates.of(stream);
  if (!shown) throw wrongClient('client authentication is missing or malformed');
  const [applicationId = '', ...others] = (await readForm())?.getAll('client_id') ?? [];
  if (applicationId === '' || others.length > 0) throw wrongClient('client_id should be given once in the form');
  const application = await applications.findLive(applicationId);
  if (
    !application ||
    !acceptsCertificate(application, shown, { now: clock.now(), methods: clientCertificates.methods })
  ) {
    throw wrongClient('unknown application, or not a certificate of it that is valid', { applicationId });
  }
  return { applicationId, thumbprint: shown.thumbprint };
}

/**
 * Issues an access token (specification, "Primary authentication"; RFC 6749 4.4). Credentials are checked before the
 * body is read, so the service never waits for the body of a caller who shows neither a secret nor a certificate. Errors
 * have a form of their own: see tokenError.
 */
export async function issueToken(
  services: Services,
  { headers, stream, readForm }: Pick<Input, 'headers' | 'stream' | 'readForm'>,
): Promise<Answer> {
  const { accessTokens, tokenLimit, metrics } = services;
  let form: Promise<URLSearchParams | undefined> | undefined;
  const readOnce = (): Promise<URLSearchParams | undefined> => {
    form ??= readForm();
    return form;
  };
  const client =
    headers.authorization === undefined
      ? await clientByCertificate(services, { stream, readForm: readOnce })
      : await clientBySecret(services, headers.authorization);
  const { applicationId } = client;
  const verdict = tokenLimit.take(applicationId);
  if (verdict && !verdict.allowed) {
    metrics.httpRefused.inc({ bound: 'token_rate_limit' });
    return limited(verdict);
  }
  const body = await readOnce();
  if (!body) throw refused('invalid_request', 'the body should be a form: application/x-www-form-urlencoded, in UTF-8');
  const grantTypes = body.getAll('grant_type');
  const scopeTexts = body.getAll('scope');
  // RFC 6749 3.2: parameters must not be included more than once.
  if (grantTypes.length > 1 || scopeTexts.length > 1) throw refused('invalid_request', 'a parameter is repeated');
  if (!grantTypes[0]) throw refused('invalid_request', 'grant_type is missing');
  if (grantTypes[0] !== 'client_credentials') {
    throw refused('unsupported_grant_type', 'grant_type should be client_credentials');
  }
  const scopes = parseScopes(scopeTexts[0] ?? '');
  if (!scopes) throw refused('invalid_scope', `scope should be some of ${Object.keys(SCOPES).join(' ')}`);
  const { accessToken, expiresIn, scope } = await accessTokens.issue(client, scopes);
  metrics.tokensIssued.inc();
  const token = { access_token: accessToken, token_type: 'bearer', expires_in: expiresIn, scope };
  return { status: 200, headers: NO_STORE, body: token };
}

function limited({ headers, waitSeconds }: RateLimitVerdict): Answer {
  const error = new DomainError('RATE_LIMITED', { values: { seconds: waitSeconds } });
  return { ...tokenAnswer(error, 'temporarily_unavailable'), headers: { ...NO_STORE, ...headers }, error };
}

const wrongClient = (problem: string, who: { applicationId?: string } = {}): DomainError =>
  new DomainError('CLIENT_INVALID', { values: { problem, ...who } });
const refused = (error: TokenError['error'], description: string): DomainError =>
  new DomainError('REQUEST_INVALID', { values: { error, description } });

const TOKEN_ERRORS: Partial<Record<ErrorCode, TokenError['error']>> = {
  CLIENT_INVALID: 'invalid_client',
  REQUEST_INVALID: 'invalid_request',
  BODY_TOO_LARGE: 'invalid_request',
  RATE_LIMITED: 'temporarily_unavailable',
};

/**
 * Characters that an error description must not contain (RFC 6749 5.2); they can come from parameter names that the
 * caller chose.
 */
const NOT_DESCRIBED = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/**
 * The answer of the token endpoint for an error, in the form of RFC 6749 5.2. Undefined for errors of the service
 * itself, which are answered as everywhere else.
 */
export function tokenError(error: DomainError): Answer | undefined {
  const kind = TOKEN_ERRORS[error.code];
  return kind && tokenAnswer(error, kind);
}

function tokenAnswer({ code, values, details, message }: DomainError, kind: TokenError['error']): Answer {
  const given = values.description ?? (details.length > 0 ? faultText(details) : message.replace(/\.$/, ''));
  const body = { error: values.error ?? kind, error_description: String(given).replace(NOT_DESCRIBED, '?') };
  return { status: ERRORS[code].status, headers: NO_STORE, body };
}

/** Reads the applicationId and the secret from a Basic header, where each is form-encoded (RFC 6749 2.3.1). */
function basicCredentials(authorization: string): { applicationId: string; secret: string } | undefined {
  const encoded = BASIC.exec(authorization)?.[1];
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
export async function readJwks({ accessTokens }: Services): Promise<Answer> {
  return { status: 200, headers: { 'Cache-Control': 'public, max-age=300' }, body: await accessTokens.jwks() };
}

/** The metadata of the authorization server (RFC 8414 2). */
export function readMetadata(
  { clientCertificates: { methods } }: Services,
  { baseUrl }: Pick<Input, 'baseUrl'>,
): Answer {
  return {
    status: 200,
    body: {
      issuer: baseUrl,
      token_endpoint: `${baseUrl}/api/v1/authenticate`,
      jwks_uri: `${baseUrl}/.well-known/jwks.json`,
      scopes_supported: Object.keys(SCOPES),
      // Empty, because there is no authorization endpoint.
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', ...methods],
      // RFC 8705 3.3
      ...(methods.length > 0 && { tls_client_certificate_bound_access_tokens: true }),
    },
  };
}
