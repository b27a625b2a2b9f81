import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAuthority, skip } from '../../broker/authority.ts';
import type { Way } from './own-device.ts';
import { brokenRules, notHeld, settingsOf, testedOwnDevice } from './tested.ts';

t.jobs = 3; // the tests mostly wait for connections

const DEVICE = '490154203237518';
const OF_CONNECTIONS =
  '--cases login,strangers-certificate,next-login,burst,cut-before-puback,cut-after-puback,unconfirmed-answer,outage';

/** The files that the test makes in its folder. */
const made = (folder: string, loginBy: 'credential' | 'certificate') => (): Way => {
  const file = (name: string): Buffer => readFileSync(join(folder, name));
  const pair = loginBy === 'certificate' ? { cert: file(`${DEVICE}.pem`), key: file(`${DEVICE}.key`) } : undefined;
  return { tls: { ca: file('ca.pem'), ...(pair && { pair }) } };
};

const lineOf = (t: Test, transport: string, more: string) => {
  const folder = t.testdir();
  const own = transport === 'ws' ? '' : ` --certificates ${folder}`;
  return { folder, line: `--device ${DEVICE} --transport ${transport}${own} ${more}` };
};

for (const [transport, loginBy] of [
  ['mqtts', 'credential'],
  ['mqtts', 'certificate'],
  ['ws', 'credential'],
  ['wss', 'certificate'],
] as const) {
  t.test(`a good device holds the cases of connections over ${transport}, with its ${loginBy}`, async (t) => {
    const { folder, line } = lineOf(t, transport, OF_CONNECTIONS);
    const hasTls = transport !== 'ws';
    const record = await testedOwnDevice(line, undefined, undefined, hasTls ? made(folder, loginBy) : undefined);
    t.strictSame(brokenRules(record), [], JSON.stringify(record.cases.filter(({ findings }) => findings.length > 0)));
    t.strictSame(notHeld(record), hasTls ? [] : ['strangers-certificate: left out']);
    t.strictSame(record.notRun, []);
    t.strictSame(record.connection, { transport, version: '3.1.1', loginBy });
  });
}

for (const transport of ['mqtts', 'wss']) {
  t.test(`a device that trusts any server over ${transport} breaks the rule server-certificate only`, async (t) => {
    const { folder, line } = lineOf(t, transport, '--cases login,strangers-certificate,next-login');
    const record = await testedOwnDevice(line, 'trusts-any-server', undefined, made(folder, 'credential'));
    t.strictSame(brokenRules(record), ['server-certificate']);
    t.match(
      record.cases.find(({ name }) => name === 'strangers-certificate'),
      { outcome: 'broken', findings: [{ came: 'a CONNECT' }] },
    );
  });
}

t.test('the CA in the folder stays the same from test to test, and its keys are for the tester only', async (t) => {
  const { folder, line } = lineOf(t, 'mqtts', '--cases login');
  const way = made(folder, 'certificate');
  const seen: (Buffer | undefined)[][] = [];
  for (let round = 0; round < 2; round += 1) {
    const record = await testedOwnDevice(line, undefined, () => seen.push([way().tls?.ca, way().tls?.pair?.cert]), way);
    t.strictSame(notHeld(record), []);
  }
  t.strictSame(seen[0], seen[1]);
  for (const name of ['ca.key', `${DEVICE}.key`]) t.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
});

t.test('the certificates of the tester are used in place of made ones', { skip }, async (t) => {
  const folder = t.testdir();
  const authority = createAuthority(folder, 'maker');
  const [server, device] = [authority.sign('server'), authority.sign(DEVICE)];
  const files = `--tls-cert ${server.certFile} --tls-key ${server.keyFile} --mqtt-client-ca ${authority.ca}`;
  const line = `--device ${DEVICE} --transport mqtts ${files} --cases login,strangers-certificate`;
  const ca = readFileSync(authority.ca);
  const record = await testedOwnDevice(line, undefined, undefined, () => ({ tls: { ca, pair: device } }));
  t.strictSame(notHeld(record), []);
  const other = createAuthority(folder, 'other').sign(DEVICE);
  await t.rejects(
    testedOwnDevice(`${line} --wait 1`, undefined, undefined, () => ({ tls: { ca, pair: other } })),
    { message: /its last connection was refused: no password/ },
    'a certificate of another CA is none',
  );
  const another = authority.sign('490154203237526');
  await t.rejects(
    testedOwnDevice(`${line} --wait 1`, undefined, undefined, () => ({ tls: { ca, pair: another } })),
    { message: /refused: no password, and a certificate of "490154203237526"/ },
  );
});

t.test('a wrong option of TLS is refused with its name', (t) => {
  const folder = t.testdir({ 'nothing.pem': '' });
  for (const [line, option] of [
    ['--transport tls', '--transport'],
    [`--certificates ${folder}`, '--certificates'],
    [`--transport ws --tls-cert ${folder}/nothing.pem`, '--tls-cert'],
    [`--transport mqtts --tls-cert ${folder}/none.pem`, '--tls-key'],
    [`--transport wss --tls-key ${folder}/none.pem`, '--tls-cert'],
    [`--transport mqtts --tls-cert ${folder}/none.pem --tls-key ${folder}/none.pem`, '--tls-cert'],
    [`--transport mqtts --mqtt-client-ca ${folder}/nothing.pem`, '--mqtt-client-ca'],
  ] as const)
    t.throws(() => settingsOf(line), { option, message: /./ }, { line });
  t.end();
});
