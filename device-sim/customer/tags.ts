import type { LapelClient } from '@lapel/client/lapel-client';
import type { Requests } from './requests.ts';

/** The tags of a device: a value for each key. */
export type Tags = Readonly<Record<string, string>>;

/** Devices that are named in one request. */
const PER_REQUEST = 1000;

/** Makes the function that sets the tags of activated devices; devices with equal tags share a request. */
export const createTagging =
  ({ lapel, requests, tagsOf }: { lapel: LapelClient; requests: Requests; tagsOf: (deviceId: string) => Tags }) =>
  async (deviceIds: readonly string[]): Promise<void> => {
    const alike = Map.groupBy(deviceIds, (deviceId) => JSON.stringify(tagsOf(deviceId)));
    for (const all of alike.values()) {
      const tags = tagsOf(all[0] ?? '');
      if (Object.keys(tags).length === 0) continue;
      for (let start = 0; start < all.length; start += PER_REQUEST) {
        const devices = all.slice(start, start + PER_REQUEST);
        await requests.insist(() => lapel.updateTagsOfMany({ body: { devices: { devices }, tags } }));
      }
    }
  };
