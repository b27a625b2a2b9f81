import { readDuration } from '@lapel/schemas/base/duration';
import type { DeviceFilter, FleetDeviceQuery } from '@lapel/schemas/contracts/types';
import type { Micros } from '../../runtime/units.ts';
import type { FleetFilter } from './fleet-repository.ts';
import { readTermsOfQuery } from './read-selector.ts';

/** The part of a query of devices that selects them. It was checked by its schema. */
type FilterQuery = Omit<FleetDeviceQuery, 'sort' | 'after' | 'limit'> & Parameters<typeof readTermsOfQuery>[0];

const textOf = (flag: boolean): 'true' | 'false' => (flag ? 'true' : 'false');

/**
 * Reads the filter of a list. `now` is the time from which its durations count back, `place` is where it stands. Throws
 * REQUEST_INVALID.
 */
export function readFleetFilter(query: FilterQuery, now: Micros, place?: string[]): FleetFilter {
  const { prefix, developerId, applicationId, activation, blocked, batteryBelow, batteryFrom, notSeenFor } = query;
  return {
    ...(prefix !== undefined && { prefix }),
    ...(developerId !== undefined && { developerId }),
    ...(applicationId !== undefined && { applicationId }),
    ...(activation !== undefined && { activation }),
    ...(blocked !== undefined && { blocked: blocked === 'true' }),
    ...(batteryBelow !== undefined && { batteryBelow }),
    ...(batteryFrom !== undefined && { batteryFrom }),
    terms: readTermsOfQuery(query, now, place),
    ...(notSeenFor !== undefined && { seenBefore: now - readDuration(notSeenFor) }),
  };
}

/** Reads the filter of a body, at the member `filter`. Throws REQUEST_INVALID. */
export const readDeviceFilter = ({ connected, blocked, ...rest }: DeviceFilter, now: Micros): FleetFilter =>
  readFleetFilter(
    {
      ...rest,
      ...(connected !== undefined && { connected: textOf(connected) }),
      ...(blocked !== undefined && { blocked: textOf(blocked) }),
    },
    now,
    ['body', 'filter'],
  );
