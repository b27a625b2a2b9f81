import { createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES } from '@lapel/device-sim/device-test/cases';
import type { Account } from '@lapel/device-sim/device-test/login';
import { createDevice, type Device, type DeviceOptions } from '@lapel/device-sim/model/device';
import { createStateFile } from '@lapel/device-sim/model/state-file';
import { createLink } from '@lapel/device-sim/mqtt/mqtt-link';
import { createPackageLink } from '@lapel/device-sim/mqtt/package-link';
import t from 'tap';
import { createKeyPair } from '../../software/signing.ts';
import { brokenRules, CASES_OF_FIVE, notHeld, testedDevice } from './tested.ts';

t.jobs = 2; // the tests mostly wait for the pauses of the devices

const RECONNECT = { min: 60, max: 2000 };

const LONG = ['thousand-answers: left out'];
const DRIVE = ['half-open: left out', 'drive: left out'];
/** The keep-alive of these devices is a minute. */
const WITHOUT_SILENCE = Object.keys(CASES)
  .filter((name) => name !== 'half-open')
  .join();
const OF_FIVE = CASES_OF_FIVE.map((name) => `${name}: left out`);

for (const { client, create, leftOut, line, level } of [
  {
    client: 'its own MQTT client',
    create: createLink,
    leftOut: [...OF_FIVE, 'drive: left out'],
    line: `--thorough --cases ${WITHOUT_SILENCE}`,
    level: undefined,
  },
  {
    client: 'the package mqtt',
    create: createPackageLink,
    leftOut: [...LONG, ...OF_FIVE, ...DRIVE],
    line: '',
    level: undefined,
  },
  { client: 'its own client of MQTT 5', create: createLink, leftOut: [...LONG, ...DRIVE], line: '', level: 5 },
  {
    client: 'the package mqtt and MQTT 5',
    create: createPackageLink,
    leftOut: [...LONG, ...DRIVE],
    line: '',
    level: 5,
  },
] as const) {
  t.test(`the device of the simulator obeys every rule, with ${client}`, async (t) => {
    const folder = join(t.testdir(), 'state');
    const key = createKeyPair();
    const trustedKeys = [createPublicKey(key.publicKey)];
    writeFileSync(`${folder}.pem`, key.privateKey);
    let device: Device | undefined;
    let identity: Pick<DeviceOptions, 'url' | keyof Account> | undefined;
    function switchOn(): void {
      if (!identity) return;
      const journal = createStateFile({ folder, deviceId: identity.deviceId, bound: 1000 });
      device = createDevice({ ...identity, journal, createLink: create, reconnect: RECONNECT, trustedKeys, level });
      device.connect().catch((error: Error) => t.fail(error.message));
    }
    const record = await testedDevice(
      `--by-hand 10 --answer-time 10 --signing-key ${folder}.pem ${line}`,
      (url, account) => {
        identity = { ...account, url };
        switchOn();
      },
      {
        asked(text) {
          if (text.includes('send an event')) device?.pressButton();
          if (text.includes('Switch the device off')) void device?.drop().then(switchOn);
        },
      },
    );
    await device?.[Symbol.asyncDispose]();
    t.strictSame(brokenRules(record), [], JSON.stringify(record.cases.filter(({ findings }) => findings.length > 0)));
    t.strictSame(record.notRun, []);
    t.strictSame(notHeld(record), ['strangers-certificate: left out', ...leftOut]);
  });
}
