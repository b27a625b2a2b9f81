import { join } from 'node:path';
import type { Test } from 'tap';
import { Agent, request } from 'undici';
import { createAuthority } from '../broker/authority.ts';
import { createFakeClock } from '../fake-clock.ts';
import { ALL_SCOPES, startWorld } from '../world.ts';

/**
 * Milliseconds by which the clock is ahead of the real time: certificates that openssl makes now are valid when it says so,
 * and those for one day end soon.
 */
export const AHEAD_MS = 86_400_000 - 600_000;
export const DAY_MS = 86_400_000;

/** The certificate that a client shows, with its key. */
export interface Shown {
  cert: Buffer;
  key: Buffer;
}

/** A certificate as PEM. */
export const pem = ({ cert }: Shown): string => cert.toString('utf8');

interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  token?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A service whose applications get tokens by certificate, over its own TLS, and the authorities that sign them. */
export async function startWithCertificates(t: Test) {
  const folder = t.testdir({ data: {}, tls: {} });
  const tls = join(folder, 'tls');
  const site = createAuthority(tls, 'site');
  const authority = createAuthority(tls, 'applications');
  const server = site.sign('server');
  const crl = authority.revoke();
  const world = await startWorld(t, {
    clock: createFakeClock((Date.now() + AHEAD_MS) * 1000),
    dataDir: join(folder, 'data'),
    env: {
      LAPEL_HTTP_TLS_CERT: server.certFile,
      LAPEL_HTTP_TLS_KEY: server.keyFile,
      LAPEL_APPLICATION_CA: authority.ca,
      LAPEL_APPLICATION_CRL: crl,
      LAPEL_APPLICATION_SELF_SIGNED: 'true',
    },
  });
  const { http } = world.service.addresses;
  const { cert: ca } = site.own();
  const agents: Agent[] = [];
  t.teardown(() => Promise.all(agents.map((agent) => agent.destroy())));
  await world.admin().post('/admin/v1/developers', { json: { developerId: 'dev', name: 'dev' } });

  /** A client that shows a certificate, or none, on a connection of its own. */
  function clientWith(shown?: Shown) {
    const agent = new Agent({ connect: { ca, ...shown }, connections: 1 });
    agents.push(agent);
    async function call(path: string, { method = 'GET', token, headers, body }: Call = {}) {
      const answer = await request(`${http}${path}`, {
        method,
        dispatcher: agent,
        ...(body !== undefined && { body }),
        headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      });
      const text = await answer.body.text();
      const isJson = String(answer.headers['content-type']).startsWith('application/json');
      return { status: answer.statusCode, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
    }
    async function askToken(form: Record<string, string>, authorization?: string) {
      const answer = await request(`${http}/api/v1/authenticate`, {
        method: 'POST',
        dispatcher: agent,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(authorization !== undefined && { authorization }),
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: ALL_SCOPES, ...form }).toString(),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
    }
    return {
      agent,
      call,
      askToken,
      /** Gets a token by the certificate, which must succeed. */
      async token(applicationId: string): Promise<string> {
        const { status, body } = await askToken({ client_id: applicationId });
        t.equal(status, 200, JSON.stringify(body));
        return String(body['access_token']);
      },
    };
  }

  /** Creates an application with certificates. */
  async function createApplication(applicationId: string, ...certificates: object[]) {
    const created = await world.admin().post('/admin/v1/developers/dev/applications', {
      json: { applicationId, name: applicationId },
    });
    const path = `/admin/v1/applications/${applicationId}`;
    const ids: string[] = [];
    for (const json of certificates) {
      const added = await world.admin().post(`${path}/certificates`, { json: { name: 'x', ...json } });
      t.equal(added.status, 201, JSON.stringify(added.body));
      ids.push(added.body.certificateId);
    }
    const basic = `Basic ${Buffer.from(`${applicationId}:${created.body.secret}`).toString('base64')}`;
    return { path, own: `/v1/applications/${applicationId}`, ids, basic };
  }

  return { world, http, ca, tls, authority, crl, clientWith, createApplication };
}
