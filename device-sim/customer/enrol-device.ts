import { randomBytes } from 'node:crypto';
import type { Fleet } from '../fleet/fleet.ts';
import type { Device } from '../model/device.ts';
import { isBadCredential } from '../mqtt/link.ts';
import type { CheckName } from '../promises/checks.ts';
import type { Timers } from '../timers.ts';
import type { Customer } from './customer.ts';
import { differences } from './differences.ts';
import type { Enrolment } from './enrolment.ts';
import type { Reply } from './service-client.ts';

const nonce = (): string => randomBytes(24).toString('base64url');

/** A code of the same form that no batch has. */
const unknownCode = (code: string): string => code.split('').toReversed().join('');

/**
 * Makes the function that puts another device into the place of a removed one, which comes to its credential by the code of a
 * batch, as a device from the factory does. On the way it asks as the device of somebody else would, and asks again as after
 * a lost answer: the service must keep the promises of docs/devices.md. Resolves when the device is online; rejects if the
 * service is away.
 */
export function createEnrolDevice({
  fleet,
  customer,
  enrolment,
  timers,
}: {
  fleet: Pick<Fleet, 'replace'>;
  customer: Pick<Customer, 'ledger'>;
  enrolment: Pick<Enrolment, 'batch' | 'nextDeviceId' | 'askToEnrol'>;
  timers: Timers;
}): (at: number, phase: string) => Promise<Device | undefined> {
  const { ledger } = customer;

  return async function enrolDevice(at, phase) {
    const code = await enrolment.batch();
    const deviceId = enrolment.nextDeviceId(at);
    const own = nonce();

    /** Compares an answer. An answer that says only that the service is busy or away shows nothing. */
    function isRight(check: CheckName, text: string, { status, body }: Reply, wanted: Partial<Answer>): boolean {
      if (status === 429 || status >= 500) throw new Error(`${text}: ${status}`);
      ledger.look(check);
      const found = differences('answer', wanted, { status, ...(wanted.code !== undefined && { code: codeIn(body) }) });
      ledger.wrong({ text: `the answer to ${text}`, deviceId, phase }, found, timers.now());
      return found.length === 0;
    }
    const ask = (asked: { code: string; nonce: string }): Promise<Reply> =>
      enrolment.askToEnrol({ deviceId, ...asked });

    isRight(
      'enrolment-code',
      'an enrolment with an unknown code',
      await ask({ code: unknownCode(code), nonce: nonce() }),
      REFUSED,
    );
    const first = await ask({ code, nonce: own });
    if (!isRight('enrolment-given', 'an enrolment', first, { status: 201 })) return undefined;
    isRight('enrolment-nonce', 'an enrolment with another nonce', await ask({ code, nonce: nonce() }), REFUSED);
    const second = await ask({ code, nonce: own });
    if (!isRight('enrolment-again', 'an enrolment that is asked for again', second, { status: 201 })) return undefined;

    const [former, credential] = [first, second].map(({ body }) => String(body['credential'])) as [string, string];
    const device = await fleet.replace(at, { deviceId, credential: former });
    if (await isAccepted(device)) {
      const found = differences('login', 'refused', 'accepted');
      ledger.wrong({ text: 'the credential of a lost answer', deviceId, phase }, found, timers.now());
      await device.disconnect();
    }
    device.useCredential(credential);
    ledger.look('enrolment-given');
    if (!(await isAccepted(device))) {
      const text = 'the service refuses the credential that it gave to the device at its enrolment';
      ledger.violated({ deviceId, phase }, text, timers.now());
      return undefined;
    }
    isRight('enrolment-once', 'an enrolment after the first login', await ask({ code, nonce: own }), REFUSED);
    return device;
  };
}

interface Answer {
  readonly status: number;
  readonly code: string;
}
const REFUSED: Answer = { status: 403, code: 'ENROLMENT_REFUSED' };

const codeIn = (body: Reply['body']): unknown => body['lapel-error-code'];

/** Connects a device; false if the service refuses its credential. Rejects if it cannot connect for another reason. */
async function isAccepted(device: Device): Promise<boolean> {
  try {
    await device.connect();
    return true;
  } catch (error) {
    if (isBadCredential(error)) return false;
    throw error;
  }
}
