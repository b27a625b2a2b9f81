/**
 * How the number of an event (`deviceSequence`) fits behind the numbers of its device that came before: `first` of the device,
 * `next`, `again` the last one, behind a `hole`, or `back`, which is lower than the last one.
 */
export type Fit = 'first' | 'next' | 'again' | 'hole' | 'back';

/** The numbers of the events of each device, as one receiver or one reader gets them. */
export interface DeviceOrder {
  /** Notes an event that came; `before` is the highest number of its device until then. */
  came(deviceId: string, number: number): { readonly fit: Fit; readonly before: number };
  /** Forgets all numbers, because they may begin anew: after a restore of the service, or at another place of the stream. */
  forget(): void;
}

export function createDeviceOrder(): DeviceOrder {
  const highest = new Map<string, number>();
  const fitOf = (number: number, before: number | undefined): Fit => {
    if (before === undefined) return 'first';
    if (number === before) return 'again';
    if (number < before) return 'back';
    return number === before + 1 ? 'next' : 'hole';
  };
  return {
    came(deviceId, number) {
      const before = highest.get(deviceId);
      if (before === undefined || number > before) highest.set(deviceId, number);
      return { fit: fitOf(number, before), before: before ?? 0 };
    },
    forget: () => highest.clear(),
  };
}
