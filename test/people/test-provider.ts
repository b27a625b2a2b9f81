import { createServer, type Server, type ServerResponse } from 'node:http';
import { freePort } from '@lapel/tools/harness/free-port';
import { decodeJwt, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js';
import type { Test } from 'tap';

/** An account of the provider, by its subject. */
export interface Account {
  name?: string;
  roles?: string | string[];
}

interface Wanted {
  /** The host of the issuer; another one than that of the service makes the provider another site for browsers. */
  host?: '127.0.0.1' | 'localhost';
  /** Claims come from the userinfo endpoint only, as the specification has it. */
  isConformant?: boolean;
}

/** The library warns of its own storage, which is as it should be here. */
const Storage = class extends MemoryAdapter {};

/** The client of each provider. */
export const CLIENT = { client_id: 'lapel', client_secret: 'a secret of the client lapel, which is long' };

const PAGE = (uid: string): string =>
  `<!doctype html><title>Provider</title><form method="post" action="/interaction/${uid}">
   <label>Account <input name="account"></label><button>Continue</button></form>`;

const LOGOUT = '<button form="op.logoutForm" name="logout" value="yes">Yes, sign out</button>';
function logoutSource(context: { body: unknown }, form: string): void {
  context.body = `<!doctype html><title>Sign out</title>${form}${LOGOUT}`;
}

/**
 * A real provider of OpenID Connect (oidc-provider) on a free port. It can be stopped and started again, can keep its
 * callers waiting, and can lie in its ID tokens.
 */
export async function startProvider(t: Test, { host = '127.0.0.1', isConformant = false }: Wanted = {}) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const accounts = new Map<string, Account>();
  const held = new Set<ServerResponse>();
  const state = {
    /** The subject that signs in; without one, the provider shows its page. */
    subject: null as string | null,
    isSlow: false,
    /** The claims with which an ID token differs from the true one. */
    lie: null as Record<string, unknown> | null,
    /** Sent in place of every answer. */
    answer: null as { status: number; body: string } | null,
    requests: 0,
  };
  let provider: Provider | undefined;

  const server: Server = createServer((req, res) => {
    state.requests += 1;
    if (state.isSlow) {
      held.add(res);
      return;
    }
    if (state.answer) {
      res.writeHead(state.answer.status, { 'content-type': 'application/json' }).end(state.answer.body);
      return;
    }
    const uid = /^\/interaction\/([\w-]+)$/.exec(req.url ?? '')?.[1];
    if (uid === undefined) void provider?.callback()(req, res);
    else if (state.subject === null && req.method === 'GET')
      res.writeHead(200, { 'content-type': 'text/html' }).end(PAGE(uid));
    else {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const typed = new URLSearchParams(Buffer.concat(chunks).toString()).get('account');
        const accountId = typed ?? state.subject ?? '';
        const result = accountId === '' ? { error: 'access_denied' } : { login: { accountId } };
        void provider?.interactionFinished(req, res, result);
      });
    }
  });
  const port = await freePort();
  const listen = (): Promise<void> => new Promise((resolve) => void server.listen(port, '127.0.0.1', resolve));
  await listen();
  const issuer = `http://${host}:${port}`;

  async function stop(): Promise<void> {
    if (!server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await promise;
  }
  t.teardown(stop);

  return {
    issuer,
    accounts,
    state,
    stop,
    start: listen,
    /** Answers the requests that wait, with an error. */
    release(): void {
      for (const res of held) res.destroy();
      held.clear();
    },
    waiting: (): number => held.size,

    /** The settings of this provider for the service. */
    settings: (providerId: string, others: object = {}) => ({
      providerId,
      name: `Company ${providerId}`,
      issuer,
      clientId: CLIENT.client_id,
      clientSecret: CLIENT.client_secret,
      scope: 'openid profile roles',
      roleClaim: 'roles',
      roles: { owners: 'owner', operators: 'operator', helpers: 'support', readers: 'reader' },
      ...others,
    }),

    /** Lets the service at an address use the provider. The address is known when the service has started. */
    register(base: string, providerId: string): void {
      provider = new Provider(issuer, {
        adapter: Storage,
        clients: [
          {
            ...CLIENT,
            redirect_uris: [`${base}/console/sign-in/${providerId}`],
            post_logout_redirect_uris: [`${base}/console/`],
          },
        ],
        jwks: { keys: [key] },
        cookies: { keys: ['a key of cookies'] },
        conformIdTokenClaims: isConformant,
        claims: { openid: ['sub'], profile: ['name'], roles: ['roles'] },
        scopes: ['openid', 'profile', 'roles'],
        pkce: { required: () => true },
        features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
        findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) }),
        async loadExistingGrant({ oidc }) {
          const grant = new oidc.provider.Grant({
            clientId: oidc.client!.clientId,
            accountId: oidc.session!.accountId!,
          });
          grant.addOIDCScope('openid profile roles');
          await grant.save();
          return grant;
        },
      });
      provider.use(async (context, next) => {
        await next();
        const body = context.body as { id_token?: string } | undefined;
        if (!state.lie || context.oidc?.route !== 'token' || body?.id_token === undefined) return;
        const claims = { ...decodeJwt(body.id_token), ...state.lie };
        const isForged = state.lie['forged'] === true;
        const signing = isForged ? (await generateKeyPair('RS256')).privateKey : await importJWK(key, 'RS256');
        body.id_token = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(signing);
      });
    },
  };
}

export type TestProvider = Awaited<ReturnType<typeof startProvider>>;
