/** Selects events of an application. */
export interface StreamFilter {
  /** Types, or beginnings of types with `.*` at the end. */
  types?: readonly string[] | undefined;
  deviceId?: string | undefined;
}

/** Whether a filter selects an event. */
export const matches = ({ types, deviceId }: StreamFilter, event: { type: string; deviceId: string }): boolean =>
  (deviceId === undefined || event.deviceId === deviceId) &&
  (types === undefined ||
    types.some((type) => (type.endsWith('.*') ? event.type.startsWith(type.slice(0, -1)) : event.type === type)));
