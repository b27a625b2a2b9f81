import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Watch } from '../../runtime/watch.ts';
import { requireActivatedDevice } from './activation.ts';
import { changesOf, MOST_TAGS, patched, type TagPatch } from './tag-patch.ts';
import { findTags, lockActivated, removeTag, setTag, type Tags } from './tag-repository.ts';

interface Parts {
  database: Database;
  watch: Watch;
}

interface Owner {
  applicationId: string;
  developerId: string;
}

/** How many devices a patch of many has changed. */
export interface Patched {
  changed: number;
  /** The devices that would have more than MOST_TAGS tags; they stay as they were. */
  refused: string[];
}

export type TagsOfDevices = ReturnType<typeof createTags>;

/** The tags that an application gives its devices. They are removed when the device is deactivated. */
export function createTags({ database, watch }: Parts) {
  /** Writes the changes of a device that the unit has locked; false when there is nothing to change. */
  async function write(
    unit: UnitOfWork,
    device: { deviceId: string; applicationId: string; tags: Tags },
    patch: TagPatch,
  ): Promise<boolean> {
    const { tags, ...of } = device;
    const changes = changesOf(tags, patch);
    await Promise.all(
      changes.map(([key, value]) =>
        value === null ? removeTag(unit, of.deviceId, key) : setTag(unit, { ...of, key, value }),
      ),
    );
    if (changes.length > 0) {
      unit.onCommit(() => {
        if (watch.devices > 0) watch.device(of.deviceId);
      });
    }
    return changes.length > 0;
  }

  return {
    /** Throws DEVICE_UNAVAILABLE, DEVICE_NOT_ACTIVATED, DEVICE_ACTIVATED_ELSEWHERE. */
    async find(owner: Owner, deviceId: string): Promise<Tags> {
      await requireActivatedDevice(database.read, deviceId, owner);
      return (await findTags(database.read, [deviceId])).get(deviceId) ?? {};
    },

    /**
     * Changes the tags of a device, and returns all of them. `check` may refuse the change of the tags that it gets, by an
     * error. Throws DEVICE_UNAVAILABLE, DEVICE_NOT_ACTIVATED,
     * DEVICE_ACTIVATED_ELSEWHERE, and TOO_MANY_TAGS.
     */
    update: (
      owner: Owner,
      deviceId: string,
      patch: TagPatch,
      check: (known: Tags) => void = () => undefined,
    ): Promise<Tags> =>
      database.transact(
        async (unit) => {
          await requireActivatedDevice(unit, deviceId, owner);
          const tags = (await findTags(unit, [deviceId])).get(deviceId) ?? {};
          check(tags);
          const after = patched(tags, patch);
          if (!after) throw new DomainError('TOO_MANY_TAGS', { values: { limit: MOST_TAGS } });
          await write(unit, { deviceId, applicationId: owner.applicationId, tags }, patch);
          return after;
        },
        { device: deviceId },
      ),

    /**
     * Changes the tags of a device that is activated for the application, and that the unit has locked. `refused`: it would
     * have more than MOST_TAGS tags, and stays as it was.
     */
    async patchIn(
      unit: UnitOfWork,
      device: { deviceId: string; applicationId: string },
      patch: TagPatch,
    ): Promise<'changed' | 'unchanged' | 'refused'> {
      const tags = (await findTags(unit, [device.deviceId])).get(device.deviceId) ?? {};
      if (!patched(tags, patch)) return 'refused';
      return (await write(unit, { ...device, tags }, patch)) ? 'changed' : 'unchanged';
    },

    /** What `updateMany` would do with devices that are activated for the application. Nothing is changed. */
    async previewMany(deviceIds: readonly string[], patch: TagPatch): Promise<Patched> {
      const all = await findTags(database.read, deviceIds);
      const result: Patched = { changed: 0, refused: [] };
      for (const deviceId of deviceIds) {
        const tags = all.get(deviceId) ?? {};
        if (!patched(tags, patch)) result.refused.push(deviceId);
        else if (changesOf(tags, patch).length > 0) result.changed += 1;
      }
      return result;
    },

    /**
     * Changes the tags of those of the devices that are activated for the application, in one unit of work, without
     * delaying other callers.
     */
    updateMany: (applicationId: string, deviceIds: readonly string[], patch: TagPatch): Promise<Patched> =>
      database.transact(
        async (unit) => {
          const result: Patched = { changed: 0, refused: [] };
          const locked = await lockActivated(unit, applicationId, deviceIds);
          const all = await findTags(unit, locked);
          for (const deviceId of locked) {
            const tags = all.get(deviceId) ?? {};
            if (!patched(tags, patch)) result.refused.push(deviceId);
            else if (await write(unit, { deviceId, applicationId, tags }, patch)) result.changed += 1;
          }
          return result;
        },
        { pace: 'soon' },
      ),
  };
}
