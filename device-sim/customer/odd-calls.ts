import { fillPath } from '@lapel/client/fill-path';
import { OPERATIONS, TOKEN_REQUEST } from '@lapel/client/operations';
import { createTransport } from '@lapel/client/transport';
import type { ApplicationAccess } from './provision.ts';

/** A token that says of itself that it is not signed. */
const UNSIGNED = 'eyJhbGciOiJub25lIn0.e30.';
/** The scopes of the calls below. */
const SCOPE = `${OPERATIONS.readStatus.scope} ${OPERATIONS.readSettings.scope}`;
/** The validity of a token in seconds, if the service does not say it (RFC 6749 lets it leave that out). */
const VALIDITY_SECONDS = 3600;

/** The token with another `jti`, under its old signature. */
function changed(token: string): string {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const known = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object;
  const others = Buffer.from(JSON.stringify({ ...known, jti: 'changed' })).toString('base64url');
  return [header, others, signature].join('.');
}

export type OddCalls = ReturnType<typeof createOddCalls>;

/** Calls with tokens that no client would send. Each call rejects with a LapelError. */
export function createOddCalls(apiUrl: string, { applicationId, secret }: ApplicationAccess) {
  const send = createTransport(apiUrl, { attempts: 1 });
  const call = (name: 'readStatus' | 'readSettings', params: object, token: string): Promise<unknown> =>
    send({
      method: OPERATIONS[name].method,
      path: fillPath(OPERATIONS[name].path, { applicationId, ...params }),
      headers: { authorization: `Bearer ${token}` },
      repeatable: false,
    });
  const read = (deviceId: string, token: string): Promise<unknown> => call('readStatus', { deviceId }, token);

  /** Requests a token, which is valid for so many seconds. */
  async function newToken(): Promise<{ token: string; seconds: number }> {
    const basic = Buffer.from(`${encodeURIComponent(applicationId)}:${encodeURIComponent(secret)}`).toString('base64');
    const { body } = await send({
      ...TOKEN_REQUEST,
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPE }),
      repeatable: false,
    });
    const { access_token: token, expires_in: seconds } = body as { access_token?: unknown; expires_in?: unknown };
    return { token: String(token), seconds: typeof seconds === 'number' ? seconds : VALIDITY_SECONDS };
  }

  return {
    withForgedToken: (deviceId: string) => read(deviceId, UNSIGNED),
    /** The claims of a genuine token were changed, so its signature is wrong. */
    withChangedToken: async (deviceId: string) => read(deviceId, changed((await newToken()).token)),
    newToken,
    readSettings: (token: string) => call('readSettings', {}, token),
  };
}
