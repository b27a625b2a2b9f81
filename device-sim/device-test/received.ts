/** A message of the device. */
export interface Received {
  /** The last part of a topic of the device, such as `acks`; of any other topic the whole name. */
  readonly kind: string;
  /** The message; undefined if it is not JSON. */
  readonly body: unknown;
}
