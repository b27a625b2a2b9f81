import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DOCUMENTED, WITH_LIBRARY, WITH_LIBRARY_OF_FIVE } from '../../docs/documented-devices.ts';
import { createKeyPair } from '../../software/signing.ts';
import { brokenRules, CASES_OF_FIVE, LEFT_OUT_OF_PLAIN, notHeld, testedDevice } from './tested.ts';

t.jobs = 3; // the tests mostly wait for the pauses of the devices

async function obeys({ make, skip, language }: (typeof DOCUMENTED)[number], leftOut: readonly string[]): Promise<void> {
  await t.test(`the device of docs/devices.md in ${language} obeys every rule`, { skip }, async (t) => {
    t.setTimeout(300_000);
    const folder = t.testdir();
    const [command = '', ...program] = await make(folder);
    const key = createKeyPair();
    const [privatePath, publicPath] = [join(folder, 'key.pem'), join(folder, 'key.pub.pem')];
    writeFileSync(privatePath, key.privateKey);
    writeFileSync(publicPath, key.publicKey);
    let running: ChildProcess | undefined;
    let start: () => void = () => {};
    async function kill(): Promise<void> {
      if (!running || running.exitCode !== null || running.signalCode !== null) return;
      running.kill('SIGKILL');
      await once(running, 'exit');
    }
    t.teardown(kill);
    const record = await testedDevice(
      `--by-hand 10 --answer-time 10 --wait 20 --signing-key ${privatePath}`,
      (url, { deviceId, credential }) => {
        const { hostname, port } = new URL(url);
        start = () => {
          running = spawn(command, [...program, hostname, port, deviceId, join(folder, 'state.json')], {
            env: { PATH: process.env['PATH'], LAPEL_CREDENTIAL: credential, LAPEL_TRUSTED_KEY: publicPath },
            stdio: ['pipe', 'ignore', 'ignore'],
          });
        };
        start();
      },
      {
        asked(text) {
          if (text.includes('send an event')) running?.stdin?.write('help\n');
          if (text.includes('Switch the device off')) void kill().then(start);
        },
      },
    );
    t.strictSame(brokenRules(record), [], JSON.stringify(record.cases.filter(({ findings }) => findings.length > 0)));
    t.strictSame(record.notRun, []);
    t.strictSame(notHeld(record), leftOut);
  });
}

for (const device of [...DOCUMENTED, WITH_LIBRARY]) void obeys(device, LEFT_OUT_OF_PLAIN);
void obeys(
  WITH_LIBRARY_OF_FIVE,
  LEFT_OUT_OF_PLAIN.filter((one) => !CASES_OF_FIVE.some((name) => one.startsWith(`${name}:`))),
);
