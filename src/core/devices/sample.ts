/** The values of a sample; null where the device has not reported them. */
export interface SampleValues {
  /** The battery level in percent. */
  battery: number | null;
  isCharging: number | null;
  /** The strength of the signal in dBm. */
  rssi: number | null;
  freeMebibytes: number | null;
}

/**
 * A version that changed: the second of its hour, the package (null: the firmware), and the versions before and after; null
 * where there was none.
 */
export type StoredChange = [second: number, name: string | null, was: string | null, version: string | null];
