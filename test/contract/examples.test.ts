import { makeApk, signedApk } from '@lapel/device-sim/files/make-apk';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { ERRORS } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { startWorld } from '../world.ts';
import { checkMessage, checkWebhook } from './checked-messages.ts';
import { type Media, type Operation, readAsyncApi, readOpenApi, schemaName } from './documents.ts';
import { endpointSteps, type Step } from './endpoint-steps.ts';

const { operations } = readOpenApi('openapi.yaml');
const contracts = loadContracts();

const DEVICE = '490154203237518';
const PACKAGE = 'com.example.camera';
const VERSION = '1.1.0';
const KEYS = 'POST /admin/v1/developers/{developerId}/software-keys';
const FIRMWARE = { package: 'com.lapel.firmware', version: '9.2.0' };

function messageOf(name: string): unknown {
  for (const { messages } of Object.values(readAsyncApi().channels)) {
    const example = messages[name]?.examples?.[0];
    if (example) return example.payload;
  }
  return {};
}

/** The shape of an example: its keys and the types of their values; of a list, each kind of item once. */
function shapeOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shapeOf(item))))].sort();
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, shapeOf(member)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const schemasOf = ({ schema }: Media) => ('oneOf' in schema ? schema.oneOf : [schema]).map(schemaName);
const schemasOfAnswer = ({ responses }: Operation): string[] => {
  const media = responses['201']?.content?.['application/json'];
  return media ? schemasOf(media) : [];
};
const valuesOf = ({ example, examples }: Media): unknown[] =>
  examples ? Object.values(examples).map(({ value }) => value) : example === undefined ? [] : [example];

/** Whether the document describes the answer; false for documents, pages, and endless streams. */
const isDescribed = ([, { security, operationId, responses }]: [string, Operation]): boolean =>
  (security.length > 0 && !responses['200']?.content?.['text/event-stream']) ||
  operationId === 'readJwks' ||
  operationId === 'readMetadata';

t.test('every request example is accepted, and every answer example has the shape of the answer to it', async (t) => {
  const world = await startWorld(t);
  const { api, path, receiver, ...tenant } = await world.createTenant();
  const { admin, anonymous } = { admin: world.admin(), anonymous: world.anonymous() };
  let link: Awaited<ReturnType<typeof world.connect>>;
  const made: Record<string, string> = {};

  const certified = signedApk(
    makeApk({
      attributes: [
        { name: 'package', value: PACKAGE },
        { name: 'versionName', value: VERSION },
      ],
    }),
    'certificate',
  );
  const put = async (url: string, content: string | Uint8Array<ArrayBuffer>): Promise<void> => {
    const answer = await fetch(url, { method: 'PUT', body: content });
    t.equal(answer.status, 200, 'uploaded');
    await answer.arrayBuffer();
  };
  const last = async (list: string, name: string, id: string): Promise<void> => {
    const { body } = await api.get(`${path}${list}`);
    made[id] = String(body[name][0][id]);
  };

  const basic = Buffer.from(`${tenant.applicationId}:${tenant.secret}`).toString('base64');
  const ada = await admin.post('/admin/v1/developers/dev/members', { json: { name: 'Ada', role: 'admin' } });
  const asAdmin = { authorization: `Bearer ${ada.body.token}` };
  /** The operations that have conditions, or make some, in an order in which each can succeed. */
  const orderedSteps: Step[] = [
    { operationId: 'issueToken', headers: { authorization: `Basic ${basic}` } },
    { operationId: 'readJwks' },
    { operationId: 'readMetadata' },
    { operationId: 'issueKey' },
    { operationId: 'updateSettings' },
    { operationId: 'listOwnAudit', query: '?limit=1' },
    { operationId: 'readOwnAccess' },
    {
      operationId: 'createMember',
      headers: asAdmin,
      after: async ({ body }) => {
        made['memberId'] = body.memberId;
        await world.idle(); // the use of the admin's token is stored
      },
    },
    { operationId: 'listMembers', headers: asAdmin },
    { operationId: 'revokeMember', headers: asAdmin },
    {
      operationId: 'readSettings',
      after: () => {
        const uploads = { fileUploadGetUrl: receiver.url, fileUploadEvent: receiver.url };
        return api.patch(path, { json: { deviceEvent: receiver.url, callEvent: null, ...uploads } });
      },
    },
    {
      operationId: 'activate',
      before: async () => {
        const { deviceId, ...hardwareProperties } = exampleOf('readHardware') as {
          deviceId: string;
        };
        const json = { deviceId, hardwareProperties };
        const { credential } = (await admin.post('/admin/v1/developers/dev/devices', { json })).body;
        link = await world.connect({ deviceId: DEVICE, credential });
      },
      after: async () => {
        const { transactionId, packet } = await link.command();
        link.puback(packet);
        await link.ack({ transactionId, status: 'succeeded' });
        await receiver.next();
        link.publish('status', messageOf('status'));
        await link.next('puback');
      },
    },
    { operationId: 'readActivation' },
    { operationId: 'updateTagsOfMany' },
    { operationId: 'updateTags' },
    { operationId: 'readTags' },
    {
      operationId: 'addDeviceNote',
      after: async ({ body }) => {
        made['noteId'] = body.noteId;
      },
    },
    { operationId: 'listDeviceNotes' },
    { operationId: 'deleteDeviceNote' },
    { operationId: 'countDevices' },
    { operationId: 'readFleet' },
    { operationId: 'listOwnDevices' },
    { operationId: 'readStatus' },
    { operationId: 'listStatuses' },
    { operationId: 'readHardware' },
    { operationId: 'readConnectivity', query: '?type=bluetooth' },
    { operationId: 'listConnectivity', query: '?type=bluetooth' },
    { operationId: 'registerPackage' },
    { operationId: 'updatePackage' },
    { operationId: 'listPackages' },
    { operationId: 'registerVersion' },
    { operationId: 'updateVersion' },
    { operationId: 'listVersions' },
    {
      operationId: 'issueUploadUrl',
      after: async ({ body }) => {
        made['uploadUrl'] = body.urlList[0].uploadUrl;
        await put(made['uploadUrl']!, new Uint8Array(certified));
        await api.get(`${path}/packages/${PACKAGE}/versions/${VERSION}/binaries`);
        await world.idle();
      },
    },
    {
      operationId: 'readSoftwareTrust',
      before: async () => {
        const json = readOpenApi('openapi-admin.yaml').operations.get(KEYS)!.requestBody!.content!['application/json']!;
        t.match(await admin.post('/admin/v1/developers/dev/software-keys', { json: json.example }), { status: 201 });
      },
    },
    { operationId: 'readBinary' },
    { operationId: 'putSignature' },
    { operationId: 'readSignature' },
    { operationId: 'removeSignature' },
    {
      operationId: 'listOwnBinaryWarnings',
      before: async () => {
        await put(made['uploadUrl']!, 'binary');
        await api.get(`${path}/packages/${PACKAGE}/versions/${VERSION}/binaries`);
        await world.idle();
      },
    },
    { operationId: 'startDistribution' },
    { operationId: 'readDistribution' },
    {
      operationId: 'listAvailable',
      before: () => ownSoftware('system-packages', { package: 'com.lapel.launcher', version: '2.0.0' }),
    },
    { operationId: 'uploadApp' },
    { operationId: 'installSoftware' },
    { operationId: 'listInstallations' },
    {
      operationId: 'startRollout',
      before: () => api.patch(`${path}/devices/${DEVICE}/tags`, { json: { site: 'osaka' } }),
      after: async ({ body }) => {
        made['rolloutId'] = body.rolloutId;
        await world.idle();
      },
    },
    { operationId: 'listRollouts' },
    { operationId: 'readRollout' },
    { operationId: 'listRolloutDevices' },
    { operationId: 'approveRollout' },
    { operationId: 'pauseRollout' },
    { operationId: 'updateRollout', after: () => world.idle() },
    { operationId: 'resumeRollout' },
    { operationId: 'retryRollout' },
    { operationId: 'cancelRollout', after: () => world.idle() },
    {
      operationId: 'readRolloutResults',
      before: async () => {
        const json = { operation: 'setLanguage', parameters: { lang: 'fr' }, devices: {} };
        const { rolloutId } = (await api.post(`${path}/rollouts`, { json })).body;
        made['rolloutId'] = rolloutId;
        await world.idle();
        const { transactionId } = (await api.get(`${path}/rollouts/${rolloutId}/devices`)).body.devices[0];
        await link.ack({ transactionId, status: 'succeeded' });
      },
    },
    {
      operationId: 'revertRollout',
      before: async () => {
        const setting = await api.put(`${path}/devices/${DEVICE}/settings/lang`, { json: { lang: 'de' } });
        await link.ack({ transactionId: setting.body.transactionId, status: 'succeeded' });
        const json = { operation: 'setLanguage', parameters: { lang: 'it' }, devices: {} };
        const { rolloutId } = (await api.post(`${path}/rollouts`, { json })).body;
        made['rolloutId'] = rolloutId;
        await world.idle();
        const { transactionId } = (await api.get(`${path}/rollouts/${rolloutId}/devices`)).body.devices[0];
        await link.ack({ transactionId, status: 'succeeded' });
      },
    },
    { operationId: 'listFirmware', before: () => ownSoftware('firmware', FIRMWARE) },
    { operationId: 'readFirmware' },
    { operationId: 'updateFirmware' },
    { operationId: 'listTransactions', query: '?operation=activate' },
    {
      operationId: 'readTransaction',
      before: () => last(`/devices/${DEVICE}/transactions?operation=activate`, 'transactions', 'transactionId'),
    },
    { operationId: 'listOwnTransactions', query: '?operation=activate' },
    { operationId: 'readOwnTransaction' },
    {
      operationId: 'cancelTransaction',
      before: () => last(`/devices/${DEVICE}/transactions?status=queued`, 'transactions', 'transactionId'),
    },
    {
      operationId: 'sendTestEvent',
      // Two milliseconds later than the one before, because identifiers are ordered by milliseconds.
      before: async () => world.clock.advance(2),
      after: () => world.idle(),
    },
    { operationId: 'listEvents', query: '?types=transaction.succeeded&limit=1' },
    { operationId: 'moveConsumer' },
    { operationId: 'readConsumer' },
    { operationId: 'listConsumers' },
    { operationId: 'deleteConsumer' },
    ...endpointSteps({ api, path, receiver, deviceId: DEVICE, made, last, idle: () => world.idle() }),
    { operationId: 'listDeliveries', query: '?status=delivered' },
    {
      operationId: 'readDelivery',
      before: async () => {
        const { body } = await api.get(`${path}/webhooks/deliveries`);
        made['deliveryId'] = body.deliveries.find(
          (one: { transactionId: unknown }) => one.transactionId !== null,
        ).deliveryId;
      },
    },
    {
      operationId: 'redeliver',
      before: () => last('/webhooks/deliveries', 'deliveries', 'deliveryId'),
    },
    { operationId: 'redeliverRange' },
    { operationId: 'stopDistribution' },
    { operationId: 'removeBinary' },
    { operationId: 'removeVersion' },
    { operationId: 'removePackage' },
    { operationId: 'deactivate' },
  ];

  async function ownSoftware(kind: string, { package: name, version }: typeof FIRMWARE): Promise<void> {
    const at = `/admin/v1/${kind}/${name}/versions/${version}`;
    await admin.put(at, { json: { displayName: 'Own', description: 'By the service' } });
    const { body } = await admin.post(`${at}/binaries`);
    await put(body.urlList[0].uploadUrl, 'binary');
  }

  const named = new Map([...operations].map(([key, operation]) => [operation.operationId, { key, operation }]));
  function goodAnswer(operationId: string): { status: string; media: Media | undefined } {
    const all = Object.entries(named.get(operationId)!.operation.responses);
    // Beside 201, 200 answers a dry run.
    const [status, response] = all.find(([one]) => one === '201') ?? all[0]!;
    return { status, media: response.content?.['application/json'] };
  }
  function exampleOf(operationId: string): unknown {
    return goodAnswer(operationId).media?.example;
  }

  // A command needs only the activated device.
  const isOrdered = ({ operationId }: Operation): boolean =>
    orderedSteps.some((step) => step.operationId === operationId);
  const commands = [...operations.values()].filter(
    (operation) => !isOrdered(operation) && schemasOfAnswer(operation).includes('rest/transaction-response'),
  );
  const activation = orderedSteps.findIndex(({ operationId }) => operationId === 'activate');
  const steps = orderedSteps.toSpliced(activation + 1, 0, ...commands);

  t.same(
    steps.map(({ operationId }) => operationId).sort(),
    [...operations]
      .filter(isDescribed)
      .map(([, { operationId }]) => operationId)
      .sort(),
    'every operation has its step',
  );
  for (const { operationId, query = '', headers = {}, before, after } of steps) {
    await before?.();
    const { key, operation } = named.get(operationId)!;
    const [method = '', template = ''] = key.split(' ');
    const target = template
      .replace('{applicationId}', tenant.applicationId)
      .replace('{deviceId}', DEVICE)
      .replace('{package}', PACKAGE)
      .replace('{version}', VERSION)
      .replace('{transactionId}', made['transactionId'] ?? '')
      .replace('{deliveryId}', made['deliveryId'] ?? '')
      .replace('{rolloutId}', made['rolloutId'] ?? '')
      .replace('{noteId}', made['noteId'] ?? '')
      .replace('{memberId}', made['memberId'] ?? '')
      .replace('{consumer}', 'billing')
      .replace('{endpointId}', made['endpointId'] ?? '')
      .replace('{sequence}', made['sequence'] ?? '');
    const [content] = Object.entries(operation.requestBody?.content ?? {});
    const request = content?.[1].example;
    if (content) t.not(request, undefined, `${operationId} has an example of its body`);
    const sent = content?.[0] === 'application/json' ? { json: request } : { form: request as Record<string, string> };
    const client = operation.security[0] && !('authorization' in headers) ? api : anonymous;
    const answer = await client.request(method, `${target}${query}`, { headers, ...(content && sent) });
    const { status, media } = goodAnswer(operationId);
    t.equal(String(answer.status), status, `${operationId}: ${JSON.stringify(answer.body)}`);
    t.same(shapeOf(media?.example), shapeOf(answer.body), operationId);
    await after?.(answer);
  }
});

t.test('every answer of an operation has an example for each status that has a body, by its schema', async (t) => {
  const errors = Object.values(ERRORS).map(({ status, text }) => ({
    status,
    text: new RegExp(`^${text.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '.+')}$`),
  }));
  const seen = new Set<string>();
  for (const [key, operation] of [...operations].filter(isDescribed)) {
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      for (const [type, media] of Object.entries(content)) {
        if (type === 'text/csv') continue;
        const known = `${status} ${JSON.stringify(media)}`;
        if (seen.has(known)) continue;
        seen.add(known);
        const examples = valuesOf(media);
        t.not(examples.length, 0, `${key} ${status}`);
        for (const example of examples) {
          const one = schemasOf(media).filter((name) => contracts.accepts(name, example));
          t.equal(one.length, 1, `${key} ${status} ${JSON.stringify(example)}`);
          const { message, reason } = example as { message?: string; reason?: string };
          const text = Number(status) < 400 ? undefined : (message ?? reason);
          const listed =
            text === undefined || errors.some((row) => row.status === Number(status) && row.text.test(text));
          t.ok(listed, `${key} ${status}: "${text}" is of the table of errors`);
        }
      }
    }
  }
});

t.test('every message has examples, which its topic or webhook accepts', async (t) => {
  for (const { address, messages } of Object.values(readAsyncApi().channels)) {
    for (const [name, { examples = [], payload }] of Object.entries(messages)) {
      t.not(examples.length, 0, name);
      for (const example of examples) {
        const text = JSON.stringify(example.payload);
        t.same(
          contracts.faults(schemaName(payload.schema), example.payload, name),
          [],
          `${name} ${example.name ?? ''}`,
        );
        if (address !== undefined) checkMessage(address.replace('{deviceId}', DEVICE), text);
        else if (name.endsWith('Event') || name.startsWith('recording')) checkWebhook(text);
      }
    }
  }
});
