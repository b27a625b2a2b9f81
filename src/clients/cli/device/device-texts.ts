import type { Operations } from '../../client/operations.ts';

export type Status = Operations['readStatus']['answer'];

export const yesNo = (value: boolean): string => (value ? 'yes' : 'no');

export const batteryText = ({ battery }: Status): string =>
  battery ? `${battery.level} %${battery.charging ? ' charging' : ''}` : '';

export const networkText = ({ network }: Status): string =>
  network
    ? [network.type, network.ssid, network.rssi === null ? null : `${network.rssi} dBm`].filter(Boolean).join(' ')
    : '';

/** Tags in one line: `ring=canary, site=osaka`. */
export const tagsText = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
