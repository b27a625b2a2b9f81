import type { KeyObject } from 'node:crypto';
import { createFleet } from '../fleet/fleet.ts';
import type { DeviceAccount } from '../fleet/member.ts';
import { createHandle, type Handle } from './handle.ts';
import type { Handlers } from './handlers.ts';
import type { Nature } from './nature.ts';

/** The most troubles of all devices that are kept. */
const TROUBLES_KEPT = 1000;

/** Throws one error as it is, and several together. */
function throwAll(errors: readonly unknown[]): void {
  if (errors.length > 1) throw new AggregateError(errors, `handlers have failed ${errors.length} times`);
  if (errors.length === 1) throw errors[0];
}

/** Makes the devices of these accounts, with their handles, still offline. `common`: the handlers of all devices. */
export function createHandledFleet({
  accounts,
  url,
  seed,
  nature: { settings, badNetworks },
  trustedKeys,
  common,
}: {
  accounts: readonly DeviceAccount[];
  url: string;
  seed: number;
  nature: Nature;
  /** The keys that must have signed software; none: any is installed. */
  trustedKeys: readonly KeyObject[];
  common: Handlers;
}) {
  const troubles: string[] = [];
  const handles = new Map<string, Handle>();
  const fleet = createFleet({
    members: accounts.map((account, place) => ({ account, place, settings })),
    url,
    seed,
    badNetworks,
    trustedKeys,
    intercept(deviceId, command) {
      const handle = handles.get(deviceId)!;
      return handle.own.decide(command, handle) ?? common.decide(command, handle);
    },
    onTrouble(deviceId, text) {
      if (troubles.length >= TROUBLES_KEPT) return;
      handles.get(deviceId)?.troubles.push(text);
      troubles.push(`${deviceId}: ${text}`);
    },
  });
  const open = new Set(fleet.devices);
  for (const device of fleet.devices) {
    const handle = createHandle(device, async () => {
      await device[Symbol.asyncDispose]();
      handle.end();
      open.delete(device);
      if (open.size === 0) await fleet[Symbol.asyncDispose]();
      throwAll(handle.errors.splice(0));
    });
    handles.set(device.deviceId, handle);
  }
  fleet.events.on('command', ({ deviceId }, command, reaction) => {
    if (reaction !== 'repeat' && reaction !== 'underway') handles.get(deviceId)?.inbox.add(command);
  });
  fleet.events.on('told', ({ deviceId }, { eventId }) => handles.get(deviceId)?.told(eventId));
  fleet.events.on('forgotten', ({ deviceId }, { eventId }) =>
    handles.get(deviceId)?.lost(eventId, 'the device had no room for more events'),
  );

  return {
    fleet,
    troubles: troubles as readonly string[],
    devices: [...handles.values()].map(({ device }) => device),
    /** Connects all devices. Rejects with an Error that names the first device that could not connect. */
    async connect(): Promise<void> {
      const [first, ...others] = await fleet.connect();
      if (!first) return;
      const more = others.length > 0 ? ` (and ${others.length} other devices)` : '';
      throw new Error(`device ${first.deviceId} cannot connect to ${url}: ${first.error.message}${more}`, {
        cause: first.error,
      });
    },
    /** Takes all devices offline for good. Rejects with the errors of handlers. */
    async close(): Promise<void> {
      await fleet[Symbol.asyncDispose]();
      for (const { end } of handles.values()) end();
      throwAll([...handles.values()].flatMap(({ errors }) => errors.splice(0)));
    },
  };
}
