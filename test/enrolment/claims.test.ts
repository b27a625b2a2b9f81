import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { request } from 'undici';
import { AHEAD_MS } from '../applications/certificate-world.ts';
import { createAuthority, skip } from '../broker/authority.ts';
import { createFakeClock } from '../fake-clock.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { NONCE, startEnrolment } from './enrolment-world.ts';

interface Shown {
  cert: Buffer;
}

t.test('devices enrol with a certificate in place of the code', { skip }, async (t) => {
  const folder = t.testdir({ data: {}, tls: {} });
  const tls = join(folder, 'tls');
  const factory = createAuthority(tls, 'factory');
  const foreign = createAuthority(tls, 'foreign');
  const shared = createAuthority(tls, 'line').own();
  const world = await startWorld(t, {
    clock: createFakeClock((Date.now() + AHEAD_MS) * 1000),
    dataDir: join(folder, 'data'),
    env: {
      LAPEL_TRUST_PROXY: '127.0.0.1',
      LAPEL_CLIENT_CERT_HEADER: 'Client-Cert',
      LAPEL_ENROLMENT_CERTIFICATES: 'true',
    },
  });
  const { create, ask, refusal, isLetIn } = await startEnrolment(world);
  const expiresAt = new Date(Date.now() + 10 * 86_400_000).toISOString();
  const pem = ({ cert }: Shown): string => cert.toString('utf8');
  const batchOf = async (shown: Shown, wanted: object = {}) =>
    (await create({ expiresAt, claimCertificate: pem(shown), ...wanted })).body as { batchId: string; code: null };

  /** Asks as a proxy passes it on, with the certificate that the device has shown to it. */
  async function enrol(deviceId: string, batchId: string, shown?: Shown, more: object = {}) {
    const answer = await request(`${world.service.addresses.http}/v1/enrolments`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-proto': 'https',
        ...(shown && { 'client-cert': `:${new X509Certificate(shown.cert).raw.toString('base64')}:` }),
      },
      body: JSON.stringify({ deviceId, batchId, nonce: NONCE, ...more }),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, string> };
  }

  t.test('the certificate of a batch serves the number of devices that the batch has', async (t) => {
    const { batchId, code } = await batchOf(shared, { mostDevices: 2 });
    t.equal(code, null, 'there is no code');
    const [one, two, three] = [deviceIdOf(1), deviceIdOf(2), deviceIdOf(3)];
    const enrolled = await enrol(one, batchId, shared);
    t.equal(enrolled.status, 201);
    t.equal(await isLetIn(one, enrolled.body['credential'] ?? ''), true);
    t.equal((await enrol(two, batchId, shared)).status, 201);
    t.equal((await enrol(three, batchId, shared)).status, 403, 'used up');
    t.equal(await refusal('used_up'), 1);
  });

  t.test('the CA of a batch serves each device with its own certificate only', async (t) => {
    const { batchId } = await batchOf(factory.own());
    const [own, other] = [deviceIdOf(11), deviceIdOf(12)];
    const shown = factory.sign(own);
    t.equal((await enrol(own, batchId, shown)).status, 201);
    const before = await refusal('certificate');
    const forged = {
      'the certificate of another device': [other, shown],
      'the same name by another CA': [other, foreign.sign(other)],
      'no certificate': [other, undefined],
      'a name behind an escape': [other, factory.sign(`x\\,CN=${other}`, 'escaped')],
      'the deviceId as a part of the name': [other, factory.sign(`${other}0`, 'longer')],
    } as const;
    for (const [what, [deviceId, certificate]] of Object.entries(forged)) {
      const answer = await enrol(deviceId, batchId, certificate);
      t.match(answer, { status: 403, body: { message: 'the enrolment is refused.' } }, what);
    }
    t.equal((await refusal('certificate')) - before, Object.keys(forged).length);
    t.equal((await enrol(other, 'enb_0193480f3a5b00112233445566778899', shown)).status, 403, 'an unknown batch');
  });

  t.test('a batch ends, also for a good certificate, and a certificate ends', async (t) => {
    const { batchId } = await batchOf(shared);
    await world.admin().post(`/admin/v1/enrolment-batches/${batchId}/revoke`);
    t.equal((await enrol(deviceIdOf(21), batchId, shared)).status, 403);
    const { batchId: open } = await batchOf(factory.own());
    const short = factory.sign(deviceIdOf(22), 'short', 1);
    world.clock.advance(Date.parse(new X509Certificate(short.cert).validTo) - world.clock.now() / 1000 - 1000);
    world.clock.advance(31_000); // the clocks of others may differ by 30 s
    const before = await refusal('certificate');
    t.equal((await enrol(deviceIdOf(22), open, short)).status, 403);
    t.equal((await refusal('certificate')) - before, 1);
  });

  t.test('a request names a code or a batch; a batch by code is not opened by a certificate', async (t) => {
    const later = new Date(world.clock.now() / 1000 + 86_400_000).toISOString();
    const made = await create({ expiresAt: later });
    const { batchId, code } = made.body as { batchId: string; code: string };
    t.equal((await enrol(deviceIdOf(31), batchId, shared)).status, 403);
    const both = await enrol(deviceIdOf(31), batchId, shared, { code });
    t.match(both, { status: 400, body: { details: [{ loc: ['body', 'batchId'] }] } });
    const none = await enrol(deviceIdOf(31), batchId, shared, { batchId: undefined });
    t.match(none, { status: 400, body: { details: [{ loc: ['body', 'code'], type: 'missing' }] } });
    t.equal((await ask({ deviceId: deviceIdOf(31), code })).status, 201);
    for (const wrong of ['no certificate', pem(shared) + shared.key.toString()]) {
      const refused = await create({ expiresAt: later, claimCertificate: wrong });
      t.match(refused, { status: 400, body: { details: [{ loc: ['body', 'claimCertificate'] }] } });
    }
  });
});

t.test('a service that asks for no certificates makes no batch with one', async (t) => {
  const world = await startWorld(t);
  const { create } = await startEnrolment(world);
  const refused = await create({ claimCertificate: 'x' });
  t.match(refused, { status: 400, body: { details: [{ msg: /LAPEL_ENROLMENT_CERTIFICATES/ }] } });
});
