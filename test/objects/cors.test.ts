import t from 'tap';
import { request } from 'undici';
import { startWorld } from '../world.ts';

const CONSOLE = 'https://console.lapel.test';
const PUBLIC = 'https://lapel.test';

t.test('the console’s pages, and no others, upload to the embedded store from the browser', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_CONSOLE_URL: `${CONSOLE}/lapel`, LAPEL_PUBLIC_URL: PUBLIC } });
  const { admin, http } = world.service.addresses;
  const tenant = await world.createTenant();
  const made = await tenant.api.post(`${tenant.path}/apps`, {
    json: { package: 'com.example.camera', version: '1.0.0', fileSize: 4 },
  });
  const { uploadUrl } = made.body.urlList[0];
  const preflight = (origin: string, asks = 'PUT') =>
    request(uploadUrl, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': asks,
        'access-control-request-headers': 'content-type',
      },
    });
  const put = (origin: string) => request(uploadUrl, { method: 'PUT', headers: { origin }, body: 'file' });

  for (const origin of [admin, http, admin.replace('127.0.0.1', 'localhost'), CONSOLE, PUBLIC]) {
    const asked = await preflight(origin);
    await asked.body.dump();
    t.equal(asked.statusCode, 204, origin);
    t.match(asked.headers, {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'content-type',
      vary: 'Origin',
    });
    t.equal(asked.headers['access-control-allow-credentials'], undefined);
    const answer = await put(origin);
    await answer.body.dump();
    t.equal(answer.statusCode, 200);
    t.match(answer.headers, {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'ETag, x-amz-request-id',
    });
  }
  const strangers = [
    'https://lapel.example',
    'http://lapel.test',
    'https://lapel.test:8443',
    admin.replace(/\d+$/, '1'),
    admin.replace('http:', 'https:'),
    'null',
    'file://',
    '*',
  ];
  for (const origin of strangers) {
    const asked = await preflight(origin);
    await asked.body.dump();
    t.equal(asked.statusCode, 403, origin);
    t.equal(asked.headers['access-control-allow-origin'], undefined, origin);
    const answer = await put(origin);
    await answer.body.dump();
    t.equal(answer.statusCode, 200, 'the URL is as good as ever where no browser asks');
    t.equal(answer.headers['access-control-allow-origin'], undefined, origin);
  }
  const refused = await request(`${world.service.addresses.objects}/lapel/none`, { headers: { origin: admin } });
  await refused.body.dump();
  t.match(
    refused,
    { statusCode: 403, headers: { 'access-control-allow-origin': admin } },
    'a refusal is readable, too',
  );
  const plain = await request(uploadUrl, { method: 'OPTIONS', headers: { origin: admin } });
  await plain.body.dump();
  t.equal(plain.statusCode, 403, 'OPTIONS that is no preflight needs a signature, as ever');
});
