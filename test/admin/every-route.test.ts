import t from 'tap';
import { ROUTES } from '../../src/edge/admin/routes.ts';
import { faultsOf } from '../api/operations.ts';
import { createKeyPair } from '../software/signing.ts';
import { deviceIdOf, startWorld } from '../world.ts';

interface Row {
  method: string;
  /** The path below `/admin/v1`. */
  path: string;
  json?: unknown;
  /** The same path with an unknown resource, and the expected reason. */
  unknown?: [path: string, reason: string][];
}

const NO_DEVICE = deviceIdOf(99_999);
const NO_ROLLOUT = `rol_${'0'.repeat(32)}`;
const NO_REMOVAL = `rem_${'0'.repeat(32)}`;
const NO_AUTHORITY = `dca_${'0'.repeat(32)}`;
const NO_BATCH = `enb_${'0'.repeat(32)}`;
const NO_ACTION = `act_${'0'.repeat(32)}`;
const NO_DELIVERY = `msg_${'0'.repeat(32)}`;
const NO_KEY = '0'.repeat(16);
const NO_NOTE = `note_${'0'.repeat(32)}`;
const NO_MEMBER = `member_${'0'.repeat(32)}`;
const PUBLIC_KEY = createKeyPair().publicKey;
const NOBODY: [string, string] = ['/developers/nobody', 'developer not found.'];

// Section 5 of the contract; deletion of an application is the service's own.
// biome-ignore format: a table is read by its rows
const ROWS: Row[] = [
  { method: 'POST', path: '/developers', json: { name: 'x' } },
  { method: 'GET', path: '/developers' },
  { method: 'GET', path: '/developers/{developerId}', unknown: [NOBODY] },
  { method: 'PATCH', path: '/developers/{developerId}', json: {}, unknown: [NOBODY] },
  { method: 'DELETE', path: '/developers/{developerId}', unknown: [NOBODY] },
  { method: 'POST', path: '/developers/{developerId}/software-keys', json: { name: 'x', publicKey: PUBLIC_KEY }, unknown: [['/developers/nobody/software-keys', 'developer not found.']] },
  { method: 'GET', path: '/developers/{developerId}/software-keys', unknown: [['/developers/nobody/software-keys', 'developer not found.']] },
  { method: 'DELETE', path: '/developers/{developerId}/software-keys/{keyId}', unknown: [[`/developers/nobody/software-keys/${NO_KEY}`, 'developer not found.'], [`/developers/dev/software-keys/${NO_KEY}`, 'software key not found.']] },
  { method: 'POST', path: '/developers/{developerId}/members', json: { name: 'x', role: 'reader' }, unknown: [['/developers/nobody/members', 'developer not found.']] },
  { method: 'GET', path: '/developers/{developerId}/members', unknown: [['/developers/nobody/members', 'developer not found.']] },
  { method: 'DELETE', path: '/developers/{developerId}/members/{memberId}', unknown: [[`/developers/dev/members/${NO_MEMBER}`, 'member not found.']] },
  { method: 'GET', path: '/applications' },
  { method: 'GET', path: '/applications/{applicationId}', unknown: [['/applications/none', 'application not found.']] },
  { method: 'PATCH', path: '/applications/{applicationId}', json: { authentication: 'secret' }, unknown: [['/applications/none', 'application not found.']] },
  { method: 'POST', path: '/applications/{applicationId}/certificates', json: { name: 'x', dns: 'a.example' }, unknown: [['/applications/none/certificates', 'application not found.']] },
  { method: 'GET', path: '/applications/{applicationId}/certificates', unknown: [['/applications/none/certificates', 'application not found.']] },
  { method: 'DELETE', path: '/applications/{applicationId}/certificates/{certificateId}', unknown: [[`/applications/none/certificates/${NO_KEY}`, 'application not found.'], [`/applications/dev-app/certificates/${NO_KEY}`, 'certificate not found.']] },
  { method: 'POST', path: '/developers/{developerId}/applications', json: { name: 'x' }, unknown: [['/developers/nobody/applications', 'developer not found.']] },
  { method: 'GET', path: '/developers/{developerId}/applications', unknown: [['/developers/nobody/applications', 'developer not found.']] },
  { method: 'DELETE', path: '/applications/{applicationId}', unknown: [['/applications/none', 'application not found.']] },
  { method: 'POST', path: '/applications/{applicationId}/secret', unknown: [['/applications/none/secret', 'application not found.']] },
  { method: 'GET', path: '/applications/{applicationId}/secrets', unknown: [['/applications/none/secrets', 'application not found.']] },
  { method: 'POST', path: '/applications/{applicationId}/secrets', unknown: [['/applications/none/secrets', 'application not found.']] },
  { method: 'DELETE', path: '/applications/{applicationId}/secrets/{secretId}', unknown: [[`/applications/none/secrets/${NO_KEY}`, 'application not found.']] },
  { method: 'GET', path: '/developers/{developerId}/contents', unknown: [['/developers/nobody/contents', 'developer not found.']] },
  { method: 'POST', path: '/developers/{developerId}/removal', json: { confirmation: 'x' }, unknown: [['/developers/nobody/removal', 'developer not found.']] },
  { method: 'GET', path: '/applications/{applicationId}/contents', unknown: [['/applications/none/contents', 'application not found.']] },
  { method: 'POST', path: '/applications/{applicationId}/removal', json: { confirmation: 'x' }, unknown: [['/applications/none/removal', 'application not found.']] },
  { method: 'GET', path: '/removals' },
  { method: 'GET', path: '/removals/{removalId}', unknown: [[`/removals/${NO_REMOVAL}`, 'removal not found.']] },
  { method: 'POST', path: '/developers/{developerId}/devices', json: { deviceId: deviceIdOf(88_888) }, unknown: [['/developers/nobody/devices', 'developer not found.']] },
  { method: 'POST', path: '/developers/{developerId}/devices/import', unknown: [['/developers/nobody/devices/import', 'developer not found.']] },
  { method: 'GET', path: '/developers/{developerId}/devices', unknown: [['/developers/nobody/devices', 'developer not found.']] },
  { method: 'GET', path: '/devices/{deviceId}', unknown: [[`/devices/${NO_DEVICE}`, 'device not found.']] },
  { method: 'PATCH', path: '/devices/{deviceId}', json: {}, unknown: [[`/devices/${NO_DEVICE}`, 'device not found.']] },
  { method: 'DELETE', path: '/devices/{deviceId}', unknown: [[`/devices/${NO_DEVICE}`, 'device not found.']] },
  { method: 'POST', path: '/devices/{deviceId}/credential', json: {}, unknown: [[`/devices/${NO_DEVICE}/credential`, 'device not found.']] },
  { method: 'POST', path: '/developers/{developerId}/device-authorities', json: { name: 'x' }, unknown: [['/developers/nobody/device-authorities', 'developer not found.']] },
  { method: 'GET', path: '/developers/{developerId}/device-authorities', unknown: [['/developers/nobody/device-authorities', 'developer not found.']] },
  { method: 'GET', path: '/device-authorities/{authorityId}', unknown: [[`/device-authorities/${NO_AUTHORITY}`, 'device CA not found.']] },
  { method: 'POST', path: '/device-authorities/{authorityId}/retire', unknown: [[`/device-authorities/${NO_AUTHORITY}/retire`, 'device CA not found.']] },
  { method: 'POST', path: '/device-authorities/{authorityId}/revoke', unknown: [[`/device-authorities/${NO_AUTHORITY}/revoke`, 'device CA not found.']] },
  { method: 'POST', path: '/developers/{developerId}/enrolment-batches', json: { name: 'x', expiresAt: '2027-01-01T00:00:00Z', mostDevices: 1 }, unknown: [['/developers/nobody/enrolment-batches', 'developer not found.']] },
  { method: 'GET', path: '/developers/{developerId}/enrolment-batches', unknown: [['/developers/nobody/enrolment-batches', 'developer not found.']] },
  { method: 'GET', path: '/enrolment-batches/{batchId}', unknown: [[`/enrolment-batches/${NO_BATCH}`, 'enrolment batch not found.']] },
  { method: 'POST', path: '/enrolment-batches/{batchId}/revoke', unknown: [[`/enrolment-batches/${NO_BATCH}/revoke`, 'enrolment batch not found.']] },
  { method: 'GET', path: '/enrolment-batches/{batchId}/devices', unknown: [[`/enrolment-batches/${NO_BATCH}/devices`, 'enrolment batch not found.']] },
  { method: 'POST', path: '/enrolment-batches/{batchId}/devices/{deviceId}/approve', unknown: [[`/enrolment-batches/${NO_BATCH}/devices/${NO_DEVICE}/approve`, 'enrolment batch not found.']] },
  { method: 'POST', path: '/enrolment-batches/{batchId}/devices/{deviceId}/refuse', unknown: [[`/enrolment-batches/${NO_BATCH}/devices/${NO_DEVICE}/refuse`, 'enrolment batch not found.']] },
  { method: 'GET', path: '/devices' },
  { method: 'GET', path: '/devices/{deviceId}/status', unknown: [[`/devices/${NO_DEVICE}/status`, 'device not found.']] },
  { method: 'GET', path: '/devices/{deviceId}/connection', unknown: [[`/devices/${NO_DEVICE}/connection`, 'device not found.']] },
  { method: 'GET', path: '/devices/{deviceId}/story', unknown: [[`/devices/${NO_DEVICE}/story`, 'device not found.']] },
  { method: 'GET', path: '/devices/{deviceId}/notes', unknown: [[`/devices/${NO_DEVICE}/notes`, 'device not found.']] },
  { method: 'POST', path: '/devices/{deviceId}/notes', json: { text: 'x' }, unknown: [[`/devices/${NO_DEVICE}/notes`, 'device not found.']] },
  { method: 'DELETE', path: '/devices/{deviceId}/notes/{noteId}', unknown: [[`/devices/${NO_DEVICE}/notes/${NO_NOTE}`, 'device not found.']] },
  { method: 'GET', path: '/devices/{deviceId}/samples', unknown: [[`/devices/${NO_DEVICE}/samples`, 'device not found.']] },
  { method: 'DELETE', path: '/devices/{deviceId}/connection', unknown: [[`/devices/${NO_DEVICE}/connection`, 'device not found.']] },
  { method: 'GET', path: '/devices/{deviceId}/transactions', unknown: [[`/devices/${NO_DEVICE}/transactions`, 'device not found.']] },
  { method: 'GET', path: '/transactions' },
  { method: 'POST', path: '/transactions/cancel', json: { transactionIds: [1] } },
  { method: 'GET', path: '/transactions/{transactionId}', unknown: [['/transactions/999999', 'transaction not found.']] },
  { method: 'DELETE', path: '/transactions/{transactionId}', unknown: [['/transactions/999999', 'transaction not found.']] },
  { method: 'POST', path: '/device-actions', json: { action: 'block', filter: { prefix: '9' } } },
  { method: 'GET', path: '/device-actions' },
  { method: 'GET', path: '/device-actions/{actionId}', unknown: [[`/device-actions/${NO_ACTION}`, 'device action not found.']] },
  { method: 'POST', path: '/device-actions/{actionId}/stop', unknown: [[`/device-actions/${NO_ACTION}/stop`, 'device action not found.']] },
  { method: 'GET', path: '/device-actions/{actionId}/devices', unknown: [[`/device-actions/${NO_ACTION}/devices`, 'device action not found.']] },
  { method: 'GET', path: '/rollouts' },
  { method: 'GET', path: '/rollouts/{rolloutId}', unknown: [[`/rollouts/${NO_ROLLOUT}`, 'rollout not found.']] },
  { method: 'DELETE', path: '/rollouts/{rolloutId}', unknown: [[`/rollouts/${NO_ROLLOUT}`, 'rollout not found.']] },
  { method: 'POST', path: '/rollouts/{rolloutId}/pause', unknown: [[`/rollouts/${NO_ROLLOUT}/pause`, 'rollout not found.']] },
  { method: 'GET', path: '/rollouts/{rolloutId}/results', unknown: [[`/rollouts/${NO_ROLLOUT}/results`, 'rollout not found.']] },
  { method: 'GET', path: '/rollouts/{rolloutId}/devices', unknown: [[`/rollouts/${NO_ROLLOUT}/devices`, 'rollout not found.']] },
  { method: 'GET', path: '/packages' },
  { method: 'GET', path: '/packages/{package}', unknown: [['/packages/com.example.none', 'package not found.']] },
  { method: 'GET', path: '/packages/{package}/versions', unknown: [['/packages/com.example.none/versions', 'package not found.']] },
  { method: 'GET', path: '/packages/{package}/versions/{version}/installations', unknown: [['/packages/com.example.none/versions/1.0.0/installations', 'package not found.']] },
  { method: 'GET', path: '/settings' },
  { method: 'GET', path: '/search' },
  { method: 'GET', path: '/binary-warnings' },
  { method: 'GET', path: '/system-packages' },
  { method: 'PUT', path: '/system-packages/{package}/versions/{version}', json: {} },
  { method: 'DELETE', path: '/system-packages/{package}/versions/{version}', unknown: [['/system-packages/com.example.none/versions/1.0.0', 'package not found.']] },
  { method: 'POST', path: '/system-packages/{package}/versions/{version}/binaries', unknown: [['/system-packages/com.example.none/versions/1.0.0/binaries', 'package not found.']] },
  { method: 'GET', path: '/firmware' },
  { method: 'PUT', path: '/firmware/{package}/versions/{version}', json: {} },
  { method: 'DELETE', path: '/firmware/{package}/versions/{version}', unknown: [['/firmware/com.example.none/versions/1.0.0', 'package not found.']] },
  { method: 'POST', path: '/firmware/{package}/versions/{version}/binaries', unknown: [['/firmware/com.example.none/versions/1.0.0/binaries', 'package not found.']] },
  { method: 'GET', path: '/fleet/summary' },
  { method: 'GET', path: '/fleet/breakdown' },
  { method: 'GET', path: '/fleet/failures' },
  { method: 'GET', path: '/fleet/samples' },
  { method: 'GET', path: '/fleet/history' },
  { method: 'GET', path: '/fleet/health' },
  { method: 'GET', path: '/fleet/alarms' },
  { method: 'GET', path: '/alarm-receiver' },
  { method: 'POST', path: '/alarm-receiver/test' },
  { method: 'GET', path: '/nodes' },
  { method: 'GET', path: '/receivers' },
  { method: 'GET', path: '/deliveries' },
  { method: 'GET', path: '/applications/{applicationId}/deliveries/{deliveryId}', unknown: [[`/applications/none/deliveries/${NO_DELIVERY}`, 'delivery not found.']] },
  { method: 'POST', path: '/applications/{applicationId}/deliveries/{deliveryId}/redeliver', unknown: [[`/applications/none/deliveries/${NO_DELIVERY}/redeliver`, 'delivery not found.']] },
  { method: 'POST', path: '/applications/{applicationId}/deliveries/redeliver', json: {}, unknown: [['/applications/none/deliveries/redeliver', 'application not found.']] },
  { method: 'POST', path: '/applications/{applicationId}/webhooks/test', json: { setting: 'deviceEvent' }, unknown: [['/applications/none/webhooks/test', 'application not found.']] },
  { method: 'GET', path: '/audit' },
  { method: 'GET', path: '/audit/export' },
  { method: 'GET', path: '/audit/verification' },
  { method: 'GET', path: '/encryption' },
  { method: 'POST', path: '/object-store-key' },
  { method: 'GET', path: '/signing-keys' },
  { method: 'POST', path: '/signing-keys' },
  { method: 'POST', path: '/encryption/rotation' },
  { method: 'GET', path: '/feed' },
  { method: 'GET', path: '/sessions' },
  { method: 'GET', path: '/me' },
  { method: 'POST', path: '/me/token' },
  { method: 'POST', path: '/people', json: { name: 'x', role: 'reader' } },
  { method: 'GET', path: '/people' },
  { method: 'GET', path: '/people/{personId}', unknown: [['/people/nobody', 'person not found.']] },
  { method: 'PATCH', path: '/people/{personId}', json: {}, unknown: [['/people/nobody', 'person not found.']] },
  { method: 'DELETE', path: '/people/{personId}', unknown: [['/people/nobody', 'person not found.']] },
  { method: 'POST', path: '/people/{personId}/tokens', json: { name: 'x' }, unknown: [['/people/nobody/tokens', 'person not found.']] },
  { method: 'DELETE', path: '/people/{personId}/tokens/{tokenId}', unknown: [[`/people/nobody/tokens/token_${'0'.repeat(32)}`, 'token not found.']] },
  { method: 'GET', path: '/administrator-token' },
  { method: 'PUT', path: '/administrator-token', json: { accepted: true } },
  { method: 'DELETE', path: '/sessions/{sessionId}', unknown: [[`/sessions/session_${'0'.repeat(32)}`, 'session not found.']] },
];

t.test('every route of administration keeps the common rules', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const admin = world.admin();
  const place = (path: string, names: Record<string, string>): string =>
    `/admin/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '')}`;
  const good = {
    developerId: 'dev',
    applicationId: tenant.applicationId,
    deviceId: deviceIdOf(77_777),
    sessionId: `session_${'0'.repeat(32)}`,
    memberId: NO_MEMBER,
    noteId: NO_NOTE,
    personId: 'nobody',
    tokenId: `token_${'0'.repeat(32)}`,
    deliveryId: NO_DELIVERY,
    rolloutId: NO_ROLLOUT,
    removalId: NO_REMOVAL,
    actionId: NO_ACTION,
    batchId: NO_BATCH,
    transactionId: '1',
    keyId: NO_KEY,
    certificateId: NO_KEY,
    secretId: NO_KEY,
    package: 'com.example.own',
    version: '1.0.0',
  };

  t.test('the table of the tests has every route', async (t) => {
    const routes = ROUTES.filter(({ path }) => path.startsWith('/admin/'));
    t.same(
      ROWS.map(({ method, path }) => `${method} /admin/v1${path}`).sort(),
      routes.map(({ method, path }) => `${method} ${path}`).sort(),
    );
  });

  t.test('every route checks the administrator token before anything else', async (t) => {
    const token = world.service.adminToken;
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      token,
      `Bearer ${await world.tokenOf(tenant.applicationId, tenant.secret)}`,
    ];
    const client = world.admin();
    for (const { method, path } of ROWS) {
      for (const authorization of wrong) {
        const answer = await client.request(
          method,
          place(path, {
            developerId: 'no%20body',
            deviceId: 'x',
            applicationId: '%zz',
            package: 'x',
            version: '%20',
            keyId: 'x',
            certificateId: 'x',
            secretId: 'x',
            sessionId: 'x',
            memberId: 'x',
            noteId: 'x',
            personId: '%20',
            tokenId: 'x',
            deliveryId: 'x',
            rolloutId: 'x',
            removalId: 'x',
            batchId: 'x',
            authorityId: 'x',
            actionId: 'x',
            transactionId: 'x',
          }),
          {
            headers: { authorization, 'content-type': 'application/json' },
            text: '{"broken":',
          },
        );
        t.match(
          answer,
          { status: 401, body: { message: 'administrator token is missing or wrong.' } },
          `${method} ${path} ${authorization}`,
        );
        t.equal(answer.headers['www-authenticate'], 'Bearer realm="lapel administration"');
      }
    }
  });

  t.test('an identifier in the path that is malformed is answered 404 and named', async (t) => {
    for (const { method, path, json } of ROWS) {
      const [, name] = /\{(\w+)\}/.exec(path) ?? [];
      if (name === undefined) continue;
      const shapes =
        name === 'deviceId'
          ? ['x', '1'.repeat(15), '%zz', '%00']
          : ['a%20b', '%zz', 'x%2Fy', 'é', '..'.replaceAll('.', '%2E'), "'%20OR%201=1"];
      for (const shape of shapes) {
        const answer = await admin.request(
          method,
          place(path, { ...good, [name]: encodeURI(shape).replaceAll('%25', '%') }),
          { json },
        );
        t.match(answer, { status: 404, body: { reason: 'invalid path parameter.' } }, `${method} ${path} ${shape}`);
        const kind = name === 'transactionId' ? 'int_type' : 'string_pattern_mismatch';
        t.same(faultsOf(answer), [`pathParameters.${name} ${kind}`]);
      }
      const long = await admin.request(method, place(path, { ...good, [name]: 'x'.repeat(256) }), { json });
      t.equal(long.status, 404);
    }
  });

  t.test('an unknown resource is answered 404 with its reason', async (t) => {
    for (const { method, json, unknown = [] } of ROWS) {
      for (const [path, reason] of unknown) {
        const answer = await admin.request(method, `/admin/v1${path}`, { json });
        t.match(answer, { status: 404, body: { reason, details: [] } }, `${method} ${path}`);
      }
    }
  });

  t.test('each fault of a body is named, all at once', async (t) => {
    const device = (await world.registerDevice()).deviceId;
    const rows: [method: string, path: string, json: unknown, faults: string[]][] = [
      ['POST', '/developers', {}, ['body.name missing']],
      [
        'POST',
        '/developers',
        { name: '', developerId: '' },
        ['body.developerId string_too_short', 'body.name string_too_short'],
      ],
      [
        'POST',
        '/developers',
        { name: 'x'.repeat(256), developerId: 'x'.repeat(65) },
        ['body.developerId string_too_long', 'body.name string_too_long'],
      ],
      [
        'POST',
        '/developers',
        { name: 1, developerId: 'a b', deviceLimit: '5' },
        ['body.developerId string_pattern_mismatch', 'body.deviceLimit int_type', 'body.name string_type'],
      ],
      [
        'POST',
        '/developers',
        { name: 'x', developerId: '..', deviceLimit: -1 },
        ['body.developerId string_pattern_mismatch', 'body.deviceLimit greater_than_equal'],
      ],
      [
        'POST',
        '/developers',
        { name: 'x', deviceLimit: 1.5, limit: 1 },
        ['body.deviceLimit int_type', 'body.limit extra_forbidden'],
      ],
      ['POST', '/developers', [], ['body dict_type']],
      [
        'PATCH',
        '/developers/dev',
        { name: null, deviceLimit: true, developerId: 'new' },
        ['body.developerId extra_forbidden', 'body.deviceLimit int_type', 'body.name string_type'],
      ],
      [
        'POST',
        '/developers/dev/applications',
        { applicationId: '.' },
        ['body.applicationId string_pattern_mismatch', 'body.name missing'],
      ],
      ['POST', '/developers/dev/applications', { name: 'x', secret: 'mine' }, ['body.secret extra_forbidden']],
      ['POST', '/developers/dev/devices', {}, ['body.deviceId missing']],
      ['POST', '/developers/dev/devices', { deviceId: 490154203237518 }, ['body.deviceId string_type']],
      [
        'POST',
        '/developers/dev/devices',
        { deviceId: '490154203237517', credential: 'x'.repeat(31) },
        ['body.credential string_too_short', 'body.deviceId string_pattern_mismatch'],
      ],
      [
        'POST',
        '/developers/dev/devices',
        { deviceId: deviceIdOf(1234), developerId: 'other' },
        ['body.developerId extra_forbidden'],
      ],
      [
        'PATCH',
        `/devices/${device}`,
        { deviceId: device, hardwareProperties: [] },
        ['body.deviceId extra_forbidden', 'body.hardwareProperties dict_type'],
      ],
      [
        'PATCH',
        `/devices/${device}`,
        { hardwareProperties: { macAddressWifi: 'AA-BB-CC-DD-EE-FF', model: { name: 1 }, camera: {} } },
        [
          'body.hardwareProperties.camera list_type',
          'body.hardwareProperties.macAddressWifi string_pattern_mismatch',
          'body.hardwareProperties.model.name string_type',
        ],
      ],
      ['POST', `/devices/${device}/credential`, { credential: 'x'.repeat(31) }, ['body.credential string_too_short']],
      ['POST', `/devices/${device}/credential`, { credential: 5 }, ['body.credential string_type']],
    ];
    for (const [method, path, json, faults] of rows) {
      const answer = await admin.request(method, `/admin/v1${path}`, { json });
      t.match(
        answer,
        { status: 400, body: { reason: 'invalid request.' } },
        `${method} ${path} ${JSON.stringify(json).slice(0, 100)}`,
      );
      t.same(faultsOf(answer), faults);
    }
    t.match((await admin.get('/admin/v1/developers/dev')).body, { name: 'dev' });
  });

  t.test('methods and paths that administration does not have are a wrong url', async (t) => {
    for (const [method, path] of [
      ['PUT', '/developers'],
      ['PUT', `/applications/${tenant.applicationId}`],
      ['GET', `/applications/${tenant.applicationId}/secret`],
      ['PUT', `/devices/${good.deviceId}`],
      ['GET', `/devices/${good.deviceId}/credential`],
      ['GET', '/developers/dev/'],
      ['GET', '/'],
      ['GET', ''],
    ] as const) {
      t.match(await admin.request(method, `/admin/v1${path}`), { status: 403, body: { message: 'wrong url.' } }, path);
    }
    const elsewhere = await world.anonymous().get('/v1/developers', { token: world.service.adminToken });
    t.match(elsewhere, { status: 403 }, 'and the API’s listener has none of it');
  });
});
