/** The most devices whose developer is remembered; the device with the oldest login is forgotten first. */
const KEPT_OWNERS = 50_000;

export type Owners = ReturnType<typeof createOwners>;

/**
 * Remembers the developers of devices that have logged in here. Resources that all devices share are divided between
 * their developers first; this is used for nothing else. A device that is unknown or was forgotten counts as a device
 * without a developer.
 */
export function createOwners() {
  const developers = new Map<string, string>();
  // This iterator stays on the map: all entries that it has passed are deleted, so its next one is the oldest.
  const oldest = developers.keys();

  return {
    /** Called when the device has logged in, or was moved to another developer. */
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
