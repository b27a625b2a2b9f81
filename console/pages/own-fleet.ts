import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { div, p, use, type VNode } from '../base/elements.ts';
import { count, counted } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import { figure } from '../parts/figure.ts';
import { batteryQuery, groupsCard } from '../parts/groups.ts';
import { loaded } from '../parts/loaded.ts';

type OwnFleet = SchemaTypes['rest/own-fleet'];

/** Milliseconds between two reads; the service keeps its answer for ten seconds. */
const EVERY = { every: 15_000 };
const ACTIVATED = { activation: 'activated' };

const figures = ({ devices, commands, estimate }: OwnFleet): VNode => {
  const about = (devices: number): string => `${estimate ? 'about ' : ''}${count(devices)}`;
  return div(
    { class: 'figures' },
    figure({
      name: 'Connected',
      value: about(devices.connected),
      note: `of ${counted(devices.activated, 'activated device')}`,
      href: addressOf(['devices'], { ...ACTIVATED, connected: 'true' }),
    }),
    figure({
      name: 'Activated',
      value: count(devices.activated),
      note: `${about(devices.activated - devices.connected)} disconnected`,
      href: addressOf(['devices'], ACTIVATED),
    }),
    figure({
      name: 'Commands that wait',
      value: count(commands.waiting),
      note: 'not finished yet',
      href: addressOf(['transactions'], { unfinished: 'true' }),
    }),
    figure({
      name: 'Commands that failed',
      value: count(commands.failed),
      note: 'in 24 hours',
      href: addressOf(['transactions'], { status: 'failed', since: commands.failedSince }),
      tone: commands.failed > 0 ? 'warn' : undefined,
    }),
  );
};

const parts = ({ estimate, firmwareVersions, battery, packages }: OwnFleet): VNode => {
  const text = estimate ? { text: (devices: number) => `about ${count(devices)}` } : {};
  return div(
    { class: 'columns even' },
    groupsCard({
      title: 'Firmware',
      groups: firmwareVersions.map(({ version: value, devices }) => ({ value, devices })),
      query: (firmware) => ({ ...ACTIVATED, firmware }),
      none: 'No device has reported its firmware.',
      ...text,
    }),
    groupsCard({
      title: 'Battery, in percent',
      groups: battery.map(({ level: value, devices }) => ({ value, devices })),
      query: (range) => ({ ...ACTIVATED, ...batteryQuery(range) }),
      none: 'No device has reported its battery.',
      ...text,
    }),
    packages.map(({ package: name, versions }) =>
      groupsCard({
        title: `Versions of ${name}`,
        groups: versions.map(({ version: value, devices }) => ({ value, devices })),
        query: (version) => ({ ...ACTIVATED, package: name, version }),
        none: '',
        ...text,
      }),
    ),
  );
};

function Fleet() {
  const fleet = useLoad('fleet', (signal) => read<OwnFleet>(operation('readFleet'), { signal }), EVERY);
  return loaded(
    fleet,
    (found) => [
      figures(found),
      found.estimate
        ? p({ class: 'quiet small' }, 'Numbers of devices with "about" are estimates from a sample of 10,000.')
        : null,
      found.devices.activated > 0 ? parts(found) : null,
    ],
    { lines: 3 },
  );
}

/** The fleet of the application: its devices, what they have, and the commands that wait or failed. */
export const ownFleet = (): VNode => use(Fleet, {});
