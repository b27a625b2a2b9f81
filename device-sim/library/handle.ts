import type { Device } from '../model/device.ts';
import type { Command, DeviceEvent } from '../mqtt/messages.ts';
import { checkNames, readNumber, readText } from './arguments.ts';
import { createHandlers, type Decided, type Handlers } from './handlers.ts';
import { createInbox, type Inbox } from './inbox.ts';
import type { SimulatedDevice } from './public.d.ts';

/** The longest call: a day. */
const LONGEST_CALL_MILLISECONDS = 86_400_000;
const MOST_OTHERS = 31;

/** A device for the code of a test, with the parts that feed it. */
export interface Handle extends Decided {
  readonly device: SimulatedDevice;
  /** The handlers of this device alone. */
  readonly own: Handlers;
  readonly inbox: Inbox<Command>;
  readonly troubles: string[];
  /** The service has acknowledged an event, or the event is lost. */
  told(eventId: string): void;
  lost(eventId: string, reason: string): void;
  /** Rejects everything that waits for the device. */
  end(): void;
}

/** `close` takes the device offline for good. */
export function createHandle(device: Device, close: () => Promise<void>): Handle {
  const { deviceId } = device;
  const own = createHandlers();
  const inbox = createInbox<Command>();
  const troubles: string[] = [];
  const sending = new Map<string, { event: DeviceEvent } & PromiseWithResolvers<DeviceEvent>>();

  function mustBeActivated(): void {
    if (!device.state.activation)
      throw new Error(`device ${deviceId} is not activated, so no application would receive it`);
  }

  async function event(type: string, data: DeviceEvent['data'] = {}): Promise<DeviceEvent> {
    readText('type', type);
    mustBeActivated();
    const made = device.tell(type, data)!;
    const sent = { event: made, ...Promise.withResolvers<DeviceEvent>() };
    sending.set(made.eventId, sent);
    return sent.promise;
  }

  function take(eventId: string) {
    const sent = sending.get(eventId);
    sending.delete(eventId);
    return sent;
  }

  const lost = (eventId: string, reason: string): void =>
    take(eventId)?.reject(new Error(`event ${eventId} is lost: ${reason}`));

  return {
    own,
    inbox,
    troubles,
    errors: [],
    told: (eventId) => {
      const sent = take(eventId);
      sent?.resolve(sent.event);
    },
    lost,
    end() {
      inbox.close(`device ${deviceId} is closed, so no command will arrive`);
      for (const eventId of sending.keys()) lost(eventId, 'the device was closed');
    },
    device: {
      deviceId,
      get online() {
        return device.online;
      },
      get state() {
        return device.state;
      },
      commands: inbox.all,
      troubles,
      on: (operation, handler) => own.set(operation, handler),
      async command(operation, patience = {}) {
        return inbox.take(
          (command) => operation === undefined || command.operation === operation,
          patience,
          (waited) => {
            const before = inbox.all.map((one) => one.operation).slice(-20);
            return `no ${operation ?? 'command'} arrived at device ${deviceId} (${device.online ? 'online' : 'offline'}) within ${waited}; so far: ${before.join(', ') || 'no command'}`;
          },
        );
      },
      event,
      pressButton: () => event('custom.sos', { button: 'side' }),
      call(plan = {}) {
        checkNames('call', plan, ['milliseconds', 'recorded', 'others']);
        const { milliseconds = 1000, recorded = false, others = 1 } = plan;
        readNumber('milliseconds', milliseconds, { min: 0, max: LONGEST_CALL_MILLISECONDS });
        readNumber('others', others, { min: 1, max: MOST_OTHERS, whole: true });
        mustBeActivated();
        const callId = device.call({ milliseconds, recorded, others });
        if (callId === undefined) throw new Error(`device ${deviceId} is in another call`);
        return callId;
      },
      uploadFile() {
        mustBeActivated();
        return device.uploadFile()!;
      },
      connect: () => device.connect(),
      disconnect: () => device.disconnect(),
      drop: () => device.drop(),
      idle: () => device.idle(),
      close,
      [Symbol.asyncDispose]: close,
    },
  };
}
