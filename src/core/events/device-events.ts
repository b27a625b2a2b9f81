import type { Deprecations } from '@lapel/schemas/contracts/deprecations';
import type { Fault } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Metrics } from '../../metrics.ts';
import { fenced } from '../../platform/cluster/fenced.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Application } from '../applications/application-repository.ts';
import type { Applications } from '../applications/applications.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { type EventTime, eventTime } from './device-time.ts';
import type { EventBytes } from './event-bytes.ts';
import { forgetOldEvents, isRemembered, rememberEvent } from './event-repository.ts';
import { settingOf } from './event-setting.ts';
import { requireOwner } from './owner.ts';

/** An event of a device: reported by the device, or found by the service. */
export interface Event {
  deviceId: string;
  eventId: string;
  type: string;
  occurredAt: Micros;
  deviceTime?: EventTime['deviceTime'];
  data: object;
}

interface Parts {
  database: Database;
  clock: Clock;
  metrics: Metrics;
  deprecations: Pick<Deprecations, 'serves'>;
  findApplication: Applications['findIn'];
  record: Webhooks['record'];
  bytes: EventBytes;
  trust: Pick<ClockTrust, 'isHeld'>;
}

export type DeviceEvents = ReturnType<typeof createDeviceEvents>;

/** Microseconds for which a repeated event is recognized as such. */
export const REMEMBERED_FOR_MICROS = 30 * 24 * 3600 * 1_000_000;
// Each event removes some old ones: more than one, so that their number falls, and few, so that no event waits for a
// clean-up.
const FORGOTTEN_AT_ONCE = 100;

/**
 * Turns events of devices into notifications (specification, "Events"). Each is handled in one unit of work, which finds the
 * application, recognizes a repetition, and stores the event; so a repetition makes no second one, and no event is lost. If
 * the application has not set the URL for the event, it is only in the application's stream.
 */
export function createDeviceEvents({
  database,
  clock,
  metrics,
  deprecations,
  findApplication,
  record,
  bytes: room,
  trust,
}: Parts) {
  /**
   * Adds the deprecated member `webmFile` beside `movieFile` in `recording.saved`, until a release removes `webmFile`.
   */
  function withRemoved(type: string, data: object): object {
    if (type !== 'recording.saved' || !deprecations.serves('webmFile')) return data;
    const { connections, ...rest } = data as SchemaTypes['mqtt/recording-saved-data'];
    return { ...rest, connections: connections.map((each) => ({ ...each, webmFile: each.movieFile })) };
  }

  async function notify(unit: UnitOfWork, { applicationId, settings }: Application, event: Event): Promise<void> {
    const { deviceId, eventId, type, occurredAt, deviceTime } = event;
    const setting = settingOf(type);
    const data = { ...withRemoved(type, event.data), eventId, ...(deviceTime !== undefined && { deviceTime }) };
    record(unit, { applicationId, deviceId, setting, type, occurredAt, data, unsent: settings[setting] === null });
  }

  async function isRepetition(unit: UnitOfWork, event: Event, now: Micros): Promise<boolean> {
    // After a leap of the clock, all events would seem to be old.
    if (!trust.isHeld()) forgetOldEvents(unit, event.deviceId, now - REMEMBERED_FOR_MICROS, FORGOTTEN_AT_ONCE);
    const known = await isRemembered(unit, event);
    if (known) unit.onCommit(() => metrics.eventsRepeated.inc());
    return known;
  }

  return {
    /**
     * Accepts an event of a device; `bytes` is the size of its message. Returns the fault of its time; undefined when
     * the time could be read. Throws DEVICE_NOT_ACTIVATED, EVENT_BYTES_EXCEEDED.
     */
    async accept(
      deviceId: string,
      message: SchemaTypes['mqtt/event'],
      bytes: number,
      fence?: Fence,
    ): Promise<Fault | undefined> {
      const { eventId, type, data } = message;
      const { fault, ...time } = eventTime(message.occurredAt, clock.now());
      const event = { deviceId, eventId, type, ...time, data };
      await database.transact(
        async (unit) => {
          const application = await fenced(unit, fence, requireOwner(unit, deviceId, findApplication));
          const receivedAt = clock.now();
          if (await isRepetition(unit, event, receivedAt)) return;
          // A unit that fails after a write makes the other units of its commit run twice, so an event is refused
          // before the first write.
          const refusal = room.take(deviceId, application.applicationId, bytes);
          if (refusal) throw refusal;
          unit.onRollback(() => room.giveBack(deviceId, application.applicationId, bytes));
          rememberEvent(unit, { deviceId, eventId, type, receivedAt });
          await notify(unit, application, event);
        },
        { device: deviceId },
      );
      return fault;
    },

    /**
     * Stores an event that the service itself found, for a device of the application; dropped when the bound of bytes is
     * reached.
     */
    async raise(applicationId: string, event: Event): Promise<void> {
      const bytes = JSON.stringify(event.data).length;
      if (room.take(event.deviceId, applicationId, bytes)) return;
      try {
        await database.transact(async (unit) => notify(unit, await findApplication(unit, applicationId), event), {
          device: event.deviceId,
        });
      } catch (error) {
        room.giveBack(event.deviceId, applicationId, bytes);
        throw error;
      }
    },
  };
}
