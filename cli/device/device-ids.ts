import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { deviceBefore } from './device-before.ts';

/** Digits of a deviceId. */
const DIGITS = 15;
/** Nobody reads more in a terminal, and each pressed key may ask again. */
const MOST = 50;

/** The scripts of shells call it while somebody types a deviceId. */
export const deviceIds: Command = {
  name: 'device ids',
  arguments: [{ name: 'BEGINNING', optional: true }],
  summary: `Prints the first ${MOST} deviceIds of the application with this beginning; shells call it`,
  options: APPLICATION_OPTIONS,
  examples: ['lapel device ids 4901'],
  async run(given, terminal) {
    const [beginning = ''] = given.positionals;
    const devices: string[] = [];
    if (/^\d{0,15}$/.test(beginning)) {
      const application = await openApplication(given, terminal);
      const after = deviceBefore(beginning.padEnd(DIGITS, '0'));
      const query = { limit: MOST, activation: 'activated' as const, ...(after !== undefined && { after }) };
      const page = await application.call('list the devices', (lapel) => lapel.listOwnDevices({ query }));
      devices.push(...page.devices.map(({ deviceId }) => deviceId).filter((one) => one.startsWith(beginning)));
    }
    return { json: { ok: true, devices }, text: devices.map((deviceId) => `${deviceId}\n`).join('') };
  },
};
