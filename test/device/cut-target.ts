// A device whose process is killed at any moment: node cut-target.ts URL DEVICE-ID FILE LOG [settle]. It tells events without
// end, or none with `settle`. The log has a line for each command that begins, and for each event whose call returned.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Device } from '@lapel/device';

const [url = '', deviceId = '', file = '', log = '', settle] = process.argv.slice(2);
const write = (...words: unknown[]): void => appendFileSync(log, `${words.join(' ')}\n`);
const device = new Device(
  { deviceId, file, service: { url }, login: { credential: 'secret' } },
  {
    operations: {
      async count({ transactionId, interrupted }) {
        write('begins', transactionId, interrupted);
        await pause(1);
        return { mark: randomUUID() };
      },
    },
    log() {},
  },
);

function tell(): void {
  const mark = randomUUID();
  device.event('custom.count', { mark });
  write('event', mark);
  setTimeout(tell, 2);
}

device.start();
if (settle === undefined) tell();
