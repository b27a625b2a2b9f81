import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { certificateOf } from '@lapel/device-sim/customer/certificates';
import { enrolByCode } from '@lapel/device-sim/customer/enrol-by-code';
import { createRenewals } from '@lapel/device-sim/customer/renewals';
import { run } from '@lapel/device-sim/run';
import { trust } from '@lapel/device-sim/trust';
import t from 'tap';
import { skip } from '../broker/authority.ts';
import { handTimers } from '../device-sim/hand-timers.ts';
import { until } from '../until.ts';
import { deviceIdOf } from '../world.ts';
import { startIssuing } from './issuing-world.ts';

const HOUR = 3_600_000;

t.test('simulated devices enrol with a certification request, and renew their certificates', { skip }, async (t) => {
  const before = getCACertificates('default');
  t.teardown(() => setDefaultCACertificates(before));
  const issuing = await startIssuing(t, { isHttps: true, env: { LAPEL_ENROLMENT_CERTIFICATES: 'true' } });
  const { world, admin, tls, makeAuthority, login } = issuing;
  trust(issuing.caFile);
  const { http: api, admin: adminUrl, mqtts = '' } = world.service.addresses;
  const { authorityId } = await makeAuthority();
  const batch = async (wanted: object) => {
    const expiresAt = new Date(world.clock.now() / 1000 + 240 * HOUR).toISOString();
    const json = { name: 'a batch', expiresAt, mostDevices: 10, authorityId, ...wanted };
    return (await admin.post('/admin/v1/developers/dev/enrolment-batches', { json })).body as { code: string };
  };
  const folderOf = (name: string): string => {
    const folder = join(tls, name);
    mkdirSync(folder);
    return folder;
  };

  await t.test('a run enrols with --csr, and the next run logs in with the same certificates', async (t) => {
    const { code } = await batch({});
    const folder = folderOf('run');
    const line = `--mqtt ${mqtts} --api ${api} --admin ${adminUrl} --admin-token ${world.service.adminToken}`;
    const play = async () => {
      const more = `--enrol ${code} --csr --certificates ${folder} --developer dev --count 3 --duration 0.1`;
      const read = readCommandLine(`${line} ${more}`.split(' '), {});
      if (read.do !== 'run') throw new Error('this is no run');
      return run(read.settings, { stopped: new AbortController().signal, stream: { write: () => {} } });
    };
    for (const _ of ['first', 'next']) t.equal((await play()).record.chapters[0]?.fleet['connections'], 3);
    const { devices } = (await admin.get('/admin/v1/developers/dev/devices')).body;
    t.equal(devices.length, 3);
    for (const device of devices) t.match(device, { certificates: 'none', issuedCertificate: { authorityId } });
    for (const [options, message] of [
      ['--csr --certificates x', /--csr.*needs --enrol/],
      [`--csr --enrol ${code}`, /--csr.*needs --certificates/],
    ] as const)
      t.throws(() => readCommandLine(`${line} ${options}`.split(' '), {}), { message });
  });

  await t.test('a device renews when a third of the time is left, and uses the next one from then on', async (t) => {
    const { code } = await batch({ certificateDays: 1 });
    const folder = folderOf('renewed');
    const deviceId = deviceIdOf(7001);
    t.same([...(await enrolByCode({ api, code, certificates: folder }, [deviceId])).keys()], [deviceId]);
    const certificate = certificateOf(folder, deviceId)!;
    const first = { ...certificate };
    t.equal((await login(deviceId, certificate)).code, 0);
    const timers = handTimers();
    const failures: string[] = [];
    const renewals = createRenewals({
      api,
      folder,
      held: new Map([[deviceId, certificate]]),
      timers,
      now: () => world.clock.now() / 1000,
      onFailure: ({ message }) => failures.push(message),
    });
    t.teardown(renewals.stop);
    await renewals.start();
    t.same(certificate, first, 'it is too early');
    world.clock.advance(17 * HOUR);
    await timers.next();
    await until(() => !certificate.cert.equals(first.cert));
    t.same(readFileSync(join(folder, `${deviceId}.pem`)), certificate.cert, 'the next run uses it, too');
    t.equal((await login(deviceId, first)).code, 0);
    t.equal((await login(deviceId, certificate)).code, 0);
    t.equal((await login(deviceId, first)).code, 4);
    await admin.patch(`/admin/v1/devices/${deviceId}`, { json: { blocked: true } });
    world.clock.advance(17 * HOUR);
    await timers.next();
    await until(() => failures.length > 0);
    t.match(failures[0], /cannot renew its certificate.*403/);
  });
});
