import { fillPath } from '../../src/clients/client/admin-request.ts';
import { OPERATIONS, TOKEN_REQUEST } from '../../src/clients/client/operations.ts';
import { createTransport } from '../../src/clients/client/transport.ts';
import type { ApplicationAccess } from './provision.ts';

/** A token that says of itself that it is not signed. */
const UNSIGNED = 'eyJhbGciOiJub25lIn0.e30.';
const { method, path, scope } = OPERATIONS.readStatus;

/** The token with another `jti`, under its old signature. */
function changed(token: string): string {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const known = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object;
  const others = Buffer.from(JSON.stringify({ ...known, jti: 'changed' })).toString('base64url');
  return [header, others, signature].join('.');
}

/** Reads the status of a device with a token that no client would send. Each call rejects with a LapelError. */
export function createOddCalls(apiUrl: string, { applicationId, secret }: ApplicationAccess) {
  const send = createTransport(apiUrl, { attempts: 1 });
  const read = (deviceId: string, token: string): Promise<unknown> =>
    send({
      method,
      path: fillPath(path, { applicationId, deviceId }),
      headers: { authorization: `Bearer ${token}` },
      repeatable: false,
    });

  async function genuineToken(): Promise<string> {
    const basic = Buffer.from(`${encodeURIComponent(applicationId)}:${encodeURIComponent(secret)}`).toString('base64');
    const { body } = await send({
      ...TOKEN_REQUEST,
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
      repeatable: false,
    });
    return String((body as { access_token?: unknown }).access_token);
  }

  return {
    withForgedToken: (deviceId: string) => read(deviceId, UNSIGNED),
    /** The claims of a genuine token were changed, so its signature is wrong. */
    withChangedToken: async (deviceId: string) => read(deviceId, changed(await genuineToken())),
  };
}
