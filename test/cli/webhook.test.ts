import { WEBHOOK_SETTINGS } from '@lapel/client/operations';
import t from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { startWorld, WIFI } from '../world.ts';
import { run } from './run.ts';

t.test('lapel settings and lapel webhook', async (t) => {
  // Signatures are valid for five minutes.
  const world = await startWorld(t, { clock: createFakeClock(Date.now() * 1000) });
  const tenant = await world.createTenant('dev', { key: false, deviceEvent: false });
  const old = tenant.receiver.url;
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  type More = Parameters<typeof run>[1];
  const lapel = (line: string, more: More = {}) => run(line.split(' '), { env, ...more });
  const settings = async (): Promise<Record<string, unknown>> => (await tenant.api.get(tenant.path)).body;
  /** Listens until the output contains `last`; `then` is called when the receiver is ready. */
  async function listen(
    line: string,
    last: string,
    then: (url: string, said: (words: RegExp) => Promise<void>) => Promise<unknown>,
    more: More = {},
  ) {
    const controller = new AbortController();
    const written = Promise.withResolvers<void>();
    let text = '';
    const running = lapel(`webhook listen ${line}`, {
      interrupted: controller.signal,
      pause: (_milliseconds, signal) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      ...more,
      onWrite(piece) {
        text += piece;
        if (text.includes(last)) written.resolve();
      },
    });
    running.then(() => written.resolve(), written.reject);
    const said = async (words: RegExp): Promise<void> => {
      await until(() => words.test(text));
    };
    await said(/listening at (\S+)\n.*\n/);
    await then(/listening at (\S+)\n/.exec(text)?.[1] ?? '', said);
    await written.promise;
    controller.abort();
    return running;
  }

  t.test('the key is issued, and replaced only with --replace', async (t) => {
    t.match(await lapel('webhook listen'), {
      code: 1,
      stderr: /authenticationKey is not issued\.\n {2}issue it first/,
    });
    t.match(await lapel('settings show'), {
      stdout: /deviceEvent +-\n[\s\S]*There is no authenticationKey yet; issue one with lapel settings key/,
    });
    const { stdout } = await lapel('settings key');
    t.match(stdout, /^whsec_\S+\n$/);
    t.match(await lapel('settings key'), { code: 2, stderr: /^lapel: --replace: is needed: there is a key/ });
    t.match((await lapel('settings show')).stdout, stdout.trim());
    t.match(await lapel('settings key --replace --json'), { code: 0, stdout: /"authenticationKey":"whsec_/ });
  });

  t.test('settings are set and removed', async (t) => {
    t.match(await lapel(`settings set --device-event ${old} --call-event ${old}`), {
      code: 0,
      stdout: /callEvent +http/,
    });
    t.match(await lapel('settings set --no-call-event'), { code: 0 });
    t.match(await settings(), { deviceEvent: old, callEvent: undefined });
    t.match(await lapel('settings set'), { code: 2, stderr: /is needed, or another setting/ });
    t.match(await lapel('settings set --call-event ftp://x'), {
      code: 1,
      stderr: /body\.callEvent: .* \(url_scheme\)/,
    });
  });

  t.test('listen sets its own URL, verifies, shows events, and restores the settings', async (t) => {
    const device = await (async () => {
      tenant.receiver.answer({ status: 200 });
      return world.activatedDevice(tenant);
    })();
    const ended = await listen('--set all', 'setWifi #', async (url, said) => {
      await said(/a test event/);
      t.match(await settings(), { deviceEvent: url, callEvent: url, fileUploadEvent: url });
      await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
      const { transactionId } = await device.link.command();
      await device.link.ack({ transactionId, status: 'succeeded' });
      await lapel('settings key --replace'); // later webhooks are signed with another key
      await lapel('webhook test callEvent');
    });
    t.equal(ended.code, 130);
    t.match(ended.stdout, /^\S+ {2}test {2}000000000000000 {2}a test event\n/);
    t.match(ended.stdout, new RegExp(`transaction\\.succeeded {2}${device.deviceId} {2}setWifi #2`));
    t.match(ended.stderr, new RegExp(`deviceEvent has this URL until the command ends \\(before: ${old}\\)`));
    t.match(ended.stderr, /the settings were restored\n$/);
    t.notMatch(ended.stdout, /refused/);
    const after = await settings();
    t.match(after, { deviceEvent: old });
    t.equal(after['callEvent'], undefined);
  });

  t.test('listen names the settings that lead to it already, and the way to add others', async (t) => {
    t.match(
      (await lapel('webhook listen --timeout 1')).stderr,
      /no setting has this URL yet: use --set deviceEvent, or .*\n/,
    );
    const url = 'https://me.tunnel.example.com/';
    await lapel(`settings set --call-event ${url}`);
    const { stderr } = await lapel(`webhook listen --public-url ${url} --timeout 1`);
    t.match(stderr, /^listening at \S+\nsettings with this URL: callEvent\n/);
    await lapel('settings set --no-call-event');
  });

  t.test('a webhook with a wrong signature is refused; --json prints an object a line', async (t) => {
    const { stdout } = await listen('--json', '"refused"', async (url) => {
      t.equal((await fetch(url)).status, 405);
      const forged = await fetch(url, { method: 'POST', body: '{"type":"test"}', headers: { 'webhook-id': 'a' } });
      t.equal(forged.status, 401);
    });
    t.match(JSON.parse(stdout), { refused: /headers/i, body: '{"type":"test"}' });
  });

  t.test('a test event that does not arrive is explained', async (t) => {
    const line = '--set callEvent --public-url http://127.0.0.1:9 --timeout 1';
    const { code, stderr } = await lapel(`webhook listen ${line}`, { pause: () => world.idle() });
    t.equal(code, 0);
    t.match(stderr, /The test event did not arrive: .*\n.*\n {2}LAPEL_WEBHOOK_ALLOW_PRIVATE=true\. .*--public-url/);
    t.equal((await settings())['callEvent'], undefined);
  });

  t.test('when the settings cannot be restored, it says how to do it', async (t) => {
    const gone = await world.createTenant('gone', { deviceEvent: false });
    await gone.api.patch(gone.path, { json: { callEvent: 'https://example.com/calls' } });
    const more = { env: { ...env, LAPEL_APPLICATION: gone.applicationId, LAPEL_APPLICATION_SECRET: gone.secret } };
    const { code, stderr } = await listen(
      '--set deviceEvent callEvent',
      'a test event',
      async (_url, said) => {
        await said(/a test event/);
        await world.admin().delete(`/admin/v1/applications/${gone.applicationId}`);
      },
      more,
    );
    t.equal(code, 1);
    t.match(
      stderr,
      /to restore them: lapel settings set --no-device-event --call-event https:\/\/example\.com\/calls\n/,
    );
  });

  t.test('deliveries are listed and sent again', async (t) => {
    world.clock.advance(1000); // newest first
    const sent = await lapel('webhook test deviceEvent --json');
    const { deliveryId } = JSON.parse(sent.stdout) as { deliveryId: string };
    await world.idle();
    const list = await lapel('webhook deliveries --limit 1');
    t.match(list.stdout, new RegExp(`^DELIVERY .*\n${deliveryId} +test +delivered +1 +200 `));
    t.match(await lapel(`webhook redeliver ${deliveryId}`), { code: 0, stdout: `sent again: ${deliveryId}\n` });
    const range = await lapel('webhook redeliver --since 2020-01-01 --status delivered --setting deviceEvent --json');
    t.match(JSON.parse(range.stdout), { ok: true, redelivered: Number });
    const cases: [string, RegExp][] = [
      ['redeliver', /^lapel: DELIVERY: is needed, or --since/],
      ['redeliver --since yesterday', /"yesterday" is not a time such as/],
      [`redeliver ${deliveryId} --since 2020-01-01`, /--since: cannot be combined with a DELIVERY/],
      ['test deviceEvnt', /"deviceEvnt" is not one of .*did you mean deviceEvent\?/],
      ['listen --port x', /"x" is not a whole number/],
    ];
    for (const [text, words] of cases) t.match(await lapel(`webhook ${text}`), { code: 2, stderr: words }, text);
  });

  t.test('packages and versions by hand', async (t) => {
    const name = 'com.example.camera';
    t.match(await lapel(`package create ${name} --display-name Camera`), { code: 0, stdout: /displayName +Camera/ });
    t.match(await lapel(`package update ${name} --no-display-name --json`), { code: 0, stdout: /"displayName":null/ });
    t.match(await lapel(`package update ${name}`), { code: 2, stderr: /is needed, or --no-display-name/ });
    t.match(await lapel(`version create ${name} 1.0.0 --description first`), { code: 0 });
    t.match((await lapel(`version list ${name}`)).stdout, /^VERSION +UPDATED +DESCRIPTION\n1\.0\.0 .* first\n$/);
    t.match(await lapel('version warnings'), { code: 0, stdout: /every file that was read matches/ });
    t.match(await lapel(`version update ${name} 1.0.0 --no-description`), { code: 0 });
    t.match(await lapel(`version show ${name} 1.0.0`), { stdout: /appFileExists +false\n[\s\S]*distributable +false/ });
    t.match(await lapel(`version distribute ${name} 1.0.0`), { code: 0, stdout: /distributable +true/ });
    t.match(await lapel(`version stop ${name} 1.0.0`), { stdout: `distribution stopped: ${name} 1.0.0\n` });
    t.match(await lapel(`version remove-file ${name} 1.0.0`), { code: 0 });
    t.match((await lapel('package list')).stdout, /^PACKAGE +UPDATED +NAME\ncom\.example\.camera /);
    t.match(await lapel(`package delete ${name}`), { code: 1, stderr: /409 package still has versions/ });
    t.match(await lapel(`version delete ${name} 1.0.0`), { code: 0 });
    t.match(await lapel(`package delete ${name}`), { code: 0, stdout: `deleted: ${name}\n` });
  });
});

t.test('the settings of events are those of the schema', async (t) => {
  const { default: schema } = await import('../../schemas/common/webhook-setting.json', { with: { type: 'json' } });
  t.same(WEBHOOK_SETTINGS, schema.enum);
});
