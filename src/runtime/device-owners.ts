/** Devices whose developer is known at a time; the one that has logged in least recently is forgotten first. */
const KEPT_OWNERS = 50_000;

export type Owners = ReturnType<typeof createOwners>;

/**
 * Whose the devices are that have logged in here, as far as that is known without asking: what devices share is shared by
 * their developers first. It decides on nothing else. A device that is forgotten, or not known, counts as one of nobody's.
 */
export function createOwners() {
  const developers = new Map<string, string>();
  // Goes along with the map: all that it has passed is deleted, so its next one is the oldest.
  const oldest = developers.keys();

  return {
    /** The device has logged in, or was moved to another developer. */
    learn(deviceId: string, developerId: string): void {
      developers.delete(deviceId);
      developers.set(deviceId, developerId);
      if (developers.size <= KEPT_OWNERS) return;
      const { value } = oldest.next();
      if (value !== undefined) developers.delete(value);
    },

    of: (deviceId: string): string | undefined => developers.get(deviceId),
  };
}
