import type { Operations } from '@lapel/client/operations';
import { byteSize } from '../show/progress.ts';
import { fieldText } from '../show/table.ts';

/** A status as it came. Numbers of `network`, `storage` and `software` can be objects of JSON.rawJSON. */
export type Status = Operations['readStatus']['answer'];

export const yesNo = (value: boolean): string => (value ? 'yes' : 'no');

export const batteryText = ({ battery }: Status): string =>
  battery ? `${battery.level} %${battery.charging ? ' charging' : ''}` : '';

export const networkText = ({ network }: Status): string =>
  network
    ? [network.type, network.ssid, network.rssi === null ? null : `${fieldText(network.rssi)} dBm`]
        .filter(Boolean)
        .join(' ')
    : '';

export const storageText = ({ storage }: Status): string =>
  storage ? `${byteSize(Number(fieldText(storage.free)))} of ${byteSize(Number(fieldText(storage.total)))} free` : '';

export const softwareText = ({ software }: Status): string =>
  (software ?? []).map((one) => `${one.package} ${one.version} (${fieldText(one.versionCode)})`).join(', ');

/** Tags in one line: `ring=canary, site=osaka`. */
export const tagsText = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
