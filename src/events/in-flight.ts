interface Bounds {
  device: number;
  application: number;
  service: number;
}

/**
 * How much is under way, for each device, each application and in all. One application whose URL hangs leaves room for
 * the others.
 */
export function createInFlight(bounds: Bounds) {
  const counts = new Map<string, number>();
  let total = 0;

  const change = (key: string, by: 1 | -1): void => {
    const count = (counts.get(key) ?? 0) + by;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  };

  return {
    /** Takes a place, or answers the bound that is reached. */
    enter(deviceId: string): 'device' | 'service' | undefined {
      if (total >= bounds.service) return 'service';
      if ((counts.get(`device ${deviceId}`) ?? 0) >= bounds.device) return 'device';
      total += 1;
      change(`device ${deviceId}`, 1);
      return undefined;
    },
    has: (deviceId: string): boolean => counts.has(`device ${deviceId}`),
    leave(deviceId: string): void {
      total -= 1;
      change(`device ${deviceId}`, -1);
    },
    /** The same for the application, which is known a little later. */
    enterApplication(applicationId: string): 'application' | undefined {
      if ((counts.get(`application ${applicationId}`) ?? 0) >= bounds.application) return 'application';
      change(`application ${applicationId}`, 1);
      return undefined;
    },
    leaveApplication: (applicationId: string): void => change(`application ${applicationId}`, -1),
  };
}
