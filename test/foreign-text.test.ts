import { withCredentials } from '@lapel/console/base/device-file';
import { eventsOf } from '@lapel/console/base/event-stream';
import { visible } from '@lapel/console/base/format';
import { wordsOf } from '@lapel/console/base/words';
import { withoutSecrets } from '@lapel/schemas/base/without-secrets';
import { loadContracts, type SchemaName } from '@lapel/schemas/contracts/contracts';
import t from 'tap';
import { Client } from 'undici';
import { ROUTES as ADMIN_ROUTES } from '../src/edge/admin/routes.ts';
import { ROUTES as API_ROUTES } from '../src/edge/api/routes.ts';
import { beginningOf, shownPayload } from '../src/edge/feed/redact-payload.ts';
import { open as openFeed } from './console/feed-client.ts';
import { costsItsLength, WORST } from './processor-time.ts';
import { startWorld } from './world.ts';

/** Node accepts heads of up to 16 KiB: the tests use so many characters, and twice as many. */
const OF_A_HEAD = 7 * 1024;

const BEGINNINGS = ['', '{"', '{"password":"', 'x "secret" : [', '{"a":"https://', '{"transactionId" :'];

t.test('hiding secrets in a text costs no more than its length', async (t) => {
  const all = BEGINNINGS.flatMap((beginning) => WORST.map((worst) => (length: number) => beginning + worst(length)));
  for (const text of all) {
    await costsItsLength(t, JSON.stringify(text(30)), (length) => {
      withoutSecrets(text(length));
      shownPayload(beginningOf(text(length)));
    });
  }
});

t.test('text in the console costs no more than its length', async (t) => {
  for (const worst of WORST) {
    await costsItsLength(t, JSON.stringify(worst(30)), (length) => {
      const text = worst(length);
      visible(text);
      wordsOf({ reason: text, details: [{ loc: [text], msg: text, type: text }] });
      for (const isJson of [true, false]) withCredentials(`deviceId,a\n${text}`, isJson);
    });
  }
});

t.test('reading the feed in the console costs no more than its length', async (t) => {
  for (const unit of ['data: a\n', 'a', '\n', '\r', 'data:', ': \n']) {
    await costsItsLength(t, JSON.stringify(unit), async (length) => {
      // Sent in small pieces, as they may arrive from a network.
      const piece = new TextEncoder().encode(unit.repeat(64 / unit.length));
      let left = length / 16;
      const body = new ReadableStream({
        pull(controller) {
          left -= 1;
          if (left < 0) controller.close();
          else controller.enqueue(piece);
        },
      });
      for await (const _ of eventsOf(new Response(body)));
    });
  }
});

const contracts = loadContracts();
const PARAMETERS = { deviceId: '490154203237518', transactionId: '1', deliveryId: `msg_${'0'.repeat(32)}` };

/** The names that a body or a query may have. */
const namesOf = (schema: SchemaName | undefined): string[] => {
  const { properties, items } = (schema && contracts.documents.get(schema)) as {
    properties?: object;
    items?: { $ref?: string };
  };
  if (properties) return Object.keys(properties);
  return items?.$ref?.includes('wifi') ? ['ssid', 'password'] : ['name', 'apn'];
};

/** A few values for each route; the check of the patterns examines the patterns of the schemas. */
const A_FEW = ['1', 'a.', '"\\'].map(
  (unit) =>
    (length: number): string =>
      `${unit.repeat(length / unit.length)}!`,
);
const OF_HEADERS = ['1', ' ', 'a+', '",', ';q='].map(
  (unit) =>
    (length: number): string =>
      `${unit.repeat(length / unit.length)} !`,
);
const MESSAGES = ['"\\\\"', '"transactionId" :', '{"password":"', '[', ' ', '\\', 'https://a?'].map(
  (unit) =>
    (length: number): string =>
      unit.repeat(length / unit.length),
);
/** The valid beginnings of headers, so that the code reads the rest as well. */
const HEADERS: Record<string, readonly string[]> = {
  'accept-encoding': ['', 'gzip;q=0.', 'gzip'],
  accept: ['', 'text/html;q='],
  'content-type': ['application/', 'application/json;', 'multipart/form-data; boundary='],
  'content-encoding': ['gzip'],
  'if-none-match': ['', 'W/"'],
  'if-match': ['"'],
  'if-modified-since': ['Sun, '],
  range: ['bytes=', 'bytes=0'],
  cookie: ['', '__Host-lapel='],
  authorization: ['Bearer ', 'Basic ', 'AWS4-HMAC-SHA256 Credential='],
  'idempotency-key': ['"', 'a'],
  'x-request-id': [''],
  'x-forwarded-for': [''],
  forwarded: ['for='],
  traceparent: ['00-'],
  origin: ['https://', 'http://127.0.0.'],
  referer: ['https://'],
};

t.test('a request costs no more than its length', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const token = await world.tokenOf(tenant.applicationId, tenant.secret);
  const { http, admin, objects } = world.service.addresses;
  const listeners = [
    { name: 'api', url: http, routes: API_ROUTES, authorization: `Bearer ${token}` },
    { name: 'admin', url: admin, routes: ADMIN_ROUTES, authorization: `Bearer ${world.service.adminToken}` },
  ];
  const clients = new Map([http, admin, objects].map((url) => [url, new Client(url)]));
  t.teardown(() => Promise.all([...clients.values()].map((client) => client.destroy())));
  const send = async (url: string, method: string, path: string, headers: object, body: string | null = null) => {
    const answer = await clients.get(url)!.request({ method: method as 'GET', path, headers: { ...headers }, body });
    await answer.body.dump();
  };
  for (const { name, url, routes, authorization } of listeners) {
    for (const { method, path, query, body, form } of routes) {
      if (path.endsWith('/feed')) continue; // its answer has no end
      const fill = (value?: string): string =>
        path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
          parameter === 'applicationId' && name === 'api'
            ? tenant.applicationId
            : (value ?? (PARAMETERS as Record<string, string>)[parameter] ?? 'com.example.none'),
        );
      const ofPath = path.includes('{') || path === '/console';
      const inQuery = query === undefined ? [] : namesOf(query as SchemaName);
      const content = body ?? form;
      const inBody = content === undefined ? [] : namesOf(content as SchemaName);
      const isList = content !== undefined && (contracts.documents.get(content) as { type?: string })?.type === 'array';

      await costsItsLength(
        t,
        `${name} ${method} ${path}`,
        async (length) => {
          for (const worst of A_FEW) {
            if (ofPath) {
              const segment = encodeURIComponent(worst(length)).slice(0, length).replace(/%.?$/, '');
              await send(url, method, path === '/console' ? `${path}/${segment}` : fill(segment), { authorization });
            }
            if (inQuery.length > 0) {
              const value = encodeURIComponent(worst(length / inQuery.length / 3));
              const parameters = inQuery.map((one) => `${one}=${value}`).join('&');
              await send(url, method, `${fill()}?${parameters}`, { authorization });
            }
            if (content !== undefined) {
              const value = worst((6 * length) / inBody.length);
              const object = Object.fromEntries(inBody.map((one) => [one, value]));
              const type = form ? 'application/x-www-form-urlencoded' : 'application/json';
              const text = form ? new URLSearchParams(object).toString() : JSON.stringify(isList ? [object] : object);
              await send(url, method, fill(), { authorization, 'content-type': type }, text);
            }
          }
        },
        OF_A_HEAD / 2,
      );
    }
  }

  const asked = [
    { url: http, path: '/docs' },
    { url: http, path: tenant.path, authorization: listeners[0]!.authorization },
    { url: http, method: 'POST', path: '/api/v1/authenticate', type: 'application/x-www-form-urlencoded' },
    { url: http, method: 'POST', path: `${tenant.path}/packages`, authorization: listeners[0]!.authorization },
    { url: admin, path: '/admin/v1/developers' },
    { url: objects, method: 'PUT', path: '/lapel/a' },
  ];
  for (const { url, method = 'GET', path, authorization, type = 'application/json' } of asked) {
    const usual = { ...(authorization && { authorization }), ...(method === 'POST' && { 'content-type': type }) };
    for (const [header, beginnings] of Object.entries(HEADERS)) {
      await costsItsLength(
        t,
        `${header} of ${method} ${url} ${path}`,
        async (length) => {
          for (const beginning of beginnings) {
            for (const worst of OF_HEADERS) {
              const value = `${beginning}${worst(length)}`.replaceAll(/[^ -~]/g, '~');
              await send(url, method, path, { ...usual, [header]: value }, method === 'GET' ? null : '{}');
            }
          }
        },
        OF_A_HEAD,
      );
    }
  }
});

t.test('a message of a device costs no more than its length, also while the console shows it', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { deviceId, link } = await world.activatedDevice(tenant);
  const feed = await openFeed(t, `${world.service.addresses.admin}/admin/v1/feed?topics=device:${deviceId}`, {
    authorization: `Bearer ${world.service.adminToken}`,
  });
  await feed.next('snapshot');
  link.socket.on('data', () => undefined);
  const KINDS = {
    status: 'firmwareVersion',
    events: 'eventId',
    acks: 'transactionId',
    requests: 'requestId',
    other: 'a',
  };
  for (const [kind, member] of Object.entries(KINDS)) {
    await costsItsLength(t, kind, async (length) => {
      for (const worst of MESSAGES) {
        const text = worst(length);
        for (const payload of [
          text,
          JSON.stringify({ [member]: worst(length / 8), data: { text: worst(length / 8) } }),
        ]) {
          link.publish(kind, payload);
          await link.next('puback');
        }
      }
      await world.idle();
      world.clock.advance(1000);
      await world.idle();
    });
  }
  await costsItsLength(t, 'a topic', async (length) => {
    const topic = 'a'.repeat(length - 100);
    link.publish(topic, '{}');
    await link.next('puback');
    await link.subscribe(topic);
  });
  t.ok(feed.events.some(({ event }) => event === 'change'));
  feed.stop();
});
