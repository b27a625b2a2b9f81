import { connect } from 'node:net';
import t from 'tap';
import type { CheckedClient, RequestOptions } from '../contract/checked-client.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { faultsOf } from './operations.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const deep = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels);
const text = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE): RequestOptions => ({
  text: body,
  headers,
});

// Bodies that are not JSON in UTF-8: the same fault for each operation with a JSON body.
const NO_JSON: Record<string, RequestOptions> = {
  'a brace': text('{'),
  'a comma too many': text('{"a":1,}'),
  'two values': text('{}{}'),
  'single quotes': text("{'a':1}"),
  'a comment': text('{/* */}'),
  'not a number': text('{"a":NaN}'),
  'a byte order mark alone': text('\ufeff'),
  'a NUL': text('\u0000'),
  'a raw control in a string': text('{"a":"\u0001"}'),
  'half a surrogate escape': text('{"a":"\\ud8"}'),
  'spaces alone': text('   '),
  'bytes that are no UTF-8': text(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
  'overlong UTF-8': text(Buffer.from([0x22, 0xc0, 0xaf, 0x22])),
  'a surrogate in UTF-8': text(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])),
  'UTF-16': text(Buffer.from('{}', 'utf16le')),
  'an unfinished nest of 10,000 levels': text('['.repeat(10_000)),
  'text/plain': text('{}', { 'content-type': 'text/plain' }),
  'a form': text('a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
  'a multipart form': text('--x--', { 'content-type': 'multipart/form-data; boundary=x' }),
  'a type that only begins as JSON': text('{}', { 'content-type': 'application/jsonp' }),
  'gzip by its name': text('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }),
};

t.test('bad input', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const device = await world.activatedDevice(tenant);
  const spare = await world.registerDevice();
  const admin = world.admin();
  const BODIES: [name: string, client: CheckedClient, method: string, target: string, shape: string][] = [
    ['op 2', api, 'PATCH', path, 'dict_type'],
    ['op 5', api, 'POST', `${path}/devices/${spare.deviceId}`, 'dict_type'],
    ['op 10', api, 'PUT', `${device.path}/settings/apn`, 'list_type'],
    ['op 11', api, 'PUT', `${device.path}/settings/wifi`, 'list_type'],
    ['administration', admin, 'POST', '/admin/v1/developers', 'dict_type'],
  ];
  const settings = (await api.get(path)).body;

  t.test('a body that is not JSON is one fault, for every operation with a body', async (t) => {
    for (const [name, client, method, target] of BODIES) {
      for (const [title, options] of Object.entries(NO_JSON)) {
        const answer = await client.request(method, target, options);
        t.match(answer, { status: 400, body: { reason: 'invalid request.' } }, `${name}: ${title}`);
        t.same(faultsOf(answer), ['body json_invalid']);
      }
    }
  });

  t.test('a missing body is one fault, except for op 5, whose body has only optional fields', async (t) => {
    for (const [name, client, method, target] of BODIES) {
      const answer = await client.request(method, target, { headers: JSON_TYPE });
      if (name === 'op 5') {
        t.equal(answer.status, 201);
        await client.delete(`${target}/transactions/${transactionIdOf(answer)}`);
      } else {
        const details = [{ loc: ['body'], msg: 'Field required', type: 'missing' }];
        t.same(answer.status === 400 && answer.body, { reason: 'invalid request.', details }, name);
      }
    }
  });

  t.test('JSON of another shape is one fault of the body', async (t) => {
    for (const [name, client, method, target, shape] of BODIES) {
      const others = ['null', 'true', '1', '1e400', '"x"', shape === 'dict_type' ? '[]' : '{}', '"\\ud800"'];
      others.push(shape === 'dict_type' ? deep('[', ']', 10_000) : deep('{"a":', '}', 10_000).replace('{}', '{"a":1}'));
      for (const body of others.slice(0, -1)) {
        const answer = await client.request(method, target, text(body));
        t.same(answer.status === 400 && faultsOf(answer), [`body ${shape}`], `${name}: ${body}`);
      }
      const nested = await client.request(method, target, text(others.at(-1)!));
      t.equal(nested.status, 400, `${name}: 10,000 levels`);
    }
  });

  t.test('10,000 levels in an otherwise valid body are an ordinary fault', async (t) => {
    const nest = deep('[', ']', 10_000);
    const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    for (const value of [nest, objects]) {
      const setting = await api.patch(path, text(`{"deviceEvent":${value}}`));
      t.same(setting.status === 400 && faultsOf(setting), ['body.deviceEvent string_type']);
      const wifi = await api.put(`${device.path}/settings/wifi`, text(`[{"ssid":${value},"security":"OPEN"}]`));
      t.same(wifi.status === 400 && faultsOf(wifi), ['body.0.ssid string_type']);
      const unknown = await api.post(`${path}/devices/${spare.deviceId}`, text(`{"x":${value}}`));
      t.same(unknown.status === 400 && faultsOf(unknown), ['body.x extra_forbidden']);
      const properties = await admin.patch(
        `/admin/v1/devices/${spare.deviceId}`,
        text(`{"hardwareProperties":{"model":${value}}}`),
      );
      t.equal(properties.status, 400);
    }
  });

  t.test('names with a meaning in JavaScript are unknown fields like any other', async (t) => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', 'a/b~c']) {
      const key = JSON.stringify(name);
      const setting = await api.patch(path, text(`{${key}:{"deviceEvent":"https://evil.example"}}`));
      t.same(setting.status === 400 && faultsOf(setting), [`body.${name} extra_forbidden`], name);
      const apn = await api.put(`${device.path}/settings/apn`, text(`[{"name":"a","apn":"b",${key}:1}]`));
      t.same(apn.status === 400 && faultsOf(apn), [`body.0.${name} extra_forbidden`], name);
      const inherited = await api.put(`${device.path}/settings/apn`, text(`[{${key}:{"name":"a","apn":"b"}}]`));
      t.ok(inherited.status === 400 && faultsOf(inherited).includes('body.0.apn missing'), 'nothing is inherited');
    }
    t.equal(({} as Record<string, unknown>)['deviceEvent'], undefined);
    t.same((await api.get(path)).body, settings);
  });

  t.test('if a key occurs twice, the last one counts (RFC 8259 4 leaves it open)', async (t) => {
    const good = '"https://a.example/last"';
    const first = await api.patch(path, text(`{"callEvent":1,"callEvent":${good}}`));
    t.equal(first.status, 200);
    t.equal((await api.get(path)).body.callEvent, 'https://a.example/last');
    const last = await api.patch(path, text(`{"callEvent":${good},"callEvent":1}`));
    t.same(last.status === 400 && faultsOf(last), ['body.callEvent string_type']);
    await api.patch(path, { json: { callEvent: null } });
  });

  t.test('numbers that no integer can hold are refused', async (t) => {
    for (const number of ['1e400', '-1e400', '1e-400000', '0.1', '1e-7']) {
      const answer = await api.put(
        `${device.path}/settings/apn`,
        text(`[{"name":"a","apn":"b","authType":${number}}]`),
      );
      if (number === '1e-400000') t.equal(answer.status, 201, 'this one is 0');
      else t.same(answer.status === 400 && faultsOf(answer), ['body.0.authType int_type'], number);
    }
    const limit = await admin.post('/admin/v1/developers', text('{"name":"x","deviceLimit":1e400}'));
    t.same(limit.status === 400 && faultsOf(limit), ['body.deviceLimit int_type']);
    device.link.puback((await device.link.command()).packet);
  });

  t.test('unusual characters in a clientId come back unchanged; control characters are refused', async (t) => {
    const odd = ['\u202e', '🦊', "'; DROP TABLE devices; --", '%s%n', '</script>'];
    for (const clientId of odd) {
      const { deviceId } = await world.registerDevice();
      const answer = await api.post(`${path}/devices/${deviceId}`, { json: { clientId } });
      t.equal(answer.status, 201, JSON.stringify(clientId));
      t.equal((await admin.get(`/admin/v1/devices/${deviceId}`)).body.clientId, clientId);
      const again = await api.post(`${path}/devices/${spare.deviceId}`, { json: { clientId } });
      t.match(again, { status: 403, body: { message: 'ClientId is already in use.' } });
    }
    for (const clientId of ['a\u0000b', '\u0007', '\ud800']) {
      const answer = await api.post(`${path}/devices/${spare.deviceId}`, { json: { clientId } });
      t.same(
        answer.status === 400 && faultsOf(answer),
        ['body.clientId string_pattern_mismatch'],
        JSON.stringify(clientId),
      );
    }
  });

  t.test('a body of the bound of its route is read, one above it is answered 413 as a Message error', async (t) => {
    const filled = (size: number): string => `{"x":"${'x'.repeat(size - 8)}"}`;
    for (const [name, client, method, target] of BODIES) {
      const limit = ['op 2', 'administration'].includes(name) ? 64 * 1024 : 1024 * 1024;
      t.equal((await client.request(method, target, text(filled(limit)))).status, 400, `${name}: ${limit} bytes`);
      for (const size of [limit + 1, 8 * limit]) {
        const answer = await client.request(method, target, text(filled(size)));
        t.match(answer, { status: 413, body: { message: `request body is larger than ${limit} bytes.` } });
      }
    }
  });

  t.test('an endless body without Content-Length is answered 413, and then its connection is closed', async (t) => {
    const token = await world.tokenOf(tenant.applicationId, tenant.secret);
    const { hostname, port } = new URL(world.service.addresses.http);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    /** Sends without end; resolves to what it could read until the connection was closed. */
    async function sendEndlessly(): Promise<string> {
      const socket = connect({ host: hostname, port: Number(port) });
      t.teardown(() => socket.destroy());
      let received = '';
      socket.setEncoding('utf8').on('data', (more: string) => {
        received += more;
      });
      socket.on('error', () => undefined);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(`PATCH ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`);
      socket.write('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
      const send = (): void => {
        while (!socket.destroyed && socket.writable && socket.write(chunk));
      };
      socket.on('drain', send);
      send();
      await closed;
      return received;
    }
    // If the service closed the connection at once, TCP would reset it, and half of the clients would never see the
    // answer.
    for (const received of await Promise.all(Array.from({ length: 8 }, sendEndlessly))) {
      t.match(received, /^HTTP\/1.1 413 /);
      t.match(received, /"message":"request body is larger than/);
    }
  });

  t.test('very long paths and queries, and too large heads, do no harm', async (t) => {
    t.match(await api.get(`${path}/devices/${'9'.repeat(10_000)}`), { status: 404 });
    t.match(await api.get(`/${'x/'.repeat(5000)}`), { status: 403 });
    const list = `${path}/devices/${spare.deviceId}/transactions`;
    t.match(await api.get(`${list}?x=${'y'.repeat(10_000)}`), { status: 400 });
    t.match(await api.get(`${list}?${'limit=1&'.repeat(1000)}`), { status: 400 });
    const { hostname, port } = new URL(world.service.addresses.http);
    const socket = connect({ host: hostname, port: Number(port) });
    t.teardown(() => socket.destroy());
    let received = '';
    socket.setEncoding('utf8').on('data', (more: string) => {
      received += more;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Large: ${'x'.repeat(100_000)}\r\n\r\n`);
    await closed;
    t.match(received, /^HTTP\/1.1 431 /);
  });

  t.test('NUL and lone surrogates are refused by the name of their field, wherever they come', async (t) => {
    const bad = String.raw`"a\u0000b"`;
    const half = String.raw`"a\ud800"`;
    const cases: [client: CheckedClient, method: string, target: string, body: string, faults: string[]][] = [
      [api, 'POST', `${path}/packages`, `{"package":"com.example.a","displayName":${half}}`, ['body.displayName']],
      [api, 'POST', `${path}/devices/${spare.deviceId}`, `{"clientId":${half}}`, ['body.clientId']],
      [api, 'PATCH', path, `{"callEvent":"https://a.example/\\udc00"}`, ['body.callEvent']],
      [api, 'PUT', `${device.path}/settings/wifi`, `[{"ssid":${bad},"security":"OPEN"}]`, ['body.0.ssid']],
      [
        api,
        'PUT',
        `${device.path}/settings/apn`,
        `[{"name":${bad},"apn":${half},"user":"\\ud83d\\ude00"}]`,
        ['body.0.apn', 'body.0.name'],
      ],
      [api, 'PUT', `${device.path}/apps`, `{"package":"com.example.a","version":${bad}}`, ['body.version']],
      [admin, 'POST', '/admin/v1/developers', `{"name":${half}}`, ['body.name']],
    ];
    for (const [client, method, target, body, faults] of cases) {
      const answer = await client.request(method, target, text(body));
      t.equal(answer.status, 400, body);
      t.same(
        faultsOf(answer),
        faults.map((place) => `${place} string_pattern_mismatch`),
        body,
      );
      for (const { msg } of answer.body.details)
        t.match(msg, /no NUL characters and no lone surrogates|^String should have /);
    }
    const query = await api.get(`${device.path}/transactions?status=%00`);
    t.same([query.status, faultsOf(query)], [400, ['query.status enum']]);
    const after = await api.get(`${path}/devices/status?after=35000000000001%00`);
    t.same([after.status, faultsOf(after)], [400, ['query.after string_pattern_mismatch']]);
    for (const [segment, name] of [
      ['packages/com.example.a%00/versions', 'package'],
      [`devices/${device.deviceId}%00/status`, 'deviceId'],
    ] as const) {
      const answer = await api.get(`${path}/${segment}`);
      t.same([answer.status, faultsOf(answer)], [404, [`pathParameters.${name} string_pattern_mismatch`]], segment);
    }
    t.ok([403, 404].includes((await api.get(`${path}/packages/%ED%A0%80/versions`)).status), 'half a pair in UTF-8');
    t.notOk((await api.get(`${path}/packages`)).body.total, 'nothing was kept');
  });

  t.test('a list of a million is refused by its count, and faults without end by their first hundred', async (t) => {
    const wifi = await api.request('PUT', `${device.path}/settings/wifi`, text(`[${'{},'.repeat(300_000)}{}]`));
    t.same([wifi.status, faultsOf(wifi)], [400, ['body less_than_equal']]);
    const names = Array.from({ length: 5_000 }, (_, index) => `"n${index}":0`).join();
    const patch = await api.request('PATCH', path, text(`{${names}}`));
    t.equal(patch.body.details.length, 101);
    t.same(patch.body.details.at(-1), { loc: ['body'], msg: '...and more', type: 'extra_forbidden' });
  });

  t.test('a body is ignored where the operation takes none', async (t) => {
    const noise = text('{"broken":');
    t.match(await api.get(path, noise), { status: 200 });
    t.match(await api.get(`${device.path}/transactions`, noise), { status: 200 });
    t.match(await api.post(`${path}/refresh_authkey`, noise), { status: 201 });
  });

  t.test('after all of this the service works as before', async (t) => {
    t.match(await api.get(path), { status: 200, body: { deviceEvent: settings.deviceEvent } });
    t.match(await api.put(`${device.path}/settings/wifi`, { json: WIFI }), { status: 201 });
    t.match(await device.link.command(), { operation: 'setWifi', parameters: { networks: WIFI } });
  });
});
