import { loadContracts, referredSchema, type SchemaName } from '@lapel/schemas/contracts/contracts';
import type { DomainError, Fault } from '@lapel/schemas/contracts/errors';
import { judgedSchema } from '@lapel/schemas/contracts/judged-schema';
import t from 'tap';
import { webhookUrlFault } from '../../src/core/webhooks/http/webhook-url.ts';
import { ROUTES as ADMIN_ROUTES } from '../../src/edge/admin/routes.ts';
import { ROUTES as API_ROUTES } from '../../src/edge/api/routes.ts';

const contracts = loadContracts();

/** Every fault as a line `loc type msg`, so that a duplicate is visible. */
const found = (name: SchemaName, value: unknown): string[] => contracts.faults(name, value, 'body').map(line);
const line = ({ loc, type, msg }: Fault): string => `${loc.join('.')} ${type} ${msg}`;

t.test('every kind of fault has the word and the sentence of the interface', async (t) => {
  const cases: [name: SchemaName, value: unknown, faults: string[]][] = [
    ['admin/device-register', {}, ['body.deviceId missing Field required']],
    ['rest/activation-request', { key: 1 }, ['body.key extra_forbidden Extra inputs are not permitted']],
    ['rest/activation-request', { clientId: 5 }, ['body.clientId string_type Input should be a valid string']],
    [
      'rest/activation-request',
      { clientId: '' },
      ['body.clientId string_too_short String should have at least 1 character'],
    ],
    [
      'rest/activation-request',
      { clientId: 'x'.repeat(129) },
      ['body.clientId string_too_long String should have at most 128 characters'],
    ],
    ['rest/activation-request', null, ['body dict_type Input should be a valid dictionary']],
    ['rest/activation-request', [], ['body dict_type Input should be a valid dictionary']],
    ['rest/wifi-settings', {}, ['body list_type Input should be a valid list']],
    [
      'rest/apn-settings',
      [{ name: 'a', apn: 'b', mcc: '44', bearer: 1.5 }],
      [
        'body.0.mcc string_pattern_mismatch String should have exactly 3 digits, or be empty',
        'body.0.bearer int_type Input should be a valid integer',
      ],
    ],
    [
      'rest/apn-settings',
      Array.from({ length: 33 }, () => ({ name: 'a', apn: 'b' })),
      ['body less_than_equal List should have at most 32 items'],
    ],
    [
      'rest/wifi-settings',
      [{ ssid: 'a', security: 'WPA9' }],
      ["body.0.security enum Input should be 'OPEN', 'WEP', 'WPA2', 'WPA3' or 'WPA2_WPA3'"],
    ],
    [
      'rest/wifi-settings',
      [{ ssid: '語'.repeat(11), security: 'OPEN' }],
      ['body.0.ssid string_too_long String should have at most 32 bytes'],
    ],
    [
      'mqtt/ack',
      { transactionId: 1, status: 'succeeded', result: JSON.parse('{"a":'.repeat(33) + 1 + '}'.repeat(33)) },
      ['body.result less_than_equal Input should be nested at most 32 levels deep'],
    ],
    [
      'mqtt/ack',
      { transactionId: 0, status: 'failed', progress: 101 },
      [
        'body.transactionId greater_than_equal Input should be greater than or equal to 1',
        'body.progress less_than_equal Input should be less than or equal to 100',
      ],
    ],
    [
      'mqtt/status',
      { bluetooth: { enabled: 1 } },
      ['body.bluetooth.enabled bool_type Input should be a valid boolean'],
    ],
    [
      'rest/application-settings-update',
      { deviceEvent: 'nowhere' },
      ['body.deviceEvent url_parsing Input should be an absolute URL'],
    ],
    [
      'common/device-id',
      '490154203237517',
      ['body string_pattern_mismatch String should end with the check digit of its first 14 digits'],
    ],
    ['common/device-id', '49015420323751a', ['body string_pattern_mismatch String should have exactly 15 digits']],
  ];
  for (const [name, value, faults] of cases) t.same(found(name, value), faults, `${name} ${JSON.stringify(value)}`);
});

t.test('all faults of a body are found at once, each one once', async (t) => {
  const faults = found('rest/wifi-settings', [
    { ssid: '', security: 'WPA2' },
    { security: 'WEP', password: '123456', colour: 'red' },
    { ssid: 'ok', security: 'OPEN' },
    { ssid: 7, password: 8, security: 'WPA3' },
  ]);
  t.same(faults.map((fault) => fault.split(' ', 2).join(' ')).sort(), [
    'body.0.password missing',
    'body.0.ssid string_too_short',
    'body.1.colour extra_forbidden',
    'body.1.password string_pattern_mismatch',
    'body.1.ssid missing',
    'body.3.password string_type',
    'body.3.ssid string_type',
  ]);
});

t.test('a value of the wrong type is one fault, whatever else it breaks', async (t) => {
  t.same(found('rest/wifi-settings', [{ ssid: 'a', security: 5 }]), [
    'body.0.security string_type Input should be a valid string',
  ]);
});

t.test('names with slashes and tildes keep their own place', async (t) => {
  t.same(contracts.faults('rest/activation-request', { 'a/b~c': 1 }, 'body')[0]?.loc, ['body', 'a/b~c']);
  t.same(contracts.faults('mqtt/ack', { transactionId: 1, status: 'failed', error: { 'x/y': 1 } }, 'body')[0]?.loc, [
    'body',
    'error',
    'x/y',
  ]);
});

t.test('the rule for setting URLs can say scheme or parsing, and is asked once for each', async (t) => {
  const strict = loadContracts({
    urlFault: (url) => webhookUrlFault('', url, false),
  });
  const value = { deviceEvent: 'ftp://a.example', callEvent: '::', fileUploadEvent: 'https://a.example', x: 1 };
  t.same(
    strict
      .faults('rest/application-settings-update', value, 'body')
      .map(({ loc, type }) => `${loc.join('.')} ${type}`)
      .sort(),
    ['body.callEvent url_parsing', 'body.deviceEvent url_scheme', 'body.x extra_forbidden'],
  );
  t.same(strict.faults('rest/application-settings-update', { deviceEvent: null }, 'body'), []);
});

t.test('a pattern without a sentence for people is a fault of the schema', async (t) => {
  const pattern = { type: 'string', pattern: '^a' };
  const nested = { properties: { a: { items: pattern } } };
  for (const schema of [pattern, nested, { else: nested }])
    t.throws(() => judgedSchema(schema), /has no x-pattern-message/);
  judgedSchema({
    if: nested,
    else: { properties: { a: { ...pattern, 'x-pattern-message': 'String should begin with a' } } },
  });
});

t.test('lengths of lists are checked before their items, and faults are listed up to a bound', async (t) => {
  t.same(
    found(
      'rest/wifi-settings',
      Array.from({ length: 300_000 }, () => ({})),
    ),
    ['body less_than_equal List should have at most 100 items'],
  );
  const headers = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`h${i}`, 7]));
  t.same(found('common/upload-headers', headers), ['body less_than_equal Dictionary should have at most 32 members']);
  const unknown = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`${'n'.repeat(i ? 3 : 9000)}${i}`, 0]));
  try {
    contracts.check('rest/activation-request', { ...unknown, clientId: 5 }, 'body');
    t.fail('it is wrong');
  } catch (error) {
    const { details } = error as DomainError;
    t.equal(details.length, 101);
    t.match(details[0], { loc: ['body', /^n{128}[.]{3}$/], type: 'extra_forbidden' });
    t.same(details.at(-1), { loc: ['body'], msg: '...and more', type: 'extra_forbidden' });
    t.ok(JSON.stringify(details).length < 20_000);
  }
  t.equal(
    found(
      'rest/wifi-settings',
      Array.from({ length: 100 }, () => ({})),
    ).length,
    101,
    'one more than is told',
  );
});

t.test('every list from outside has a bound', async (t) => {
  const bodies = [...API_ROUTES, ...ADMIN_ROUTES].flatMap(({ body, form }) => body ?? form ?? []);
  const messages = ['mqtt/ack', 'mqtt/status', 'mqtt/event', 'mqtt/request'] as const;
  const seen = new Set<string>();
  const walk = (schema: unknown, from: SchemaName): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { $ref, items, maxItems } = schema as { $ref?: string; items?: object; maxItems?: number };
    if (items) t.type(maxItems, 'number', from);
    if ($ref) enter(referredSchema(from, $ref));
    for (const part of Object.values(schema)) walk(part, from);
  };
  const enter = (name: SchemaName): void => {
    if (seen.has(name)) return;
    seen.add(name);
    walk(contracts.documents.get(name), name);
  };
  const ofRequests = [...contracts.documents.keys()].filter((name) => /^mqtt\/.*-request$/.test(name));
  for (const name of [...bodies, ...messages, ...ofRequests]) enter(name);
  t.ok(seen.size > 30);
});

t.test('NUL and lone surrogates are refused by the name of their field', async (t) => {
  const msg = 'string_pattern_mismatch String should have no NUL characters and no lone surrogates';
  const body = { name: 'a\ud800', apn: '\0', user: '\ud83d\ude00', password: '\ude00\ud83d' };
  t.same(found('rest/apn-settings', [body]), [`body.0.name ${msg}`, `body.0.apn ${msg}`, `body.0.password ${msg}`]);
  t.same(found('rest/package-create', { package: 'com.example.a', displayName: 'x\ud800' }), [
    `body.displayName ${msg}`,
  ]);
});

t.test('every keyword that a schema uses has a word in the interface', async (t) => {
  const silent =
    /^(\$schema|\$ref|title|description|examples|default|deprecated|tsType|x-pattern-message|x-instead|type|properties|items|required|additionalProperties|if|then|else|propertyNames)$/;
  const spoken =
    /^(minLength|maxLength|minUtf8Bytes|maxUtf8Bytes|pattern|format|enum|const|minimum|maximum|minItems|maxItems|maxProperties|maxDepth|maxJsonBytes|settingUrl)$/;
  const unknown: string[] = [];
  const walk = (schema: unknown, place: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [keyword, value] of Object.entries(schema)) {
      if (!silent.test(keyword) && !spoken.test(keyword)) unknown.push(`${place}: ${keyword}`);
      if (keyword === 'properties') for (const [name, part] of Object.entries(value)) walk(part, `${place}.${name}`);
      if (['items', 'additionalProperties', 'if', 'then', 'else', 'propertyNames'].includes(keyword))
        walk(value, `${place}.${keyword}`);
    }
  };
  for (const [name, document] of contracts.documents) walk(document, name);
  t.same(unknown, []);
});
