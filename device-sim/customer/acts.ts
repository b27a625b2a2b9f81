import type { LapelClient } from '../../src/clients/client/lapel-client.ts';
import { peersOf } from '../model/bluetooth.ts';
import type { Action, ActionName, Release } from './action.ts';
import type { Ledger } from './ledger.ts';
import type { Releases } from './releases.ts';
import type { Requests } from './requests.ts';

const LANGUAGES = ['en-US', 'ja', 'de', 'fr-CA', 'pt-BR', 'zh-Hant-TW'];
const BLUETOOTH = { query: { type: 'bluetooth' } } as const;

/** One call to the service. Its parameters follow from the device and the number of the action. */
type Call = (
  to: { deviceId: string; idempotencyKey: string },
  action: Action,
) => Promise<{ transactionId: number } | undefined>;

/** An action that makes no transaction. */
const silently = async (call: Promise<unknown>): Promise<undefined> => {
  await call;
  return undefined;
};

function releaseOf({ do: name, release }: Action): Release {
  if (!release) throw new Error(`${name} needs a release`);
  return release;
}

/** The call that each action makes. */
function callsOf(lapel: LapelClient, releases: Releases): Record<Exclude<ActionName, 'cancel'>, Call> {
  return {
    activate: (to) => lapel.activate({ ...to, body: {} }),
    deactivate: (to) => lapel.deactivate(to),
    setWifi: (to, { number }) =>
      lapel.setWifi({ ...to, body: [{ ssid: `network ${number}`, security: 'WPA2', password: 'simulated network' }] }),
    setApn: (to, { number }) =>
      lapel.setApn({ ...to, body: [{ name: `carrier ${number}`, apn: `n${number}.example`, mcc: '440', mnc: '10' }] }),
    setLanguage: (to, { number }) =>
      lapel.setLanguage({ ...to, body: { lang: LANGUAGES[number % LANGUAGES.length] ?? 'en-US' } }),
    readBluetooth: (to) => lapel.readConnectivity({ ...to, ...BLUETOOTH }),
    // Mostly on, so that other operations find a Bluetooth device.
    setBluetooth: (to, { number }) =>
      lapel.changeConnectivity({ ...to, body: { type: 'bluetooth', enabled: number % 4 !== 0 } }),
    listBluetooth: (to) => lapel.listConnectivity({ ...to, ...BLUETOOTH }),
    pairBluetooth: (to, { number }) => {
      const peers = peersOf(to.deviceId);
      return lapel.pairBluetooth({ ...to, body: { macAddress: peers[number % peers.length]?.macAddress ?? '' } });
    },
    install: async (to, action) => lapel.installSoftware({ ...to, body: await releases.software(releaseOf(action)) }),
    updateFirmware: async (to, action) =>
      lapel.updateFirmware({ ...to, body: await releases.firmware(releaseOf(action)) }),
    readStatus: ({ deviceId }) => silently(lapel.readStatus({ deviceId })),
  };
}

/** Carries out actions; the ledger records the results. */
export interface Acts {
  /** Resolves to the transaction, if there is one. */
  perform(action: Action, deviceId: string, phase: string, due?: number): Promise<number | undefined>;
}

export function createActs({
  lapel,
  requests,
  releases,
  ledger,
}: {
  lapel: LapelClient;
  requests: Requests;
  releases: Releases;
  ledger: Ledger;
}): Acts {
  const calls = callsOf(lapel, releases);

  return {
    async perform(action, deviceId, phase, due) {
      const { do: name, number } = action;
      const about = { deviceId, operation: name, phase, number: number || undefined, due };
      if (name !== 'cancel') {
        return requests.make(about, (idempotencyKey) => calls[name]({ deviceId, idempotencyKey }, action));
      }
      const transactionId = ledger.unfinishedOf(deviceId).at(-1);
      if (transactionId === undefined) return undefined;
      return requests.make(about, () => silently(lapel.cancelTransaction({ deviceId, transactionId })));
    },
  };
}
