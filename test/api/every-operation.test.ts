import t from 'tap';
import { ROUTES } from '../../src/edge/api/routes.ts';
import { ANY_SCOPE } from '../../src/edge/http/route.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { createForger } from './forged-tokens.ts';
import {
  faultsOf,
  NEED_ACTIVATION,
  ON_APPLICATIONS,
  ON_DEVICES,
  OPERATIONS,
  targetOf,
  WITH_BODY,
} from './operations.ts';

t.test('every operation keeps the common rules', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { applicationId, secret, api } = tenant;
  const other = await world.createTenant('other');
  const anonymous = world.anonymous();
  const titleOf = ({ op, method, path }: { op: string; method: string; path: string }) => `${op}: ${method} ${path}`;

  t.test('the table of the tests has every route that needs a token, with its scope', async (t) => {
    const rows = OPERATIONS.map(({ method, path, scope }) => {
      const whole = path.startsWith('/v1') ? path : `/v1/applications/{applicationId}${path}`;
      return `${method} ${whole} ${scope}`;
    });
    // A message of an assistant needs no scope; test/mcp/ has its rules.
    const routes = ROUTES.filter(({ scope }) => scope !== null && scope !== ANY_SCOPE);
    t.same(rows.sort(), routes.map(({ method, path, scope }) => `${method} ${path} ${scope}`).sort());
  });

  t.test('without a token every operation is answered 401, and the challenge has no error code', async (t) => {
    for (const row of OPERATIONS) {
      const target = targetOf(row, { applicationId });
      for (const headers of [
        {},
        { authorization: 'Basic YTpi' },
        { authorization: 'bearerabc' },
        { authorization: '' },
      ]) {
        const answer = await anonymous.request(row.method, target, { headers });
        t.match(answer, { status: 401, body: { message: 'access token is missing.' } }, titleOf(row));
        t.equal(answer.headers['www-authenticate'], `Bearer realm="lapel", scope="${row.scope}"`);
      }
    }
  });

  t.test('with a token that is forged, foreign, expired or malformed every operation is answered 401', async (t) => {
    const forger = await createForger(world, applicationId);
    const control = await anonymous.get(tenant.path, { token: await forger.sign() });
    t.equal(control.status, 200, 'what the forger signs is good as long as nothing about it is wrong');
    const bad = await forger.bad();
    for (const row of OPERATIONS) {
      const wrong: string[] = [];
      for (const [name, token] of Object.entries(bad)) {
        const answer = await anonymous.request(row.method, targetOf(row, { applicationId }), { token });
        const challenge = `Bearer realm="lapel", error="invalid_token", scope="${row.scope}"`;
        const asItShould =
          answer.status === 401 &&
          answer.body.message === 'access token is invalid.' &&
          answer.headers['www-authenticate'] === challenge;
        if (!asItShould) wrong.push(name);
      }
      t.same(wrong, [], titleOf(row));
    }
  });

  t.test('each operation needs its own scope: with all others the answer is 403 and names it', async (t) => {
    const scopes = [...new Set(OPERATIONS.map(({ scope }) => scope)), 'svc:communication-service'];
    for (const scope of scopes.slice(0, 4)) {
      const rest = await world.clientOf(applicationId, secret, scopes.filter((one) => one !== scope).join(' '));
      for (const row of OPERATIONS) {
        const answer = await rest.request(row.method, targetOf(row, { applicationId }));
        if (row.scope !== scope) {
          t.notMatch(answer.body, { message: /lacks the scope/ }, `${titleOf(row)} does not need ${scope}`);
          continue;
        }
        t.match(answer, { status: 403, body: { message: `the access token lacks the scope ${scope}.` } }, titleOf(row));
        const challenge = `Bearer realm="lapel", error="insufficient_scope", scope="${scope}"`;
        t.equal(answer.headers['www-authenticate'], challenge);
      }
    }
  });

  t.test('an application in the path that is not the token’s own is answered 403, known or not', async (t) => {
    for (const row of ON_APPLICATIONS) {
      for (const named of [other.applicationId, 'nobody', '%zz', '%2e%2e', 'a%2Fb', applicationId.toUpperCase()]) {
        const answer = await api.request(row.method, targetOf(row, { applicationId: named }));
        const body = { message: 'the access token belongs to another application.' };
        t.match(answer, { status: 403, body, headers: { 'www-authenticate': undefined } }, `${titleOf(row)} ${named}`);
      }
    }
  });

  t.test('a deviceId that is not an IMEI is answered 404 with a Reason error that names it', async (t) => {
    const shapes = {
      letters: 'abcdefghijklmno',
      '14 digits': '49015420323751',
      '16 digits': '4901542032375180',
      'a wrong check digit': '490154203237517',
      'an encoded slash': '490154203237518%2F',
      'an encoded path': '..%2F..%2Fdevices',
      'percent and no hexadecimal': '%zz',
      'half an UTF-8 sequence': '%C3',
      'an encoded NUL': '49015420323751%00',
      'other digits': encodeURIComponent('٤٩٠١٥٤٢٠٣٢٣٧٥١٨'),
      'a line end': '490154203237518%0A',
      '8000 characters': '1'.repeat(8000),
      proto: '__proto__',
    };
    for (const row of ON_DEVICES) {
      for (const [name, deviceId] of Object.entries(shapes)) {
        const answer = await api.request(row.method, targetOf(row, { applicationId, deviceId }));
        t.match(answer, { status: 404, body: { reason: 'invalid path parameter.' } }, `${titleOf(row)}: ${name}`);
        t.same(faultsOf(answer), ['pathParameters.deviceId string_pattern_mismatch']);
      }
    }
  });

  t.test('a transactionId that is not a positive number is answered 404 and named', async (t) => {
    const types: Record<string, string> = {
      abc: 'int_type',
      '1.5': 'int_type',
      '1e3': 'int_type',
      '0x1': 'int_type',
      '+1': 'int_type',
      '%20': 'int_type',
      '%zz': 'int_type',
      '9007199254740993': 'int_type',
      '99999999999999999999999': 'int_type',
      0: 'greater_than_equal',
      '-1': 'greater_than_equal',
      '-0': 'greater_than_equal',
    };
    for (const row of OPERATIONS.filter(({ path }) => path.includes('{transactionId}'))) {
      for (const [transactionId, type] of Object.entries(types)) {
        const answer = await api.request(row.method, targetOf(row, { applicationId, transactionId }));
        t.match(
          answer,
          { status: 404, body: { reason: 'invalid path parameter.' } },
          `${titleOf(row)}: ${transactionId}`,
        );
        t.same(faultsOf(answer), [`pathParameters.transactionId ${type}`]);
      }
      const unknown = await api.request(row.method, targetOf(row, { applicationId, transactionId: '999999999999999' }));
      t.match(unknown, { status: 404, body: { reason: 'transaction not found.', details: [] } }, 'the largest number');
      const both = await api.request(row.method, targetOf(row, { applicationId, deviceId: 'x', transactionId: 'y' }));
      t.same(faultsOf(both), [
        ...(row.path.includes('{deviceId}') ? ['pathParameters.deviceId string_pattern_mismatch'] : []),
        'pathParameters.transactionId int_type',
      ]);
    }
  });

  t.test('the checks come in their order: each one hides the ones after it', async (t) => {
    const narrow = await world.clientOf(applicationId, secret, 'svc:communication-service');
    const broken = { text: '{"a":', headers: { 'content-type': 'application/json' } };
    for (const row of OPERATIONS) {
      const foreign = targetOf(row, { applicationId: 'foreign', deviceId: 'x' });
      const wrongDevice = `${targetOf(row, { applicationId, deviceId: 'x' })}?limit=x`;
      t.match(await anonymous.request(row.method, foreign, broken), { status: 401 }, `${titleOf(row)}: token`);
      t.match(await narrow.request(row.method, foreign, broken), { status: 403, body: { message: /scope/ } }, 'scope');
      const application = { status: 403, body: { message: /another application/ } };
      if (ON_APPLICATIONS.includes(row)) {
        t.match(await api.request(row.method, foreign, broken), application, 'application');
      }
      if (!row.path.includes('{deviceId}')) continue;
      t.match(await api.request(row.method, wrongDevice, broken), { status: 404 }, 'path parameters');
    }
    for (const row of WITH_BODY) {
      const answer = await api.request(row.method, targetOf(row, { applicationId }), broken);
      t.match(
        answer,
        { status: 400, body: { details: [{ type: 'json_invalid' }] } },
        `${titleOf(row)}: body before rules`,
      );
    }
    const list = await api.get(`${tenant.path}/devices/${deviceIdOf(4711)}/transactions?limit=x`);
    t.match(list, { status: 400 }, 'the query');
  });

  t.test('an unknown device and another developer’s device get the same answer', async (t) => {
    const foreign = await world.registerDevice('other');
    for (const row of [...NEED_ACTIVATION, ...OPERATIONS.filter(({ op }) => /^op [4579]$/.test(op))]) {
      for (const deviceId of [foreign.deviceId, deviceIdOf(4711)]) {
        const answer = await api.request(row.method, targetOf(row, { applicationId, deviceId }), {
          json: row.json ?? {},
        });
        t.match(answer, { status: 403, body: { message: 'device information unavailable.' } }, titleOf(row));
        const list = await api.get(`${tenant.path}/devices/${deviceId}/transactions`);
        t.match(list, { status: 403, headers: { 'lapel-error-code': 'DEVICE_UNAVAILABLE' } }, 'its transactions');
      }
    }
  });

  t.test('operations on activated devices refuse deactivated and activating ones', async (t) => {
    const { deviceId } = await world.registerDevice();
    const refused = { status: 403, body: { message: 'device is not activated.' } };
    const each = async (state: string) => {
      for (const row of [...NEED_ACTIVATION, ...OPERATIONS.filter(({ op }) => op === 'op 7')]) {
        const answer = await api.request(row.method, targetOf(row, { applicationId, deviceId }), {
          json: row.json ?? {},
        });
        t.match(answer, refused, `${titleOf(row)}: ${state}`);
      }
    };
    await each('deactivated');
    t.equal((await api.post(`${tenant.path}/devices/${deviceId}`)).status, 201);
    await each('activating');
    t.match(
      (await api.get(`${tenant.path}/devices/${deviceId}/transactions`)).body,
      { total: 1 },
      'nothing was stored',
    );
  });

  t.test('a device of the developer’s other application is refused by every operation on it', async (t) => {
    const device = await world.activatedDevice(tenant);
    const made = await world.admin().post('/admin/v1/developers/dev/applications', { json: { name: 'second' } });
    const second = await world.clientOf(made.body.applicationId, made.body.secret);
    const path = `/v1/applications/${made.body.applicationId}`;
    await second.post(`${path}/refresh_authkey`);
    await second.patch(path, { json: { deviceEvent: tenant.receiver.url } });
    for (const row of [...NEED_ACTIVATION, ...OPERATIONS.filter(({ op }) => op === 'op 4' || op === 'op 7')]) {
      const target = targetOf(row, { applicationId: made.body.applicationId, deviceId: device.deviceId });
      const answer = await second.request(row.method, target, { json: row.json ?? {} });
      t.match(answer, { status: 403, body: { message: 'device is activated in another application.' } }, titleOf(row));
    }
    const activation = await second.post(`${path}/devices/${device.deviceId}`);
    t.match(activation, { status: 403, body: { message: 'device is already activated.' } });
    const foreign = await second.get(`${path}/devices/${device.deviceId}/transactions/1`);
    t.match(foreign, { status: 404, body: { reason: 'transaction not found.' } });
    const list = await second.get(`${path}/devices/${device.deviceId}/transactions`);
    t.match(list, { status: 403, body: { message: 'device is activated in another application.' } });
  });

  t.test('without a key or without deviceEvent, no operation that makes a transaction is accepted', async (t) => {
    const bare = await world.createTenant('bare', { key: false });
    const deaf = await world.createTenant('deaf', { deviceEvent: false });
    for (const row of [...NEED_ACTIVATION, ...OPERATIONS.filter(({ op }) => op === 'op 5')]) {
      for (const [owner, expected] of [
        [bare, { status: 403, body: { message: 'authenticationKey is not issued.' } }],
        [deaf, { status: 404, body: { message: 'system notification destination is not configured.' } }],
      ] as const) {
        const { deviceId } = await world.registerDevice(owner.developerId);
        const target = targetOf(row, { applicationId: owner.applicationId, deviceId });
        t.match(await owner.api.request(row.method, target, { json: row.json ?? {} }), expected, titleOf(row));
      }
    }
    t.equal((await deaf.api.get(deaf.path)).status, 200, 'ops 1 to 4 work');
  });

  t.test('after the deletion of an application its token is refused by every operation', async (t) => {
    const doomed = await world.createTenant('doomed');
    t.equal((await doomed.api.get(doomed.path)).status, 200);
    await world.admin().delete(`/admin/v1/applications/${doomed.applicationId}`);
    for (const row of OPERATIONS) {
      const target = targetOf(row, { applicationId: doomed.applicationId });
      const answer = await doomed.api.request(row.method, target, { json: row.json ?? {} });
      t.match(answer, { status: 403, body: { message: 'application is not registered.' } }, titleOf(row));
    }
  });
});
