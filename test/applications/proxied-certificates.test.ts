import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import { createAuthority, skip } from '../broker/authority.ts';
import { createFakeClock } from '../fake-clock.ts';
import { ALL_SCOPES, startWorld } from '../world.ts';
import { AHEAD_MS, DAY_MS, pem, type Shown } from './certificate-world.ts';

t.test('a trusted proxy passes on the certificates of its clients', { skip }, async (t) => {
  const tls = t.testdir({ data: {} });
  const authority = createAuthority(tls, 'applications');
  const world = await startWorld(t, {
    clock: createFakeClock((Date.now() + AHEAD_MS) * 1000),
    dataDir: join(tls, 'data'),
    env: {
      LAPEL_TRUST_PROXY: '127.0.0.1',
      LAPEL_CLIENT_CERT_HEADER: 'Client-Cert',
      LAPEL_APPLICATION_CA: authority.ca,
      LAPEL_APPLICATION_CRL: authority.revoke(),
      LAPEL_APPLICATION_SELF_SIGNED: 'true',
    },
  });
  const { applicationId, path } = await world.createTenant();
  const selfSigned = createAuthority(tls, 'own').own();
  const named = authority.sign('named');
  const forged = createAuthority(tls, 'foreign').sign('named');
  const certificates = `/admin/v1/applications/${applicationId}/certificates`;
  await world.admin().post(certificates, { json: { name: 'x', certificate: pem(selfSigned) } });
  await world.admin().post(certificates, { json: { name: 'x', subject: 'CN=named' } });
  const asBytes = ({ cert }: Shown): string => `:${new X509Certificate(cert).raw.toString('base64')}:`;
  const asText = (shown: Shown): string => encodeURIComponent(pem(shown));
  const fromElsewhere = new Agent({ localAddress: '127.0.0.2' });
  t.teardown(() => fromElsewhere.destroy());

  async function token(clientCert: string | string[] | undefined, dispatcher?: Agent) {
    const answer = await request(`${world.service.addresses.http}/api/v1/authenticate`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(clientCert !== undefined && { 'client-cert': clientCert }),
      },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: applicationId,
        scope: ALL_SCOPES,
      }).toString(),
      ...(dispatcher && { dispatcher }),
    });
    const body = (await answer.body.json()) as { access_token?: string };
    return { status: answer.statusCode, token: body.access_token ?? '' };
  }
  async function use(bearer: string, clientCert: string | undefined, dispatcher?: Agent): Promise<number> {
    const answer = await request(`${world.service.addresses.http}${path}`, {
      headers: { authorization: `Bearer ${bearer}`, ...(clientCert !== undefined && { 'client-cert': clientCert }) },
      ...(dispatcher && { dispatcher }),
    });
    await answer.body.dump();
    return answer.statusCode;
  }

  for (const [form, write] of Object.entries({ 'as RFC 9440 says': asBytes, 'as nginx writes it': asText })) {
    t.test(`the certificate ${form}`, async (t) => {
      for (const shown of [selfSigned, named]) {
        const got = await token(write(shown));
        t.equal(got.status, 200);
        t.equal(await use(got.token, write(shown)), 200);
        t.equal(await use(got.token, undefined), 401);
        t.equal(await use(got.token, write(forged)), 401);
        t.equal(await use(got.token, write(shown), fromElsewhere), 401, 'the header of anybody else is not read');
      }
      t.equal((await token(write(forged))).status, 401);
      t.equal((await token(write(named), fromElsewhere)).status, 401);
    });
  }

  t.test('a revocation list counts as on a connection of its own: also when it is out of date', async (t) => {
    const got = await token(asBytes(named));
    const other = await token(asBytes(selfSigned));
    for (const write of [
      () => authority.revoke(named.serialNumber),
      () => authority.writeList({ begins: -2 * DAY_MS, ends: -DAY_MS }),
    ]) {
      write();
      world.service.reloadTls();
      t.equal(await use(got.token, asBytes(named)), 401);
      t.equal((await token(asBytes(named))).status, 401);
      t.equal(await use(other.token, asBytes(selfSigned)), 200, 'a certificate that was registered itself has no CA');
      authority.revoke();
      world.service.reloadTls();
      t.equal(await use(got.token, asBytes(named)), 200);
    }
  });

  t.test('what is no certificate, or more than one, is none', async (t) => {
    for (const text of [
      '',
      ':',
      '::',
      ':AAAA:',
      '%',
      'x'.repeat(8_000),
      `${asBytes(named)},${asBytes(named)}`,
      `${asText(named)}, ${asText(named)}`,
    ]) {
      t.equal((await token(text)).status, 401, text.slice(0, 20));
    }
    t.equal((await token([asBytes(named), asBytes(named)])).status, 401, 'a header that the client has sent as well');
  });
});
