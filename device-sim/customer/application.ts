import { createLapelClient } from '../../src/client/lapel-client.ts';
import { LapelError } from '../../src/client/lapel-error.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Device } from '../model/device.ts';
import type { Answer } from '../mqtt/messages.ts';
import { inParallel } from './service-client.ts';

const PARALLEL_REQUESTS = 16;
/** How often one request is put off by 429 before that is an answer. */
const MOST_REFUSALS = 100;
const SCOPES = ['svc:device:read', 'svc:device:write'];

/** An application that works on the fleet through the REST API. */
export interface Application {
  /**
   * Activates every device that is not; resolves, with those that are activated then, when the service has acknowledged
   * what the devices answered.
   */
  activate(fleet: Fleet): Promise<Device[]>;
  /** Sets the Wi-Fi networks of a device. Gives the transactionId, or the status of a refusal. */
  setWifi(deviceId: string, ssid: string): Promise<{ transactionId: number } | { refusal: number }>;
}

/** A customer's program, written as customers write theirs: with the typed client. */
export function createApplication({
  apiUrl,
  applicationId,
  secret,
  now,
  rest,
}: {
  apiUrl: string;
  applicationId: string;
  secret: string;
  /** Milliseconds. */
  now: () => number;
  /** Resolves after so many milliseconds. */
  rest: (milliseconds: number) => Promise<void>;
}): Application {
  // One attempt: what the service refuses under load is counted, not sent again behind the report's back.
  const lapel = createLapelClient({ baseUrl: apiUrl, applicationId, secret, scopes: SCOPES, attempts: 1, now });

  /** What must be done, sooner or later: as often as the service asks for patience, within reason. */
  async function insist<Result>(what: string, call: () => Promise<Result>): Promise<Result> {
    for (let refusals = 1; ; refusals += 1) {
      try {
        return await call();
      } catch (error) {
        const isBusy = error instanceof LapelError && error.status === 429;
        if (!isBusy || refusals >= MOST_REFUSALS) throw inWords(what, error, { apiUrl, applicationId });
        await rest(1000 * (error.retryAfter ?? 1));
      }
    }
  }

  /** Whether it is activated now. */
  async function activateOne(device: Device): Promise<boolean> {
    const { deviceId, events } = device;
    const status = await insist(`cannot read ${deviceId}`, () => lapel.readActivation({ deviceId }));
    if (status.status === 'activated') {
      device.rememberActivation({ applicationId, clientId: String(status.clientId) });
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<Answer>();
    // The device may answer before the request is answered: listen first.
    const seen = new Map<unknown, Answer>();
    let wanted: unknown;
    const listener = (answer: Answer): void => {
      seen.set(answer.transactionId, answer);
      if (answer.transactionId === wanted) resolve(answer);
    };
    events.on('acknowledged', listener);
    try {
      const { transactionId } = await insist(`cannot activate ${deviceId}`, () =>
        lapel.activate({ deviceId, body: {} }),
      );
      wanted = transactionId;
      const { status: outcome } = seen.get(wanted) ?? (await promise);
      return outcome === 'succeeded';
    } finally {
      events.off('acknowledged', listener);
    }
  }

  return {
    async activate({ devices }) {
      const activated = await inParallel(devices, PARALLEL_REQUESTS, activateOne);
      return devices.filter((_, index) => activated[index]);
    },

    async setWifi(deviceId, ssid) {
      try {
        const body = [{ ssid, security: 'WPA2' as const, password: 'simulated network' }];
        return { transactionId: (await lapel.setWifi({ deviceId, body })).transactionId };
      } catch (error) {
        if (error instanceof LapelError) return { refusal: error.status };
        throw error;
      }
    },
  };
}

/** An Error for people: what the service says, or that there is none. */
function inWords(what: string, error: unknown, at: { apiUrl: string; applicationId: string }): Error {
  if (!(error instanceof LapelError)) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return new Error(`cannot reach ${at.apiUrl}: ${cause}`, { cause: error });
  }
  const { status, reason, details, request } = error;
  const failed = request.endsWith('/authenticate') ? `no access token for ${at.applicationId}` : what;
  const faults = details.length === 0 ? '' : ` ${JSON.stringify(details)}`;
  return new Error(`${failed}: ${status} ${reason}${faults}`, { cause: error });
}
