import { createLapelClient } from '@lapel/client/lapel-client';
import { OPERATIONS } from '@lapel/client/operations';
import type { Device } from '../model/device.ts';
import type { ApplicationAccess } from './provision.ts';
import { inParallel } from './service-client.ts';

const PARALLEL_REQUESTS = 16;

type CalledOperation = keyof typeof OPERATIONS;
/** The names of the operations of the API. */
export const CALLED = Object.keys(OPERATIONS) as CalledOperation[];

/** A device to activate. `rememberActivation` is called if it is activated already. */
type Activated = Pick<Device, 'deviceId'> & Partial<Pick<Device, 'rememberActivation'>>;

/** Calls of an application, without the books of a customer. */
export interface ApplicationCalls {
  /** Calls an operation; resolves to the body of the answer. Rejects with a LapelError. */
  request(operation: CalledOperation, input: object): Promise<Record<string, unknown>>;
  /**
   * Activates connected devices, and reads each transaction until its end. Rejects with an Error that names a device
   * that is not activated within `milliseconds`.
   */
  activate(devices: readonly Activated[], milliseconds: number): Promise<void>;
}

export function createApplicationCalls(api: string, access: ApplicationAccess): ApplicationCalls {
  const { applicationId } = access;
  const lapel = createLapelClient({ baseUrl: api, ...access });

  async function activateOne(device: Activated, signal: AbortSignal): Promise<void> {
    const { deviceId } = device;
    const known = await lapel.readActivation({ deviceId, signal });
    if (known.status === 'activated') {
      device.rememberActivation?.({ applicationId, clientId: String(known.clientId) });
      return;
    }
    const { transactionId } = await lapel.activate({ deviceId, body: {}, signal });
    const { status, error } = await lapel.finished({ deviceId, transactionId, signal });
    if (status !== 'succeeded') throw new Error(`${status} ${error?.code ?? ''}`.trimEnd());
  }

  return {
    async request(operation, input) {
      const call = lapel[operation] as (input: object) => Promise<unknown>;
      return { ...((await call(input)) as object | undefined) };
    },

    async activate(devices, milliseconds) {
      const signal = AbortSignal.timeout(milliseconds);
      await inParallel(devices, PARALLEL_REQUESTS, (device) =>
        activateOne(device, signal).catch((error: Error) => {
          const reason = signal.aborted ? `no answer within ${milliseconds / 1000} s` : error.message;
          throw new Error(`device ${device.deviceId} was not activated: ${reason}`, { cause: error });
        }),
      );
    },
  };
}
