import { readCommandLine } from '@lapel/device-sim/command-line';
import type { DeviceTestRecord } from '@lapel/device-sim/device-test/device-test-record';
import type { DriveSettings } from '@lapel/device-sim/device-test/drive';
import type { Account } from '@lapel/device-sim/device-test/login';
import { runDeviceTest } from '@lapel/device-sim/device-test/run-device-test';
import { createOwnDevice, type Flaw, type Way } from './own-device.ts';

/** Enough for a good device on a busy machine, and the time that a test of a missing message takes. */
const LINE = 'device --listen 127.0.0.1:0 --answer-time 3 --wait 6 --revert-after 1';

const MOST_ATTEMPTS = 5;

/** The settings of a command line. */
export function settingsOf(line: string) {
  const command = readCommandLine(`${LINE} ${line}`.trim().split(' '), {});
  if (command.do !== 'device') throw new Error(`"${line}" is no test of a device`);
  return command.settings;
}

/**
 * Tests a device in this process. `start` gets the address and the account when the test listens; `asked` is called
 * when a case needs a hand.
 */
export async function testedDevice(
  line: string,
  start: (url: string, account: Account) => void,
  {
    asked = (_text: string): void => {},
    stopped = new AbortController().signal,
    drive = null as DriveSettings | null,
  } = {},
): Promise<DeviceTestRecord> {
  const read = settingsOf(line);
  const settings = drive ? { ...read, drive } : read;
  return runDeviceTest(settings, {
    stopped,
    say(text) {
      const [, address] = /^address +(\S+)/.exec(text) ?? [];
      if (address !== undefined) start(`${settings.transport}://${address}`, settings.account);
      else asked(text);
    },
  });
}

/** Tests the device of another maker. It sends an event when it is asked for one. */
async function testOwnDevice(
  line: string,
  flaw: Flaw | undefined,
  onStart: (device: ReturnType<typeof createOwnDevice>) => void,
  way: (() => Way) | undefined,
  drive: DriveSettings | null,
): Promise<DeviceTestRecord> {
  let device: ReturnType<typeof createOwnDevice> | undefined;
  const start = (url: string, account: Account): void => {
    device = createOwnDevice(account, flaw);
    device.connect(url, way?.());
    onStart(device);
  };
  const asked = (text: string): void => {
    if (text.includes('send an event')) device?.pressButton('event-1');
  };
  const record = await testedDevice(line, start, { asked, drive });
  await device?.[Symbol.asyncDispose]();
  return record;
}

/** The same, again if this process stood still meanwhile, because other tests were busy in it. */
export async function testedOwnDevice(
  line: string,
  flaw?: Flaw,
  onStart: (device: ReturnType<typeof createOwnDevice>) => void = () => {},
  way?: () => Way,
  drive: DriveSettings | null = null,
): Promise<DeviceTestRecord> {
  for (let attempt = 1; ; attempt += 1) {
    const record = await testOwnDevice(line, flaw, onStart, way, drive);
    if (attempt === MOST_ATTEMPTS || !record.notRun.some((reason) => reason.includes('stood still'))) return record;
  }
}

/** The cases that only a device with MQTT 5 plays. */
export const CASES_OF_FIVE = ['moved-away', 'taken-over', 'above-the-rate', 'refused-message'];
/** The lines of `notHeld` for a good device of MQTT 3.1.1 without TLS, in a test that is not thorough and has no drive. */
export const LEFT_OUT_OF_PLAIN = [
  'strangers-certificate',
  'thousand-answers',
  ...CASES_OF_FIVE,
  'wrong-firmware',
  'half-open',
  'drive',
].map((name) => `${name}: left out`);

/** The names of the broken rules, each once. */
export const brokenRules = ({ cases }: DeviceTestRecord): string[] => [
  ...new Set(cases.flatMap(({ findings }) => findings.map(({ rule }) => rule))),
];

/** The cases with another outcome than `holds`, with their outcomes. */
export const notHeld = ({ cases }: DeviceTestRecord): string[] =>
  cases.filter(({ outcome }) => outcome !== 'holds').map(({ name, outcome }) => `${name}: ${outcome}`);
