import type { Operations } from '@lapel/client/operations';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';

type Selector = SchemaTypes['common/device-selector'];
type Query = NonNullable<Operations['listOwnDevices']['input']['query']>;
export type Tags = Readonly<Record<string, string>>;

const asText = (flag: boolean): 'true' | 'false' => (flag ? 'true' : 'false');

/** The terms of tags, as the query of a list has them. */
const termsOf = (tags: NonNullable<Selector['tags']>): string[] =>
  Object.entries(tags).flatMap(([key, value]) => {
    if (value === null) return [`!${key}`];
    return [value].flat().map((one) => `${key}=${String(one)}`);
  });

function queryOf({ tags, connected, charging, ...more }: Selector): Query {
  const same: Partial<Selector> = { ...more };
  delete same.devices;
  return {
    ...same,
    ...(tags && { tag: termsOf(tags) }),
    ...(connected !== undefined && { connected: asText(connected) }),
    ...(charging !== undefined && { charging: asText(charging) }),
    activation: 'activated',
  } as Query;
}

/** The tags of all devices that a selector matches, by deviceId. */
export async function selectedDevices(application: Application, selector: Selector): Promise<Map<string, Tags>> {
  const listed = selector.devices && new Set<string>(selector.devices);
  return application.call('list the devices that a selector matches', async (lapel) => {
    const found = new Map<string, Tags>();
    for await (const { deviceId, tags } of lapel.each('listOwnDevices', { query: queryOf(selector) }))
      if (!listed || listed.has(deviceId)) found.set(deviceId, tags);
    return found;
  });
}
