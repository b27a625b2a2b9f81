import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { Agent, request } from 'undici';
import { skip } from '../broker/authority.ts';
import { deviceIdOf } from '../world.ts';
import { damaged, newRequest } from './device-keys.ts';
import { NONCE } from './enrolment-world.ts';
import { type Shown, startIssuing } from './issuing-world.ts';

const DAY = 86_400_000;

t.test('devices renew their certificates', { skip }, async (t) => {
  const issuing = await startIssuing(t, {
    env: {
      LAPEL_TRUST_PROXY: '127.0.0.1',
      LAPEL_CLIENT_CERT_HEADER: 'Client-Cert',
      LAPEL_ENROLMENT_CERTIFICATES: 'true',
      LAPEL_ENROLMENT_RATE_LIMIT: '20',
    },
  });
  const { world, admin, batch, refusal, makeAuthority, login, enrolled, audited } = issuing;
  const { authorityId } = await makeAuthority();
  const { code } = await batch({ authorityId, mostDevices: 100, certificateDays: 1 });

  /** Asks for the next certificate as a proxy passes it on, with a new key unless it is given. */
  async function renew(deviceId: string, shown: Shown | undefined, wanted?: { key: Buffer; csr: string }) {
    const { key, csr } = wanted ?? newRequest();
    const answer = await request(`${world.service.addresses.http}/v1/enrolments/renewals`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-proto': 'https',
        ...(shown && { 'client-cert': `:${new X509Certificate(shown.cert).raw.toString('base64')}:` }),
      },
      body: JSON.stringify({ deviceId, csr }),
    });
    const body = (await answer.body.json()) as Record<string, string>;
    return { status: answer.statusCode, body, next: { cert: body['certificate'] ?? '', key } };
  }

  await t.test('the present certificate is good until the device logs in with the next one', async (t) => {
    const deviceId = deviceIdOf(5001);
    const first = await enrolled(deviceId, code);
    t.equal((await login(deviceId, first)).code, 0);
    world.clock.advance((2 * DAY) / 3);
    const lost = await renew(deviceId, first);
    t.match(lost, { status: 201, body: { deviceId } });
    const { next } = await renew(deviceId, first);
    t.equal((await login(deviceId, lost.next)).code, 4, 'of two renewals the newest one counts');
    t.equal((await login(deviceId, first)).code, 0, 'the present one is still good');
    const until = new Date(new X509Certificate(next.cert).validTo).getTime();
    t.equal(until, Math.floor(world.clock.now() / 1_000_000) * 1000 + DAY, 'it has the days of the batch');
    t.match((await admin.get(`/admin/v1/devices/${deviceId}`)).body, {
      issuedCertificate: { authorityId },
      offeredCertificate: { authorityId },
    });
    t.equal((await login(deviceId, next)).code, 0);
    t.equal((await login(deviceId, next)).code, 0);
    t.equal((await login(deviceId, first)).code, 4, 'the former one has ended');
    t.equal((await renew(deviceId, first)).status, 403, 'and renews nothing');
    t.match((await admin.get(`/admin/v1/devices/${deviceId}`)).body, { offeredCertificate: null });
    const [entry] = await audited('RENEW /devices/{deviceId}');
    t.match(entry?.details, { outcome: 'renewed', authorityId });
    t.ok((await refusal('renewed')) >= 2);
    const later = await renew(deviceId, next);
    world.clock.advance(DAY);
    t.equal((await login(deviceId, next)).code, 4, 'it ends');
    t.equal((await renew(deviceId, next)).status, 403, 'an ended one renews nothing');
    t.equal(later.status, 201);
  });

  await t.test('only the device itself renews: all others get one answer', async (t) => {
    const [own, other] = [deviceIdOf(5011), deviceIdOf(5012)];
    const later = new Date(world.clock.now() / 1000 + 10 * DAY).toISOString();
    const { code } = await batch({ authorityId, mostDevices: 100, expiresAt: later });
    const [shown, foreign] = [await enrolled(own, code), await enrolled(other, code)];
    const before = await refusal('certificate');
    for (const [deviceId, cert] of [
      [own, undefined],
      [own, foreign],
      [other, shown],
      [deviceIdOf(5019), shown],
    ] as const)
      t.match(await renew(deviceId, cert), { status: 403, body: { message: 'the enrolment is refused.' } });
    t.equal((await refusal('certificate')) - before, 4);
    const told = (await audited('REFUSE /v1/enrolments')).find(({ details }) => details['reason'] === 'certificate');
    t.match(told?.details, { samples: [{ address: '127.0.0.1' }] }, 'the audit log says from where');
    await admin.patch(`/admin/v1/devices/${own}`, { json: { blocked: true } });
    t.equal((await renew(own, shown)).status, 403, 'a blocked device');
    await admin.patch(`/admin/v1/devices/${own}`, { json: { blocked: false } });
    const { key, csr } = newRequest();
    t.match(await renew(own, shown, { key, csr: damaged(csr, -1) }), {
      status: 400,
      body: { details: [{ loc: ['body', 'csr'] }] },
    });
    t.equal((await renew(own, shown, { key, csr })).status, 201);
    const statuses: number[] = [];
    for (let at = 0; at < 12; at += 1) statuses.push((await renew(own, shown, { key, csr })).status);
    t.same([statuses[0], statuses.at(-1)], [201, 429], 'a device asks ten times at once');
  });

  await t.test(
    'the newest device CA renews what a retired one has signed, and nobody what a revoked one has',
    async (t) => {
      const later = new Date(world.clock.now() / 1000 + 10 * DAY).toISOString();
      const [deviceId, last] = [deviceIdOf(5021), deviceIdOf(5022)];
      const open = await batch({ authorityId, expiresAt: later });
      const shown = await enrolled(deviceId, open.code);
      await admin.post(`/admin/v1/device-authorities/${authorityId}/retire`);
      const before = await refusal('authority');
      t.equal((await renew(deviceId, shown)).status, 403, 'there is no other one');
      t.equal((await refusal('authority')) - before, 1);
      const successor = await makeAuthority();
      const { body, next } = await renew(deviceId, shown);
      t.equal(body['authorityCertificate'], successor.certificate);
      t.equal((await login(deviceId, next)).code, 0);
      const other = await enrolled(last, open.code);
      await admin.post(`/admin/v1/device-authorities/${successor.authorityId}/revoke`);
      t.equal((await renew(last, other)).status, 403);
    },
  );
});

t.test('a device enrols and renews over the TLS of the service itself', { skip }, async (t) => {
  const { world, admin, ca, makeAuthority, login } = await startIssuing(t, {
    isHttps: true,
    env: { LAPEL_ENROLMENT_CERTIFICATES: 'true' },
  });
  const { authorityId } = await makeAuthority();
  const expiresAt = new Date(world.clock.now() / 1000 + 10 * DAY).toISOString();
  const json = { name: 'a batch', expiresAt, mostDevices: 10, authorityId };
  const { code } = (await admin.post('/admin/v1/developers/dev/enrolment-batches', { json })).body;
  const deviceId = deviceIdOf(5101);
  async function post(path: string, body: object, shown?: Shown) {
    const dispatcher = new Agent({ connect: { ca, ...shown } });
    t.teardown(() => dispatcher.destroy());
    const headers = { 'content-type': 'application/json' };
    const url = `${world.service.addresses.http}${path}`;
    const answer = await request(url, { method: 'POST', headers, dispatcher, body: JSON.stringify(body) });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, string> };
  }
  const { key, csr } = newRequest();
  const { body } = await post('/v1/enrolments', { deviceId, code, nonce: NONCE, csr });
  const first = { cert: body['certificate'] ?? '', key };
  t.equal((await login(deviceId, first)).code, 0);
  t.equal((await post('/v1/enrolments/renewals', { deviceId, csr })).status, 403, 'without the certificate');
  const renewed = await post('/v1/enrolments/renewals', { deviceId, csr }, first);
  t.equal(renewed.status, 201, 'the key may stay');
  t.equal((await login(deviceId, { cert: renewed.body['certificate'] ?? '', key })).code, 0);
});
