import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { makeAuthority } from '@lapel/schemas/base/certificates';
import { HIDDEN } from '@lapel/schemas/base/secret-names';
import t, { type Test } from 'tap';
import type { Role } from '../../src/core/people/roles.ts';
import { ROUTES } from '../../src/edge/admin/routes.ts';
import { type Item, open } from '../console/feed-client.ts';
import { startWorld, transactionIdOf, WIFI, type World } from '../world.ts';
import { createPerson } from './people-world.ts';

/** A text that stands in every payload, and in the path and the query of every webhook URL. */
const PAYLOAD = 'what-nobody-may-see';

/** The queries that reads need. */
const QUERIES: Readonly<Record<string, string>> = {
  search: '?q=dev',
  readBreakdown: '?by=firmware',
  readHistory: '?since=2026-11-20T00:00:00Z',
};
/**
 * By operation: the members of the answer that support and readers do not see as they are. The others show all of
 * their answer. A new operation needs a row here.
 */
const HIDDEN_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  listDevelopers: [],
  readDeveloper: [],
  listApplications: [],
  listAllApplications: ['applications.settings.deviceEvent'],
  readApplication: ['settings.deviceEvent'],
  listDevices: [],
  readDevice: [],
  listFleetDevices: [],
  readFleetDeviceStatus: [],
  readConnection: [],
  readDeviceStory: ['entries.event.url'],
  listDeviceNotes: [],
  listFleetDeviceTransactions: [],
  readDeveloperContents: [],
  readApplicationContents: [],
  listRemovals: [],
  readRemoval: [],
  listDeviceActions: [],
  readDeviceAction: [],
  listDevicesOfAction: [],
  listDeviceAuthorities: [],
  listEnrolmentBatches: [],
  listEnrolments: [],
  readDeviceAuthority: [],
  readEnrolmentBatch: [],
  listFleetRollouts: [],
  readFleetRollout: [],
  listFleetRolloutDevices: [],
  readFleetRolloutResults: [],
  listFleetTransactions: [],
  readFleetTransaction: ['late.result', 'parameters', 'result', 'webhook.url'],
  listAllPackages: [],
  readAnyPackage: [],
  listAnyVersions: [],
  listAnyInstallations: [],
  listBinaryWarnings: [],
  listSoftwareKeys: [],
  listCertificates: [],
  listMembers: [],
  listSystemPackages: [],
  listFirmwareVersions: [],
  listSessions: [],
  readCaller: ['name', 'personId', 'role'],
  listPeople: [],
  readPerson: [],
  readAdministratorToken: [],
  readSummary: [],
  readBreakdown: [],
  readFailures: [],
  readFleetSamples: [],
  readDeviceSamples: [],
  readHistory: [],
  readFleetHealth: [],
  listAlarms: [],
  listNodes: [],
  listReceivers: ['receivers.url'],
  listAllDeliveries: ['deliveries.url'],
  readDelivery: ['answer', 'body', 'failedAttempts.answer', 'url'],
  listAudit: ['entries.details.after.deviceEvent', 'entries.details.before.deviceEvent'],
  // Lines of JSON; each is an entry of the list above.
  exportAudit: ['lines'],
  verifyAudit: [],
  readAlarmReceiver: [],
  readEncryption: [],
  listSigningKeys: [],
  listSecrets: [],
  listSettings: [],
  search: [],
  // A stream: see below.
  readFeed: [],
};

/** The members that differ between two bodies, without the positions in lists. */
function differences(one: unknown, other: unknown, at = ''): string[] {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other) ? [] : [at];
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return [`${at} has another length`];
    return one.flatMap((item, index) => differences(item, other[index], at));
  }
  const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>];
  // An object that is hidden as a whole.
  if (b['hidden'] === HIDDEN && a['hidden'] !== HIDDEN) return [at];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    differences(a[name], b[name], at === '' ? name : `${at}.${name}`),
  );
}

/** Fills a world with payloads, and returns the paths of all reads by operation. */
async function fillWorld(world: World, t: Test) {
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { applicationId, path } = tenant;
  const deviceEvent = `${tenant.receiver.url}/${PAYLOAD}?key=${PAYLOAD}`;
  for (const json of [{ deviceEvent }, { deviceEvent: `${deviceEvent}-2` }])
    t.equal((await tenant.api.patch(path, { json })).status, 200);

  // A command that waits, with its parameters; one with a result; and one with a late result.
  const networks = [{ ...WIFI[0], ssid: PAYLOAD }];
  const wifi = async (query = '') =>
    transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi${query}`, { json: networks }));
  /** Takes the next command; the PUBACK of a later message says that the service knows it. */
  const take = async () => {
    device.link.puback((await device.link.command()).packet);
    device.link.publish('status', { lang: 'ja' });
    await device.link.next('puback');
  };
  const result = { text: PAYLOAD };
  const late = await wifi('?answerWithin=60');
  await take();
  await world.idle();
  world.clock.advance(61_000);
  await world.idle();
  t.equal((await tenant.event()).type, 'transaction.failed');
  await take(); // its cancel
  await device.link.ack({ transactionId: late, status: 'succeeded', result });
  const waiting = await wifi();
  await take();
  const answered = await wifi();
  await take();
  tenant.receiver.answer({ status: 503, body: PAYLOAD });
  await device.link.ack({ transactionId: answered, status: 'succeeded', result });
  const { headers } = await tenant.event();
  await world.idle();
  device.link.publish('events', {
    eventId: '0190b5a0-0000-7000-8000-000000000001',
    type: 'custom.sos',
    occurredAt: '2026-11-20T09:30:00Z',
    data: { text: PAYLOAD },
  });
  await world.idle();
  tenant.receiver.answer({ status: 200, body: PAYLOAD });
  const tested = await tenant.api.post(`${path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
  await world.idle();
  const rollout = await tenant.api.post(`${path}/rollouts`, {
    json: { operation: 'setWifi', parameters: networks, label: 'all', devices: {} },
  });
  const wanted = { name: 'a batch', expiresAt: '2027-01-01T00:00:00Z', mostDevices: 1 };
  const batch = await world
    .admin()
    .post(`/admin/v1/developers/${tenant.developerId}/enrolment-batches`, { json: wanted });
  const authorityId = await insertAuthority(world, tenant.developerId);
  await world.createTenant('gone');
  const removal = await world.admin().post('/admin/v1/developers/gone/removal', { json: { confirmation: 'gone' } });
  const block = { action: 'unblock', filter: { prefix: device.deviceId } };
  const action = await world.admin().post('/admin/v1/device-actions', { json: block });
  await tenant.api.post(`${path}/packages`, { json: { package: 'com.example.own' } });
  await tenant.api.post(`${path}/packages/com.example.own/versions`, { json: { version: '1.0.0' } });
  await world.idle();

  const values: Record<string, readonly string[]> = {
    developerId: [tenant.developerId],
    applicationId: [applicationId],
    deviceId: [device.deviceId],
    transactionId: [waiting, answered, late].map(String),
    rolloutId: [rollout.body.rolloutId],
    actionId: [action.body.actionId],
    removalId: [removal.body.removalId],
    batchId: [batch.body.batchId],
    authorityId: [authorityId],
    deliveryId: [String(headers['webhook-id']), tested.body.deliveryId],
    personId: ['ada'],
    package: ['com.example.own'],
    version: ['1.0.0'],
  };
  const paths = new Map<string, string[]>();
  for (const { method, path: template, name, scope } of ROUTES) {
    if (method !== 'GET' || scope === null) continue;
    let filled = [template as string];
    for (const [, parameter = ''] of template.matchAll(/\{(\w+)\}/g))
      filled = filled.flatMap((one) => values[parameter]!.map((value) => one.replace(`{${parameter}}`, value)));
    paths.set(name, filled);
  }
  return { paths, device };
}

/**
 * Stores a device CA. The service itself needs a key of encryption for it, with which the audit log would have nothing to
 * hide.
 */
async function insertAuthority(world: World, developerId: string): Promise<string> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const from = world.clock.now();
  const wanted = { name: 'x', publicKey, from, until: from + 86_400_000_000, random: randomBytes(16) };
  const authorityId = `dca_${'1'.repeat(32)}`;
  await (await world.raw()).all(
    `INSERT INTO device_authorities (authority_id, developer_id, name, certificate, private_key, expires_at, created_at)
     VALUES (?, ?, 'a CA', ?, ?, ?, ?)`,
    authorityId,
    developerId,
    (await makeAuthority(wanted, privateKey)).toString(),
    PAYLOAD,
    wanted.until,
    from,
  );
  return authorityId;
}

t.test('support and readers see no payloads and no secrets', async (t) => {
  const world = await startWorld(t);
  const anybody = world.anonymousAdmin();
  await createPerson(world, { personId: 'ada', role: 'owner' });
  const tokens: Partial<Record<Role, string>> = {};
  for (const role of ['operator', 'support', 'reader'] as const)
    tokens[role] = (await createPerson(world, { personId: role, role })).token;
  const { paths, device } = await fillWorld(world, t);
  await world.idle();

  await t.test('every read is listed', async (t) => {
    t.same([...paths.keys()].sort(), Object.keys(HIDDEN_MEMBERS).sort());
  });

  await t.test('each read hides what is listed, and nothing else', async (t) => {
    for (const [name, some] of paths) {
      if (name === 'readFeed') continue;
      for (const role of ['support', 'reader'] as const) {
        const hidden = new Set<string>();
        for (const path of some) {
          const target = `${path}${QUERIES[name] ?? ''}`;
          const whole = await anybody.get(target, { token: tokens.operator });
          const shown = await anybody.get(target, { token: tokens[role] });
          t.match([whole.status, shown.status], [200, 200], target);
          t.notOk(JSON.stringify(shown.body ?? '').includes(PAYLOAD), `${target} as ${role}`);
          if (name === 'exportAudit') hidden.add(whole.body === shown.body ? 'nothing' : 'lines');
          else for (const member of differences(whole.body, shown.body)) hidden.add(member);
        }
        t.same([...hidden].sort(), [...HIDDEN_MEMBERS[name]!].sort(), `${name} as ${role}`);
      }
    }
  });

  await t.test('the feed hides messages of devices, and URLs', async (t) => {
    const topics = encodeURIComponent(`receivers,transactions,device:${device.deviceId}`);
    for (const role of ['operator', 'support'] as const) {
      const stream = await open(t, `${world.service.addresses.admin}/admin/v1/feed?topics=${topics}`, {
        authorization: `Bearer ${tokens[role]}`,
      });
      const shown = [...((await stream.next('snapshot')) as Item[])];
      device.link.publish('status', { lang: PAYLOAD });
      while (!shown.some(({ topic }) => topic === 'device')) {
        await world.idle();
        world.clock.advance(250);
        await world.idle();
        shown.push(...stream.events.splice(0).flatMap(({ data }) => data as Item[]));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      const url = shown.find(({ topic }) => topic === 'receivers')?.value.url;
      const message = shown.find(({ topic }) => topic === 'device')?.value;
      t.match(message, { direction: 'in', topic: `devices/${device.deviceId}/status` });
      if (role === 'operator') {
        for (const text of [url, message.payload]) t.match(text, PAYLOAD);
      } else {
        t.match(url, new RegExp(`^http://[^/]+/${HIDDEN}$`));
        t.equal(message.payload, HIDDEN);
        t.notOk(JSON.stringify(shown).includes(PAYLOAD));
      }
      stream.stop();
    }
  });
});
