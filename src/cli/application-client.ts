import { type Given, type Options, readUrl } from './command-line.ts';
import { Failure } from './failure.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** The options of every command that speaks for an application. */
export const APPLICATION_OPTIONS = {
  application: { value: 'ID', text: 'the application' },
  secret: { value: 'S', text: 'its secret; or LAPEL_APPLICATION_SECRET, which others on the machine do not see' },
  url: { value: 'URL', text: 'the REST API (http://127.0.0.1:8080)' },
} satisfies Options;

export interface ApplicationClient {
  request: HttpClient;
  /** `/v1/applications/ID`. */
  base: string;
}

/** A client with an access token of its own, which lasts as long as the command. Throws a UsageError. */
export function openApplication(given: Given, { env }: Terminal, scopes: readonly string[]): ApplicationClient {
  const applicationId = given.text('application');
  if (applicationId === undefined) throw new UsageError('--application', 'is needed');
  const secret = given.text('secret') ?? env['LAPEL_APPLICATION_SECRET'];
  if (!secret) throw new UsageError('--secret', 'is needed (or LAPEL_APPLICATION_SECRET)');
  const baseUrl = readUrl('url', given.text('url') ?? 'http://127.0.0.1:8080');

  const basic = `Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}`;
  const signIn = createHttpClient({ baseUrl, option: 'url', authorization: () => basic });
  let token: Promise<string> | undefined;
  async function issue(): Promise<string> {
    const form = { grant_type: 'client_credentials', scope: scopes.join(' ') };
    const what = `get an access token for the application "${applicationId}"`;
    try {
      const { body } = await signIn('POST', '/api/v1/authenticate', { what, form });
      return `Bearer ${String(body.access_token)}`;
    } catch (error) {
      if (!(error instanceof Failure) || error.refusal?.status !== 401) throw error;
      const advice = ['look at --application and --secret: a secret that was replaced is good no more'];
      throw new Failure(error.message, { refusal: error.refusal, advice, cause: error });
    }
  }
  return {
    base: `/v1/applications/${encodeURIComponent(applicationId)}`,
    request: createHttpClient({
      baseUrl,
      option: 'url',
      async authorization() {
        token ??= issue();
        try {
          return await token;
        } catch (error) {
          token = undefined;
          throw error;
        }
      },
      renew() {
        token = undefined; // tokens live an hour, installations may take longer
      },
    }),
  };
}
