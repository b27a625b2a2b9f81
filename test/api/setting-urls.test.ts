import t from 'tap';
import { startWorld } from '../world.ts';
import { faultsOf } from './operations.ts';

const NAMES = [
  'deviceEvent',
  'callEvent',
  'callFileSendEvent',
  'callRecGetMultiPresignedUrl',
  'fileUploadEvent',
  'fileUploadGetUrl',
];

const ofLength = (length: number): string => `https://a.example/${'x'.repeat(length - 18)}`;

const GOOD = {
  plain: 'https://a.example/hook',
  'a port and a query': 'https://a.example:8443/hook?token=1#part',
  'a host in other letters': 'https://例え.テスト/',
  'an IPv6 address': 'https://[2001:db8::1]/',
  '2048 characters': ofLength(2048),
  'http on localhost': 'http://localhost:9/x',
  'http on 127.0.0.1': 'http://127.0.0.1:9/x',
  'http on another loopback address': 'http://127.9.8.7/x',
  'http on ::1': 'http://[::1]:9/x',
  'another case': 'HTTPS://A.EXAMPLE/x',
};

const BAD = {
  'an empty text': ['', 'url_parsing'],
  'a path': ['/hook', 'url_parsing'],
  'no scheme': ['a.example/hook', 'url_parsing'],
  'no host': ['https:///hook', 'url_parsing'],
  'no slashes': ['https:a.example', 'url_parsing'],
  'a space': ['https://a.example/a b', 'url_parsing'],
  'a space before it': [' https://a.example/', 'url_parsing'],
  'a line end': ['https://a.example/\n', 'url_parsing'],
  'a NUL': ['https://a.example/\u0000', 'url_parsing'],
  'a bad port': ['https://a.example:99999/', 'url_parsing'],
  'a user': ['https://user@a.example/', 'url_parsing'],
  'user and password': ['https://user:secret@a.example/', 'url_parsing'],
  'a password alone': ['https://:secret@a.example/', 'url_parsing'],
  'http elsewhere': ['http://a.example/', 'url_scheme'],
  'http on a name that begins as loopback': ['http://127.0.0.1.a.example/', 'url_scheme'],
  'http with loopback as its user': ['http://localhost@a.example/', 'url_scheme'],
  'http on a mapped address': ['http://[::ffff:127.0.0.1]/', 'url_scheme'],
  ftp: ['ftp://a.example/', 'url_scheme'],
  javascript: ['javascript://a.example/%0aalert(1)', 'url_scheme'],
  file: ['file://localhost/etc/passwd', 'url_scheme'],
  '2049 characters': [ofLength(2049), 'string_too_long'],
  'a number': [5, 'string_type'],
  'a list': [['https://a.example'], 'string_type'],
  'an object': [{}, 'string_type'],
  'a truth': [true, 'string_type'],
} as const;

t.test('op 2 and the URLs of settings', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant('dev', { key: false, deviceEvent: false });

  t.test('every setting accepts a valid URL, shows it unchanged, and is removed by null', async (t) => {
    for (const [title, url] of Object.entries(GOOD)) {
      for (const name of NAMES) {
        const answer = await api.patch(path, { json: { [name]: url } });
        t.match(answer, { status: 200, body: undefined }, `${name}: ${title}`);
        t.same((await api.get(path)).body, { [name]: url }, 'op 1 answers it, and nothing else');
        await api.patch(path, { json: { [name]: null } });
      }
    }
    t.same((await api.get(path)).body, {});
  });

  t.test(
    'every setting refuses an invalid URL with the same fault, and no part of the request is carried out',
    async (t) => {
      for (const [title, [url, type]] of Object.entries(BAD)) {
        const answer = await api.patch(path, { json: Object.fromEntries(NAMES.map((name) => [name, url])) });
        t.match(answer, { status: 400, body: { reason: 'invalid request.' } }, title);
        t.same(faultsOf(answer), NAMES.map((name) => `body.${name} ${type}`).sort(), title);
        const mixed = await api.patch(path, { json: { deviceEvent: 'https://a.example', callEvent: url } });
        t.same(mixed.status === 400 && faultsOf(mixed), [`body.callEvent ${type}`]);
      }
      t.same((await api.get(path)).body, {});
    },
  );

  t.test('settings that a request leaves out stay', async (t) => {
    await api.patch(path, { json: { callEvent: 'https://a.example/1', fileUploadEvent: 'https://a.example/2' } });
    await api.patch(path, { json: { fileUploadEvent: null, deviceEvent: null } });
    await api.patch(path, { json: {} });
    t.same((await api.get(path)).body, { callEvent: 'https://a.example/1' });
    const writers = NAMES.map((name) => api.patch(path, { json: { [name]: `https://a.example/${name}` } }));
    t.same(
      (await Promise.all(writers)).map(({ status }) => status),
      NAMES.map(() => 200),
    );
    t.same((await api.get(path)).body, Object.fromEntries(NAMES.map((name) => [name, `https://a.example/${name}`])));
  });

  t.test('remoteSupportEvent is gone: op 1 never has it, op 2 refuses it, whatever its value', async (t) => {
    for (const value of ['https://a.example', null, 1]) {
      const answer = await api.patch(path, { json: { remoteSupportEvent: value } });
      t.match(answer, { status: 400 });
      t.same(answer.body.details, [
        { loc: ['body', 'remoteSupportEvent'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
      ]);
    }
    t.notOk('remoteSupportEvent' in (await api.get(path)).body);
  });

  t.test('the authenticationKey is issued by op 3 only', async (t) => {
    t.notOk('authenticationKey' in (await api.get(path)).body, 'left out before');
    const answer = await api.patch(path, { json: { authenticationKey: `whsec_${'A'.repeat(43)}=` } });
    t.same(answer.status === 400 && faultsOf(answer), ['body.authenticationKey extra_forbidden']);
    const keys = new Set<string>();
    for (let index = 0; index < 5; index += 1) {
      const issued = await api.post(`${path}/refresh_authkey`);
      t.equal(issued.status, 201);
      t.equal(Buffer.from(issued.body.authenticationKey.slice('whsec_'.length), 'base64').length, 32);
      keys.add(issued.body.authenticationKey);
      t.equal((await api.get(path)).body.authenticationKey, issued.body.authenticationKey);
    }
    t.equal(keys.size, 5);
    await api.patch(path, { json: { deviceEvent: null } });
    t.ok((await api.get(path)).body.authenticationKey, 'and op 2 leaves it alone');
  });
});

t.test('LAPEL_ALLOW_HTTP_WEBHOOKS allows http for any host, and changes no other rule', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' } });
  const { api, path } = await world.createTenant();
  t.equal((await api.patch(path, { json: { callEvent: 'http://a.example/' } })).status, 200);
  const answer = await api.patch(path, { json: { callEvent: 'ftp://a.example', deviceEvent: 'http://u:p@a.example' } });
  t.same(answer.status === 400 && faultsOf(answer), ['body.callEvent url_scheme', 'body.deviceEvent url_parsing']);
});

t.test('op 2 refuses a URL with an address that webhooks are never sent to', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_WEBHOOK_ALLOW_PRIVATE: 'false' } });
  const { api, path } = await world.createTenant('dev', { key: false, deviceEvent: false });
  for (const url of [
    'http://localhost:9/x',
    'http://127.0.0.1:9/x',
    'https://10.0.0.1/x',
    'https://[::1]/x',
    'https://[::ffff:127.0.0.1]/x',
    'https://169.254.169.254/latest/meta-data/',
    'https://2130706433/x',
    'https://sub.localhost/x',
  ]) {
    const answer = await api.patch(path, { json: { callEvent: url } });
    t.equal(answer.status, 400, url);
    t.match(answer.body.details, [{ loc: ['body', 'callEvent'], type: 'url_parsing', msg: /public/ }]);
  }
  t.equal(
    (await api.patch(path, { json: { callEvent: 'https://a.example/x' } })).status,
    200,
    'a name leads where it leads',
  );
});
