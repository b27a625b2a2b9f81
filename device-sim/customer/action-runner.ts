import type { LapelClient } from '@lapel/client/lapel-client';
import { peersOf } from '../model/bluetooth.ts';
import { type Action, type ActionName, type Release, type Terms, triedFor } from './action.ts';
import { apnsOf, languageOf, networksOf } from './call-contents.ts';
import { differences } from './differences.ts';
import type { Asked } from './entry.ts';
import type { Ledger } from './ledger.ts';
import type { Carried } from './probes.ts';
import type { Releases } from './releases.ts';
import type { Made, Requests } from './requests.ts';
import { DOWNLOAD } from './rollout-plan.ts';

const BLUETOOTH = { query: { type: 'bluetooth' } } as const;

/** Calls that take no Idempotency-Key: each one makes a transaction of its own. */
const KEYLESS: ReadonlySet<ActionName> = new Set(['readBluetooth', 'listBluetooth']);

/** Makes one call to the service. The device and the number of the action decide the parameters of the call. */
type Call = (
  to: { deviceId: string; idempotencyKey: string; query: Terms },
  action: Action,
) => Promise<Made | undefined>;

/** Adds the type of connectivity to the query of a call. */
const ofBluetooth = <To extends { query: Terms }>(to: To) => ({ ...to, query: { ...BLUETOOTH.query, ...to.query } });

function releaseOf({ do: name, release }: Action): Release {
  if (!release) throw new Error(`${name} needs a release`);
  return release;
}

/**
 * Awaits a call; resolves to its transactionId with the command that the device should receive for it. `added` names
 * the parameters that the service adds to the command.
 */
async function asking(
  operation: string,
  parameters: Asked['parameters'],
  call: Promise<{ transactionId: number }>,
  added: readonly string[] = [],
): Promise<Made> {
  const { transactionId } = await call;
  return { transactionId, asked: { operation, parameters, added } };
}

/** The call that each action makes. */
function callsOf(
  lapel: LapelClient,
  releases: Releases,
  applicationId: string,
  onStatus: (deviceId: string, status: { deviceId: string }) => void,
): Record<Exclude<ActionName, 'cancel' | 'replaceKey'>, Call> {
  return {
    activate: (to) => asking('activate', { applicationId }, lapel.activate({ ...to, body: {} }), ['clientId']),
    deactivate: (to) => asking('deactivate', { applicationId }, lapel.deactivate(to)),
    setWifi(to, { number, values }) {
      const body = networksOf(number, values);
      return asking('setWifi', { networks: body, ...triedFor(to.query) }, lapel.setWifi({ ...to, body }));
    },
    setApn(to, { number, values }) {
      const body = apnsOf(number, values);
      return asking('setApn', { apns: body, ...triedFor(to.query) }, lapel.setApn({ ...to, body }));
    },
    setLanguage(to, { number, values }) {
      const body = { lang: languageOf(number, values) };
      return asking('setLanguage', body, lapel.setLanguage({ ...to, body }));
    },
    readBluetooth: (to) => asking('getConnectivityState', BLUETOOTH.query, lapel.readConnectivity(ofBluetooth(to))),
    setBluetooth(to, { number }) {
      // Switches Bluetooth off only in every fourth action, because pairing and listing need it switched on.
      const body = { type: 'bluetooth', enabled: number % 4 !== 0 } as const;
      return asking('setConnectivityState', body, lapel.changeConnectivity({ ...to, body }));
    },
    listBluetooth: (to) => asking('listConnectivity', BLUETOOTH.query, lapel.listConnectivity(ofBluetooth(to))),
    pairBluetooth(to, { number }) {
      const peers = peersOf(to.deviceId);
      const body = { macAddress: peers[number % peers.length]?.macAddress ?? '' };
      return asking('pairBluetooth', body, lapel.pairBluetooth({ ...to, body }));
    },
    diagnose(to) {
      const body = { kinds: ['logs' as const, 'status' as const] };
      return asking('collectDiagnostics', body, lapel.collectDiagnostics({ ...to, body }));
    },
    async install(to, action) {
      const body = await releases.software(releaseOf(action));
      return asking('installSoftware', { ...body }, lapel.installSoftware({ ...to, body }), DOWNLOAD);
    },
    async updateFirmware(to, action) {
      const body = await releases.firmware(releaseOf(action));
      return asking('updateFirmware', { ...body }, lapel.updateFirmware({ ...to, body }), DOWNLOAD);
    },
    async readStatus({ deviceId }) {
      onStatus(deviceId, await lapel.readStatus({ deviceId }));
      return undefined;
    },
  };
}

/** Carries out actions; the ledger records the results. */
export interface ActionRunner {
  /**
   * Resolves to the transactionId; undefined if the action creates no transaction, or if its request failed. `due` is
   * the time at which the action should have begun.
   */
  perform(action: Action, deviceId: string, phase: string, due?: number): Promise<number | undefined>;
}

export function createActionRunner({
  lapel,
  applicationId,
  requests,
  releases,
  ledger,
  now,
  probe = async () => {},
  replaceKey = async () => {},
}: {
  lapel: LapelClient;
  applicationId: string;
  requests: Requests;
  releases: Releases;
  ledger: Ledger;
  now: () => number;
  /** Called after each call of an action that made a transaction. */
  probe?: ((carried: Carried) => Promise<void>) | undefined;
  /** Issues a new authenticationKey for the application. */
  replaceKey?: () => Promise<void>;
}): ActionRunner {
  const calls = callsOf(lapel, releases, applicationId, (deviceId, status) => {
    ledger.look('status-device');
    const found = differences('deviceId', deviceId, status.deviceId);
    ledger.wrong({ text: `the status of device ${deviceId}`, deviceId }, found, now());
  });

  return {
    async perform(action, deviceId, phase, due) {
      const { do: name, number, terms = {} } = action;
      const about = { deviceId, operation: name, phase, number: number || undefined, due };
      if (name === 'replaceKey')
        return requests.make(about, async () => {
          await replaceKey();
          return undefined;
        });
      if (name !== 'cancel') {
        let key = '';
        const again = async (): Promise<Made | undefined> => {
          const made = await calls[name]({ deviceId, idempotencyKey: key, query: terms }, action);
          return made?.asked ? { ...made, asked: { ...made.asked, terms } } : made;
        };
        if (terms.supersede) ledger.supersedes(deviceId);
        const transactionId = await requests.make(about, (idempotencyKey) => {
          key = idempotencyKey;
          return again();
        });
        if (transactionId !== undefined && number > 0)
          await probe({
            deviceId,
            phase,
            number,
            transactionId,
            idempotencyKey: key,
            again: KEYLESS.has(name) ? null : again,
          });
        return transactionId;
      }
      const transactionId = ledger.unfinishedOf(deviceId).at(-1);
      if (transactionId === undefined) return undefined;
      return requests.make(about, async () => {
        await lapel.cancelTransaction({ deviceId, transactionId });
        ledger.cancelled(transactionId, now());
        return undefined;
      });
    },
  };
}
