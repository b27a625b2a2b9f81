import { type Child, dd, div, dl, dt, p, small, span, use, type VNode } from '../base/elements.ts';
import { bytes, numberOf } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, ROLE } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { FleetDeviceStatus } from '../base/rows.ts';
import { fromServiceTime } from '../base/service-time.ts';
import { batteryBadge } from '../parts/badges.ts';
import { loaded } from '../parts/loaded.ts';
import { age, badge, card, id, idLink, nothing, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

interface Field {
  name: string;
  value: unknown;
  at: string | null;
}
interface Software {
  package: string;
  version: string;
  versionCode?: number | null;
  state?: string | null;
  errorCode?: string | null;
  since?: string | null;
}
interface Status {
  reportedAt: string | null;
  fields: Field[];
  software: Software[];
}

const NAMES: Readonly<Record<string, string>> = {
  lang: 'Language',
  firmwareVersion: 'Firmware',
  managementClientVersion: 'Management client',
  battery: 'Battery',
  storage: 'Storage',
  network: 'Network',
  bluetooth: 'Bluetooth',
};

/**
 * Reads the status in the way that an application may: all fields in one object, with times in the local time of the
 * service.
 */
async function statusOfApplication(deviceId: string, signal: AbortSignal): Promise<Status> {
  const {
    software,
    reportedAt,
    connected: _,
    lastSeenAt: __,
    deviceId: ___,
    ...fields
  } = await read<Record<string, unknown>>(operation('readStatus', { deviceId }), { signal });
  return {
    reportedAt: fromServiceTime(reportedAt as string | null),
    fields: Object.entries(fields).map(([name, value]) => ({ name, value, at: null })),
    software: (software as Software[] | null) ?? [],
  };
}

/** Shows a value in readable form; a field that the console does not know is shown as JSON. */
function shown({ name, value }: Field): Child {
  if (value === null || value === undefined) return nothing();
  const of = value as Record<string, unknown>;
  if (name === 'battery' && typeof of['level'] === 'number')
    return span(null, batteryBadge(of['level']), of['charging'] === true ? ' charging' : '');
  if (name === 'storage')
    return span({ class: 'num' }, `${bytes(numberOf(of['free']))} of ${bytes(numberOf(of['total']))} free`);
  if (name === 'network' && typeof of['type'] === 'string')
    return span(
      null,
      said(
        [
          of['type'],
          of['ssid'],
          of['rssi'] === null || of['rssi'] === undefined ? null : `${JSON.stringify(of['rssi'])} dBm`,
        ]
          .filter(Boolean)
          .join(', '),
      ),
    );
  if (name === 'bluetooth' && typeof of['enabled'] === 'boolean') return of['enabled'] ? 'on' : 'off';
  return said(typeof value === 'string' ? value : JSON.stringify(value));
}

const stateOf = ({ state, errorCode, since }: Software): Child =>
  div(
    null,
    state === 'failed'
      ? badge('bad', errorCode ?? 'failed')
      : state === 'waiting'
        ? badge('calm', 'waiting')
        : badge('good', 'installed'),
    since ? small(null, age(since)) : null,
  );

function DeviceStatus({ deviceId }: { deviceId: string }) {
  const status = useLoad<Status>(
    deviceId,
    (signal) =>
      ROLE === 'operator'
        ? read<FleetDeviceStatus>(operation('readFleetDeviceStatus', { deviceId }), { signal })
        : statusOfApplication(deviceId, signal),
    { every: 5_000 },
  );
  return [
    card(
      {
        title: 'Status',
        bare: true,
        side: status.state.value.value?.reportedAt
          ? span({ class: 'quiet small' }, 'reported ', age(status.state.value.value.reportedAt))
          : null,
      },
      loaded(status, ({ fields, reportedAt }) =>
        reportedAt === null
          ? div({ class: 'pad quiet' }, 'The device has not reported its status yet.')
          : dl(
              { class: 'facts' },
              fields
                .filter(({ name }) => name !== 'software')
                .map((field) =>
                  div(
                    { key: field.name },
                    dt(null, NAMES[field.name] ?? field.name),
                    dd(null, shown(field), field.at === null ? null : span({ class: 'age' }, age(field.at))),
                  ),
                ),
            ),
      ),
    ),
    card(
      { title: 'Installed software', bare: true },
      loaded(status, ({ software }) =>
        software.length === 0
          ? p({ class: 'pad quiet' }, 'The device has not reported installed software.')
          : rowsTable<Software>({
              label: 'Installed software',
              keyOf: ({ package: name }) => name,
              rows: software,
              columns: [
                {
                  name: 'Package',
                  kind: 'lead',
                  cell: ({ package: name }) => idLink(addressOf(['software', name]), name),
                },
                { name: 'Version', cell: ({ version }) => id(version) },
                ...(ROLE === 'operator' ? [{ name: 'State', cell: stateOf }] : []),
              ],
            }),
      ),
    ),
  ];
}

export const deviceStatus = (deviceId: string): VNode => use(DeviceStatus, { deviceId, key: deviceId });
