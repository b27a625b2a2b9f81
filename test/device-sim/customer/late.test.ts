import { createCustomer } from '@lapel/device-sim/customer/customer';
import { provision } from '@lapel/device-sim/customer/provision';
import { makeRelease } from '@lapel/device-sim/customer/releases';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import { oneGroup } from '@lapel/device-sim/fleet/member';
import { systemTimers } from '@lapel/device-sim/timers';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { startWorld } from '../../world.ts';

const HOUR = 3_600_000;

/** The order of texts by their first transactionId; texts without one come first. */
const numberIn = (text: string): string => /transaction (\d+)/.exec(text)?.[1] ?? '';
const byTransaction = (one: string, other: string): number =>
  numberIn(one).localeCompare(numberIn(other)) || one.localeCompare(other);

t.test('a URL and a token are judged late: by their time, until they expire and after it', async (t) => {
  const clock = createFakeClock(Date.now() * 1000); // webhooks are verified against the real time
  const world = await startWorld(t, { clock, env: { LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' } });
  const { admin: adminUrl, http: apiUrl, mqtt } = world.service.addresses;
  const run = { adminUrl, token: world.service.adminToken, developerId: 'fleet', run: 'late', seed: 1, places: [0] };
  const { accounts, application } = await provision(run);
  const [{ deviceId } = { deviceId: '' }] = accounts;
  /** By so much the clock of the simulator is ahead. */
  let ahead = 0;
  const timers = { ...systemTimers, now: () => systemTimers.now() + ahead };
  const customer = createCustomer({ apiUrl, application, timers });
  t.teardown(() => customer[Symbol.asyncDispose]());
  const fleet = createFleet({ members: oneGroup(accounts), url: mqtt });
  t.teardown(() => fleet[Symbol.asyncDispose]());
  await customer.start();
  customer.follow(fleet);
  await fleet.connect();
  await customer.activate([deviceId], 'begin', 5000);
  const api = await world.clientOf(application.applicationId, application.secret);

  let number = 0;
  const install = async (version: string, size = 2000): Promise<void> => {
    number += 1;
    await customer.act(
      { do: 'install', number, release: { package: 'com.example.late', version, size } },
      deviceId,
      'work',
    );
    await fleet.idle();
    await world.idle();
  };
  let told = 0;
  /** The faults that the end of a run finds, after those of earlier ones. */
  const faultsAtEnd = async (): Promise<string[]> => {
    await customer.settle(5000);
    const texts = customer.ledger.troubles().map(({ kind, text }) => `${kind}: ${text}`);
    const before = told;
    told = texts.length;
    return texts.slice(before).toSorted(byTransaction);
  };
  const ofUrl = (transactionId: number, when: string, found: string): RegExp =>
    new RegExp(
      `^wrong: the answer to the download URL http://[^ ?]+ of transaction ${transactionId} of device ${deviceId}, ${when} its expiry, has the wrong answer.${found}$`,
    );

  await install('1.0.0');
  await install('1.1.0', 1_200_000);
  t.strictSame(await faultsAtEnd(), [], 'both URLs yield their files, and the first token is accepted');

  await install('2.0.0');
  await install('3.0.0');
  const path = (version: string): string =>
    `/v1/applications/${application.applicationId}/packages/com.example.late/versions/${version}`;
  const { body } = await api.post(`${path('2.0.0')}/binaries`);
  const other = makeRelease({ package: 'com.example.late', version: '2.0.0' }, { version: '2.0.0', size: 3000 });
  t.equal((await fetch(body.urlList[0].uploadUrl, { method: 'PUT', body: new Uint8Array(other) })).status, 200);
  await api.delete(`${path('3.0.0')}/distributions`);
  await api.delete(`${path('3.0.0')}/binaries`);
  t.match(
    await faultsAtEnd(),
    [ofUrl(4, 'before', 'sha256: "\\w{64}" instead of "\\w{64}"'), ofUrl(4, 'before', 'size: 3000 instead of 2000')],
    'another file is wrong; a version that was taken back is not judged',
  );

  ahead += HOUR;
  t.match(
    await faultsAtEnd(),
    [
      /^wrong: the answer to a call with the first token of the run has the wrong answer.code: nothing instead of "TOKEN_INVALID"$/,
      /^wrong: the answer to a call with the first token of the run has the wrong answer.status: 200 instead of 401$/,
      ofUrl(2, 'after', 'status: 200 instead of 403'),
      ofUrl(3, 'after', 'status: 206 instead of 403'),
      ofUrl(4, 'after', 'status: 200 instead of 403'),
    ],
    'a service that still accepts what has expired is wrong',
  );

  await install('4.0.0');
  await fleet.disconnect();
  clock.advance(HOUR);
  t.match(await faultsAtEnd(), [ofUrl(6, 'before', 'status: 403 instead of 200')], 'so is one that refuses too early');
  ahead += HOUR;
  t.strictSame(await faultsAtEnd(), [], 'what has expired is refused');
});
