import { sweepOfDevices } from '../../platform/database/device-sweep.ts';
import type { Sweep } from '../../platform/database/sweep.ts';
import { REMEMBERED_FOR_MICROS } from './device-events.ts';
import { findOldEvents, findOldestOfDevices, type OldEvent, removeOldEvent } from './event-repository.ts';

/**
 * Removes events that are too old to be recognized as repetitions. A device that still sends events removes its own old
 * ones; this sweep is for devices that send none any more.
 */
export const eventSweep = (): Sweep<OldEvent> =>
  sweepOfDevices({
    kind: 'device_events',
    keptForMicros: REMEMBERED_FOR_MICROS,
    oldestOfDevices: findOldestOfDevices,
    findOld: findOldEvents,
    remove: removeOldEvent,
  });
