import type { Test } from 'tap';
import { speak } from '../rollouts/rollout-world.ts';
import { soaking } from '../rollouts/soaking.ts';
import { openAssistant } from './assistant.ts';

export const CAMERA = 'com.example.camera';
const MINUTE = 60_000;
/** It pauses the rollout when more than a fifth of the canaries are silent. */
const RULE = { measure: 'silent', atMost: 20, minimumDevices: 4, within: 600 };

/**
 * A fleet with something to ask about: a rollout whose canary is unhealthy, installations that fail, a device that is away,
 * one that is blocked, a receiver that is down, tags, notes, events, changes. The caller is a person of the developer.
 */
export async function createFleet(t: Test) {
  const made = await soaking(t, 4, 4, [RULE]);
  const { world, tenant, rolloutId, canaries, others, pass } = made;
  const [silent] = canaries;
  const [north, south, healthy, blocked] = others;
  if (!silent || !north || !south || !healthy || !blocked) throw new Error('the fleet has too few devices');
  await silent.link.drop();
  await pass(15 * MINUTE);
  await tenant.renew();
  const { api, path } = tenant;
  const ok = async (call: Promise<{ status: number; body: unknown }>): Promise<void> => {
    const { status, body } = await call;
    t.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  };

  await ok(api.post(`${path}/packages`, { json: { package: CAMERA, displayName: 'Camera' } }));
  await ok(api.post(`${path}/packages/${CAMERA}/versions`, { json: { version: '1.2.0' } }));
  const upload = await api.post(`${path}/packages/${CAMERA}/versions/1.2.0/binaries`);
  await (await fetch(upload.body.urlList[0].uploadUrl, { method: 'PUT', body: 'binary' })).arrayBuffer();
  await ok(api.post(`${path}/packages/${CAMERA}/versions/1.2.0/distributions`));

  await speak(north.link, { battery: { level: 12, charging: false }, firmwareVersion: '2.1.0' });
  await speak(south.link, { battery: { level: 80, charging: true }, firmwareVersion: '2.0.0' });
  await speak(healthy.link, {
    firmwareVersion: '2.0.0',
    software: [{ package: CAMERA, version: '1.2.0', versionCode: 12 }],
  });
  await ok(api.patch(`${path}/devices/${north.deviceId}/tags`, { json: { site: 'north' } }));
  await ok(api.patch(`${path}/devices/${south.deviceId}/tags`, { json: { site: 'south' } }));
  await ok(api.post(`${path}/devices/${north.deviceId}/notes`, { json: { text: 'the lens was replaced in May' } }));

  const body = 'maintenance until noon';
  tenant.receiver.answer({ status: 503, body });
  const install = { json: { package: CAMERA, version: '1.2.0' } };
  const failed: number[] = [];
  for (const { link, deviceId } of [north, south]) {
    await ok(api.put(`${path}/devices/${deviceId}/apps`, install));
    const { transactionId, packet } = await link.command();
    link.puback(packet);
    const error = { code: 'STORAGE_FULL', message: 'no room left on the card' };
    await link.ack({ transactionId, status: 'failed', error });
    failed.push(transactionId);
  }
  const occurredAt = new Date(world.clock.now() / 1000).toISOString();
  const data = { button: 'red' };
  north.link.publish('events', { eventId: 'sos-1', type: 'custom.sos', occurredAt, data });
  await north.link.next('puback');
  await world.idle();

  await ok(world.admin().patch(`/admin/v1/devices/${blocked.deviceId}`, { json: { blocked: true } }));
  await ok(api.put(`${path}/devices/${blocked.deviceId}/settings/lang`, { json: { lang: 'fr' } }));
  await ok(api.put(`${path}/devices/${silent.deviceId}/settings/lang`, { json: { lang: 'fr' } }));
  await ok(api.patch(path, { json: { callEvent: 'https://calls.example/hook' } }));
  await world.idle();
  const { deliveries } = (await api.get(`${path}/webhooks/deliveries?status=pending`)).body;
  const deliveryId: string = deliveries[0].deliveryId;

  const { applicationId } = tenant;
  const member = await world.admin().post('/admin/v1/developers/dev/members', {
    json: { name: 'Ada Lovelace', role: 'developer', expiresInDays: 20 },
  });
  t.equal(member.status, 201, JSON.stringify(member.body));
  const url = world.service.addresses.http;
  const assistant = await openAssistant(t, { url, token: member.body.token });
  const ids = Object.entries({ silent, north, south, healthy, blocked }).map(
    ([name, { deviceId }]) => [name, deviceId] as const,
  );
  return {
    world,
    tenant,
    assistant,
    applicationId,
    token: member.body.token as string,
    url,
    /** The objects that questions name in braces. */
    names: new Map<string, string>([
      ...ids,
      ['rollout', rolloutId],
      ['delivery', deliveryId],
      ['command', String(failed[0])],
    ]),
  };
}
