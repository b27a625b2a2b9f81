import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { MOVIE_MIN, movie } from '@lapel/device-sim/files/movie';
import type { OwnFile } from '@lapel/device-sim/files/uploader';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import { oneGroup } from '@lapel/device-sim/fleet/member';
import { createDevice, type DeviceOptions } from '@lapel/device-sim/model/device';
import t from 'tap';
import { refuse, startUploadServer } from '../files/upload-server.ts';
import { narrowNetwork } from '../narrow-network.ts';
import { command, startBroker } from '../plain-broker.ts';

const deviceId = '350000000000006';
const SIZE = 100_000;
const NEVER = 60_000;
const plan = { milliseconds: 0, recorded: true, others: 1 };

/** An activated wearable that gives up soon, a service that answers its requests with `answer`, and a store. */
async function wearable(answer: (data: Data, type: string) => object, options: Partial<DeviceOptions> = {}) {
  await using stack = new AsyncDisposableStack();
  const broker = stack.use(await startBroker());
  const store = stack.use(await startUploadServer());
  const device = stack.use(
    createDevice({
      deviceId,
      credential: 'secret',
      url: broker.url,
      reportStatus: false,
      ...options,
      behaviour: { fileSize: { min: SIZE, max: SIZE }, ...options.behaviour },
      patience: { attempts: 3, pause: { min: 1, max: 1 }, ...options.patience },
    }),
  );
  const made: OwnFile[] = [];
  device.events.on('upload', (file) => made.push(file));
  device.rememberActivation({ applicationId: 'app', clientId: 'c' });
  broker.broker.on('publish', (packet, client) => {
    if (!client || !packet.topic.endsWith('/requests')) return;
    const { requestId, type, data } = JSON.parse(packet.payload.toString());
    broker.send(deviceId, { requestId, ...answer(data, type) }, 'responses');
  });
  await device.connect();
  const parts = stack.move();
  const events = () =>
    broker.published.filter(({ kind }) => kind === 'events').map(({ body }) => body as unknown as Told);
  return {
    broker,
    store,
    device,
    made,
    events,
    requests: () => broker.published.filter(({ kind }) => kind === 'requests').map(({ body }) => body),
    /** Resolves to the event of a type. */
    told: (type: string) => broker.until(() => events().find((event) => event.type === type)),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

interface Told {
  eventId: string;
  type: string;
  occurredAt: string;
  data: Record<string, unknown> & { connections: { connectionId: string; movieFile: string }[] };
}
type Data = Record<string, unknown> & { files: { name: string }[]; name: string };
type Wearable = Awaited<ReturnType<typeof wearable>>;

/** URLs of a store that starts later. */
function customer() {
  const at: { store?: Wearable['store'] } = {};
  const target = (name: string): object => ({
    name,
    uploadUrl: at.store?.url(`/${name}`),
    headers: { 'x-tag': 'signed' },
  });
  const answer = (data: Data, type: string): object => ({
    data: type === 'fileUploadUrl' ? target(data.name) : { urls: data.files.map(({ name }) => target(name)) },
  });
  return { at, answer };
}

async function ready(options?: Partial<DeviceOptions>) {
  const { at, answer } = customer();
  const parts = await wearable(answer, options);
  at.store = parts.store;
  return parts;
}

const content = (file: OwnFile): Buffer => Buffer.concat([...movie(file)]);
const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

t.test('a recorded call is reported, each side is uploaded, and then the uploads are reported', async (t) => {
  await using parts = await ready();
  const { device, store, events, made } = parts;
  const callId = device.call(plan);
  t.equal(device.call(plan), undefined, 'one call at a time');
  await parts.told('recording.saved');
  await device.idle();
  const [started, ended, saved] = events() as [Told, Told, Told];
  t.strictSame(
    events().map(({ type }) => type),
    ['call.started', 'call.ended', 'recording.saved'],
  );
  t.match(started.data, { callId, participants: [{ connectionId: String, name: deviceId }, { name: 'operator-1' }] });
  t.match(ended.data, { callId, participants: started.data['participants'], durationSeconds: Number });
  t.match(started.occurredAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  t.equal(new Set(events().map(({ eventId }) => eventId)).size, 3);
  const names = [`${callId}-1.mp4`, `${callId}-2.mp4`];
  t.match(parts.requests(), [
    {
      type: 'recordingUploadUrls',
      data: { callId, files: names.map((name) => ({ name, size: SIZE, contentType: 'video/mp4' })) },
    },
  ]);
  const participants = started.data['participants'] as { connectionId: string }[];
  t.strictSame(saved.data, {
    callId,
    connections: names.map((movieFile, index) => ({
      connectionId: participants[index]?.connectionId,
      movieFile,
      size: SIZE,
      sha256: sha256Of(content(made[index]!)),
    })),
  });
  t.equal(made.length, 2);
  for (const file of made) {
    const stored = store.files.get(`/${file.name}`);
    t.match(stored, { method: 'PUT', headers: { 'x-tag': 'signed', 'content-length': String(SIZE) } });
    t.ok(stored?.content.equals(content(file)), 'byte for byte');
  }
  t.notOk(content(made[0]!).equals(content(made[1]!)), 'each is another');
  t.type(device.call({ ...plan, recorded: false }), 'string');
  await device.idle();
  t.equal(store.files.size, 2, 'a call without a recording uploads nothing');
});

t.test('a file of the customer’s application is uploaded and reported', async (t) => {
  await using parts = await ready();
  const fileId = parts.device.uploadFile();
  const { data } = await parts.told('fileUpload.succeeded');
  const { name } = parts.made[0]!;
  t.match(parts.requests(), [{ type: 'fileUploadUrl', data: { fileId, name, size: SIZE, contentType: 'video/mp4' } }]);
  t.strictSame(data, { fileId, name, size: SIZE, sha256: sha256Of(content(parts.made[0]!)) });
  t.ok(parts.store.files.get(`/${String(data['name'])}`)?.content.equals(content(parts.made[0]!)));
});

for (const [what, script, message, attempts] of [
  ['fails three times', [503, 429, 500], /answered 500; given up after 3 attempts$/, 3],
  ['is refused for good', [413], /clip-.*\.mp4: the server answered 413$/, 1],
  ['is refused with every URL', [403, 401, 403], /refused \(403\); given up after 3 attempts/, 3],
] as const) {
  t.test(`an upload that ${what} is reported as failed`, async (t) => {
    await using parts = await ready();
    parts.store.script.push(...script.map(refuse));
    const fileId = parts.device.uploadFile();
    t.match((await parts.told('fileUpload.failed')).data, {
      fileId,
      name: String,
      error: { code: 'UPLOAD_FAILED', message },
    });
    t.equal(parts.store.asked.length, attempts);
    t.equal(parts.store.files.size, 0);
  });
}

t.test('an upload survives temporary failures, with a fresh URL when the old one is refused', async (t) => {
  await using parts = await ready();
  const retries: unknown[] = [];
  parts.device.events.on('uploadRetry', () => retries.push(0));
  parts.store.script.push(refuse(503), refuse(403));
  parts.device.call(plan);
  await parts.told('recording.saved');
  t.equal(parts.requests().length, 2);
  t.equal(parts.store.asked.length, 4);
  t.equal(retries.length, 2);
});

t.test('an upload that breaks off in the middle is tried again, and then reported as failed', async (t) => {
  await using parts = await ready({ behaviour: { uploadFailureRate: 1 } });
  parts.device.call(plan);
  t.match((await parts.told('recording.failed')).data, {
    error: { code: 'UPLOAD_FAILED', message: /cannot be read to its end; given up after 3 attempts/ },
  });
  t.equal(parts.store.asked.length, 3);
  t.equal(parts.store.files.size, 0);
});

for (const code of ['NOT_CONFIGURED', 'NOT_ACTIVATED', 'UPLOAD_URL_FAILED']) {
  t.test(`after ${code} nothing is uploaded, and nothing more is reported`, async (t) => {
    await using parts = await wearable(() => ({ error: { code, message: 'no.' } }));
    parts.device.uploadFile();
    t.strictSame(await once(parts.device.events, 'uploaded'), [{ kind: 'unwanted', error: { code, message: 'no.' } }]);
    await parts.device.idle();
    t.strictSame(parts.events(), []);
    t.equal(parts.requests().length, 1);
  });
}

t.test('a busy service is asked again, a refusal is final, and silence is given up', async (t) => {
  let answers = 0;
  await using busy = await wearable(() => {
    answers += 1;
    return { error: { code: answers < 3 ? 'BUSY' : 'INVALID_PARAMETERS', message: 'no.' } };
  });
  busy.device.uploadFile();
  t.match((await busy.told('fileUpload.failed')).data, { error: { code: 'INVALID_PARAMETERS', message: 'no.' } });
  t.equal(busy.requests().length, 3);

  await using silent = await wearable(() => ({ requestId: 'another', data: {} }), { patience: { answer: 5 } });
  silent.device.uploadFile();
  t.match((await silent.told('fileUpload.failed')).data, { error: { code: 'UPLOAD_URL_FAILED' } });

  await using odd = await wearable(() => ({ data: { uploadUrl: 'ftp://nowhere' } }));
  odd.device.uploadFile();
  t.match((await odd.told('fileUpload.failed')).data, { error: { message: /uploadUrl is not an http or https URL/ } });
});

t.test('events wait for a connection, and one whose PUBACK was lost is repeated unchanged', async (t) => {
  await using parts = await wearable(() => ({}));
  const { device, broker } = parts;
  const seen: [string, boolean][] = [];
  broker.broker.authorizePublish = (client, packet, done) => {
    seen.push([JSON.parse(packet.payload.toString()).eventId, packet.dup]);
    if (seen.length > 1) return done(null);
    client?.close();
    done(new Error('cut'));
  };
  const offline = once(device.events, 'offline');
  device.call({ ...plan, recorded: false, milliseconds: NEVER });
  await offline;
  await device.drop();
  t.equal(device.outstanding >= 1, true);
  await device.connect();
  await parts.told('call.started');
  t.strictSame(seen, [
    [seen[0]?.[0], false],
    [seen[0]?.[0], true],
  ]);
});

t.test('an offline device keeps a bounded number of events, and drops the oldest first', async (t) => {
  await using parts = await wearable(() => ({ error: { code: 'NOT_CONFIGURED', message: '' } }));
  const { device, events } = parts;
  const forgotten: string[] = [];
  device.events.on('forgotten', ({ eventId }) => forgotten.push(eventId));
  const happened: string[] = [];
  device.events.on('event', ({ eventId }) => happened.push(eventId));
  await device.drop();
  for (let call = 0; call < 110; call += 1) {
    device.call({ ...plan, recorded: false });
    await new Promise((resolve) => setImmediate(resolve));
    while (happened.length < 2 * (call + 1)) await once(device.events, 'event');
  }
  t.strictSame(forgotten, happened.slice(0, 20));
  await device.connect();
  await device.idle();
  await parts.broker.until(() => events().length >= 200);
  t.strictSame(
    events().map(({ eventId }) => eventId),
    happened.slice(20),
    'in the order in which they happened',
  );
});

t.test('uploads run one after another, and a bounded number waits', async (t) => {
  await using parts = await wearable(() => ({ requestId: 'of nobody', data: {} }));
  for (let file = 0; file < 9; file += 1) parts.device.uploadFile();
  t.match((await parts.told('fileUpload.failed')).data, { error: { code: 'STORAGE_FULL' } });
  await parts.broker.until(() => parts.requests().length > 0);
  t.equal(parts.requests().length, 1);
  t.equal(parts.events().length, 1);
});

t.test('a silent store is given up', async (t) => {
  await using parts = await ready({ patience: { stall: 20 } });
  parts.store.script.push(
    () => {},
    () => {},
    (_request, response) => response.writeContinue(),
  );
  parts.device.uploadFile();
  t.match((await parts.told('fileUpload.failed')).data, {
    error: { message: /nothing was taken any more; given up after 3 attempts/ },
  });
});

t.test('a narrow network delays each byte of an upload', async (t) => {
  const { options, waited } = narrowNetwork();
  await using parts = await ready(options);
  parts.device.uploadFile();
  await parts.told('fileUpload.succeeded');
  t.ok(waited() >= SIZE / 1000, `${waited()} ms for ${SIZE / 1000} kB at 1 MB a second`);
});

t.test('a deactivated device sends no more events', async (t) => {
  await using parts = await wearable(() => ({ error: { code: 'NOT_ACTIVATED', message: '' } }));
  const { device, broker } = parts;
  device.call({ ...plan, milliseconds: 1_000 });
  await parts.told('call.started');
  broker.send(deviceId, command(1, 'deactivate', { applicationId: 'app' }));
  await device.idle();
  t.equal(device.state.activation, null);
  t.equal(parts.events().length, 1);
});

t.test('an event while the device goes offline waits for the next connection', async (t) => {
  await using parts = await wearable(() => ({ error: { code: 'NOT_CONFIGURED', message: '' } }));
  const { device } = parts;
  const gone = device.disconnect();
  device.call({ ...plan, milliseconds: NEVER });
  device.uploadFile();
  device.reportChanges();
  await gone;
  t.equal(parts.events().length, 0);
  t.equal(parts.requests().length, 0);
  await device.connect();
  await parts.told('call.started');
  await parts.broker.until(() => parts.requests().length > 0);
});

t.test('a device without an application neither calls nor uploads, and a removed one ends its call', async (t) => {
  await using broker = await startBroker();
  const device = createDevice({ deviceId, credential: 'secret', url: broker.url });
  t.equal(device.call(plan), undefined);
  t.equal(device.uploadFile(), undefined);
  device.rememberActivation({ applicationId: 'app', clientId: 'c' });
  device.call({ ...plan, milliseconds: NEVER });
  device.uploadFile();
  await device[Symbol.asyncDispose]();
  t.pass('at once');
});

t.test('a movie file has the requested size and is well formed', async (t) => {
  for (const size of [MOVIE_MIN, 1000, 65_536 + MOVIE_MIN, 200_000]) {
    t.equal(content({ name: '', size, seed: 1 }).length, size);
  }
  const file = content({ name: '', size: 1000, seed: 1 });
  t.equal(file.toString('latin1', 4, 8), 'ftyp');
  t.equal(file.readUInt32BE(MOVIE_MIN - 8), 1000 - MOVIE_MIN + 8);
  t.throws(() => content({ name: '', size: MOVIE_MIN - 1, seed: 1 }), RangeError);
});

t.test('a fleet that lives counts its calls, events and uploads, and reports them', async (t) => {
  await using broker = await startBroker();
  await using store = await startUploadServer();
  broker.broker.on('publish', (packet, client) => {
    if (!client || !packet.topic.endsWith('/requests')) return;
    const { requestId, data } = JSON.parse(packet.payload.toString());
    const urls = data.files?.map(({ name }: { name: string }) => ({ name, uploadUrl: store.url(`/${name}`) }));
    broker.send(client.id, { requestId, data: urls ? { urls } : { uploadUrl: store.url('/file') } }, 'responses');
  });
  await using fleet = createFleet({
    members: oneGroup([{ deviceId, credential: 'secret' }], {
      behaviour: { fileSize: { min: 1024, max: 1024 } },
      life: { calls: 36_000, fileUploads: 36_000, callLength: { min: 0, max: 0 }, recorded: 1 },
      oldFirmware: 1,
    }),
    url: broker.url,
  });
  fleet.devices[0]?.rememberActivation({ applicationId: 'app', clientId: 'c' });
  await fleet.connect();
  await broker.until(() => broker.published.some(({ body }) => body['type'] === 'recording.saved'));
  await broker.until(() => broker.published.some(({ body }) => body['type'] === 'fileUpload.succeeded'));
  t.equal(fleet.devices[0]?.state.firmwareVersion, '8.900.0');
  const counts = fleet.counts();
  t.ok(counts.calls > 0 && counts.events >= 3 && counts.uploads >= 3 && counts.uploadedBytes === 1024 * counts.uploads);
  t.match(counts, { uploadFailures: 0, uploadRetries: 0, unwanted: 0, eventsLost: 0, violations: 0 });
});
