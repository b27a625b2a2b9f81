import { createFleet } from '../fleet/fleet.ts';
import type { DeviceAccount } from '../fleet/member.ts';
import { createHandle, type Handle } from './handle.ts';
import { createHandlers, type Handlers } from './handlers.ts';
import { readNature } from './nature.ts';
import type { Handlers as GivenHandlers, Nature } from './public.d.ts';

/** The most troubles that are kept. */
const TROUBLES_KEPT = 1000;

/** Throws one error as it is, and several together. */
function throwAll(errors: readonly unknown[]): void {
  if (errors.length > 1) throw new AggregateError(errors, `handlers have failed ${errors.length} times`);
  if (errors.length === 1) throw errors[0];
}

/** Makes the devices of these accounts, with their handles, still offline. Throws a UsageError that names the wrong option. */
export function createCast({
  accounts,
  url,
  seed,
  nature,
  on,
}: {
  accounts: readonly DeviceAccount[];
  url: string;
  seed: number;
  nature: Nature;
  on: GivenHandlers | undefined;
}) {
  const { settings, badNetworks } = readNature(nature);
  const troubles: string[] = [];
  const common: Handlers = createHandlers(on);
  const handles = new Map<string, Handle>();
  const fleet = createFleet({
    members: accounts.map((account, place) => ({ account, place, settings })),
    url,
    seed,
    badNetworks,
    intercept(deviceId, command) {
      const handle = handles.get(deviceId)!;
      return handle.own.decide(command, handle) ?? common.decide(command, handle);
    },
    onTrouble(deviceId, text) {
      handles.get(deviceId)?.troubles.push(text);
      if (troubles.length < TROUBLES_KEPT) troubles.push(`${deviceId}: ${text}`);
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
    common,
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
