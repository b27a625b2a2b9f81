/** The most devices whose developer is remembered. Above that, the device with the oldest login is forgotten. */
const KEPT_OWNERS = 50_000;

export type Owners = ReturnType<typeof createOwners>;

/**
 * Remembers the developer of each device that has logged in to this process. It is only used to divide shared resources
 * between developers. A device that is unknown or was forgotten counts as a device without a developer.
 */
export function createOwners() {
  const developers = new Map<string, string>();
  // This one iterator is used for ever. All entries that it has passed are deleted, so its next entry is always the
  // oldest.
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
