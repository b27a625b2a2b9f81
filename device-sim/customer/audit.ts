import type { LapelClient } from '@lapel/client/lapel-client';
import { LapelError } from '@lapel/client/lapel-error';
import type { Device } from '../model/device.ts';
import { pause, type Timers } from '../timers.ts';
import { wrongRecord } from './contents.ts';
import { type Difference, differences } from './differences.ts';
import type { Ledger, Sampled } from './ledger.ts';
import { LOOKS_AT_CONNECTIONS } from './patience.ts';
import type { Requests } from './requests.ts';
import { createSample } from './sample.ts';
import { inParallel } from './service-client.ts';

const PARALLEL_REQUESTS = 4;
/**
 * Milliseconds for which the service keeps a finished transaction at least: the days of docs/application-developers.md, less
 * one, because a day is removed as a whole.
 */
const KEPT = 89 * 86_400_000;
/** The number of devices whose status at the service is compared with their state. */
const DEVICES = 32;
/**
 * A difference counts only if it lasts, because a status report may still be on its way. So a device with a difference
 * is compared up to four times, with a pause between two comparisons. The status of another device counts at once.
 */
const LOOKS = 4;
const LOOK_MILLISECONDS = 500;

/** The part of a device's state that its status at the service shows, in the form of the REST API. */
const reported = ({ online, state }: Device) => ({
  connected: online,
  lang: state.lang,
  firmwareVersion: state.firmwareVersion,
  bluetooth: { enabled: state.bluetooth.enabled },
  software: Object.entries(state.software).map(([name, { version, versionCode }]) => ({
    package: name,
    version,
    versionCode,
  })),
});
const REPORTED = ['connected', 'lang', 'firmwareVersion', 'bluetooth', 'software'] as const;

/**
 * Returns a function for the end of a run. It compares a sample of the results with the transaction records at the
 * service, and the state of a sample of the devices with their status there. Devices that are offline or still have
 * work are left out.
 */
export function createAudit({
  lapel,
  requests,
  ledger,
  timers,
  stopped,
  devices,
}: {
  lapel: LapelClient;
  requests: Requests;
  ledger: Ledger;
  timers: Timers;
  stopped: AbortSignal;
  devices: () => readonly Device[];
}) {
  const looked = new Set<number>();

  async function compareRecord(sampled: Sampled): Promise<void> {
    const { transactionId, deviceId } = sampled;
    const phase = ledger.actionOf(transactionId)?.phase;
    const about = {
      text: `the record of transaction ${transactionId}`,
      deviceId,
      transactionId,
      ...(phase !== undefined && { phase }),
    };
    /** Whether the service owes the record still: it may have gone back to a backup while it was asked. */
    const isOwed = (): boolean => ledger.sample().some((one) => one.transactionId === transactionId);
    looked.add(transactionId);
    ledger.look('result-record');
    try {
      const record = await requests.insist(() => lapel.readTransaction({ deviceId, transactionId }));
      const found = [
        ...differences('transactionId', transactionId, record.transactionId),
        ...differences('deviceId', deviceId, record.deviceId),
        ...wrongRecord(sampled, record),
      ];
      if (found.length === 0 || isOwed()) ledger.wrong(about, found, timers.now());
    } catch (error) {
      // Only a 404 says something about this record. Other errors mean that the service is away, or that the device was
      // taken away from the application.
      if (!(error instanceof LapelError) || error.status !== 404) return;
      if (timers.now() - sampled.at > KEPT || !isOwed()) return;
      ledger.wrong(about, [{ field: 'status', wanted: '200', found: '404' }], timers.now());
    }
  }

  const isQuiet = (device: Device): boolean =>
    device.online && device.outstanding === 0 && device.state.activation !== null;

  /**
   * The differences between the state of a device and its status at the service. Undefined if the device is offline,
   * still has work or changed meanwhile, because its status may then be older than its state.
   */
  async function statusOf(device: Device): Promise<Difference[] | undefined> {
    const before = JSON.stringify(reported(device));
    if (!isQuiet(device)) return undefined;
    const status = await requests.insist(() => lapel.readStatus({ deviceId: device.deviceId })).catch(() => undefined);
    const state = reported(device);
    if (!status || !isQuiet(device) || JSON.stringify(state) !== before) return undefined;
    ledger.look('status-content');
    return [
      ...differences('deviceId', device.deviceId, status.deviceId),
      ...REPORTED.flatMap((field) => differences(field, state[field], status[field])),
    ];
  }

  async function compareStatus(device: Device): Promise<void> {
    for (let looks = 1; !stopped.aborted; looks += 1) {
      const found = await statusOf(device);
      if (!found || found.length === 0) return;
      const most = found.every(({ field }) => field === 'connected') ? LOOKS_AT_CONNECTIONS : LOOKS;
      if (looks >= most || found.some(({ field }) => field === 'deviceId')) {
        const { deviceId } = device;
        ledger.wrong({ text: `the status of device ${deviceId}`, deviceId }, found, timers.now());
        return;
      }
      await pause(timers, LOOK_MILLISECONDS, stopped);
    }
  }

  return async function audit(): Promise<void> {
    const some = createSample<Device>(DEVICES);
    for (const device of devices()) some.add(device);
    const records = ledger.sample().filter(({ transactionId }) => !looked.has(transactionId));
    await inParallel(records, PARALLEL_REQUESTS, compareRecord);
    await inParallel(some.all(), PARALLEL_REQUESTS, compareStatus);
  };
}
